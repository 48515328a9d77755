/** A memory in a served engine gives the same answers as a local one. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Memory, UseCase } from "../../../../app/memory.ts";
import { NOW } from "../../../server/fixtures/context-server.ts";
import { remoteOf, ServedEngine } from "./served-engine.ts";

const FACTS = [
  {
    key: "deploy/preference",
    value: "We deploy through Konflux.\nNever by hand.",
    tags: ["ci"],
    category: "work",
  },
  { key: "ключ/é 100%?#", value: "Odd characters survive.", ttlSeconds: 3_600 },
  { key: "..", value: "A key of dots." },
  { key: "wifi", value: "The guest wifi is called Kolibri." },
];

let engine: ServedEngine;
let remote: Memory;
let embedded: Memory;

beforeAll(async () => {
  engine = await ServedEngine.open();
  embedded = engine.context.serverContext.memory;
  remote = remoteOf(engine.url);
});
afterAll(async () => {
  await remote.close();
  await engine.close();
});

async function expectSame(ask: (memory: Memory) => Promise<unknown>): Promise<void> {
  expect(await ask(remote)).toEqual(await ask(embedded));
}

describe("a remote memory", () => {
  it("stores and returns the same as the engine itself", async () => {
    for (const fact of FACTS) expect(await remote.storeFact("main", fact)).toMatchObject({ key: fact.key });
    const again = { key: "wifi", value: "The guest wifi is called Kolibri." };
    const { revision = 0, ...stored } = await remote.storeFact("main", again);
    expect(await embedded.storeFact("main", again, { surface: "rest", agent: "main" })).toEqual({
      ...stored,
      revision: revision + 1,
    });
    const similar = { key: "wlan", value: "The guest wifi is called Kolibri." };
    expect(await remote.storeFact("main", similar)).toMatchObject({ sameAs: ["wifi"] });
  });

  it("stores many like the engine itself, each with its result", async () => {
    const facts = [
      { key: "many/one", value: "Tea is at four.", ttlSeconds: 3_600 },
      { key: "many/two", value: "" },
      { key: "wifi", value: "The guest wifi is called Kolibri.", ifRevision: 99 },
    ];
    const batch = { facts, similar: false };
    const theirs = await remote.storeFacts("main", batch);
    expect(theirs).toMatchObject({
      refused: 2,
      results: [{ key: "many/one" }, { error: "invalid_input" }, { error: "changed_meanwhile" }],
    });
    await embedded.forget("main", { scope: "key:many/one" });
    const own = await embedded.storeFacts("main", batch);
    expect(own.results.slice(1)).toEqual(theirs.results.slice(1));
    expect({ ...own.results[0], revision: 0 }).toEqual({ ...theirs.results[0], revision: 0 });
    await embedded.forget("main", { scope: "key:many/one" });
    await expect(remote.storeFacts("main", { facts: [] })).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("reads every fact by its key, its path and its docid", async () => {
    for (const { key } of FACTS) {
      const fact = await embedded.getFact("main", { key });
      expect(fact?.key).toBe(key);
      expect(await remote.getFact("main", { key })).toEqual(fact);
      if (fact !== undefined) expect(await remote.getFact("main", { key: fact.path })).toEqual(fact);
    }
    expect(await remote.getFact("main", { key: "not there" })).toBeUndefined();
    await expect(remote.getFact("main", { key: "half \ud800" })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });

  it("lists page by page", async () => {
    const asked = [{ prefix: "deploy/" }, { category: "work" }, { limit: 1 }, { expiring: true }];
    const { nextCursor: cursor = "" } = await remote.listFacts("main", { limit: 2 });
    for (const query of [{}, ...asked, { soonestFirst: true }, { cursor }])
      await expectSame((memory) => memory.listFacts("main", query));
  });

  it("reviews a memory, and keeps facts apart", async () => {
    const { findings, revision, nextCursor = "" } = await remote.review("main", { limit: 1 });
    expect(findings.map(({ kind, facts }) => [kind, ...facts.map(({ key }) => key).sort()])).toEqual([
      ["duplicate", "wifi", "wlan"],
    ]);
    for (const query of [{}, { limit: 1 }, { cursor: nextCursor }])
      await expectSame((memory) => memory.review("main", query));
    const apart = { keys: ["wlan", "wifi"], upTo: revision };
    expect(await remote.keepApart("main", apart)).toEqual({ keys: apart.keys, apart: true });
    expect((await embedded.review("main", {})).found.duplicate).toBe(0);
    await remote.keepApart("main", { keys: apart.keys, apart: false });
    expect((await embedded.review("main", {})).found.duplicate).toBe(1);
    await expect(remote.keepApart("main", apart)).rejects.toMatchObject({ code: "changed_meanwhile" });
  });

  it("searches, explains, and reports if nothing was found", async () => {
    const asked = [
      { query: "how do we deploy" },
      { query: "deploy", limit: 1, explain: true },
      { query: "what is the wifi password", recall: "eager" as const },
      { query: "zebra", recall: "quiet" as const },
      { query: "名前は何ですか ".repeat(500) },
    ];
    for (const query of asked) await expectSame((memory) => memory.search("main", query));
    expect((await remote.search("main", { query: "deploy" })).results[0]?.path).toContain("deploy");
  });

  it("uses this host's recall mode by default", async () => {
    const quiet = remoteOf(engine.url, { recall: "quiet" });
    const query = "what is the wifi password";
    expect(await quiet.search("main", { query })).toEqual(
      await embedded.search("main", { query, recall: "quiet" }),
    );
    await quiet.close();
  });

  it("reads documents by lines", async () => {
    const path = "helmdeck/work/deploy/preference.md";
    for (const query of [{ path }, { path, fromLine: 3, lineCount: 1 }, { path: "helmdeck/my-memory.md" }])
      await expectSame((memory) => memory.readDocument("main", query));
    expect(await remote.readDocument("main", { path: "helmdeck/work/none.md" })).toBeUndefined();
    await expectSame((memory) => memory.myMemory("main"));
  });

  it("keeps history, undoes, renews and forgets", async () => {
    await remote.storeFact("main", { key: "editor", value: "vim" });
    await remote.storeFact("main", { key: "editor", value: "emacs" });
    const history = await embedded.factHistory("main", { key: "editor" });
    expect(history?.undo).toMatchObject([{ value: "vim" }]);
    expect(await remote.factHistory("main", { key: "editor" })).toEqual(history);
    expect(await remote.factHistory("main", { key: "none" })).toBeUndefined();
    expect(await remote.undoFact("main", { key: "editor" })).toMatchObject({
      undone: { value: "emacs" },
      restored: [{ value: "vim", updatedAt: expect.any(Number) }],
    });
    await expect(remote.undoFact("main", { key: "none" })).rejects.toMatchObject({ code: "not_found" });
    const renewed = await remote.renewFact("main", { key: "editor", ttlSeconds: 31_536_000 });
    expect(renewed).toEqual(await embedded.getFact("main", { key: "editor" }));
    await remote.renewFact("main", { key: "editor", ttlSeconds: 86_400 });
    const pinned = await remote.pinFact("main", { key: "editor" }, { surface: "chat", isPerson: true });
    expect(pinned).toEqual({ ...(await embedded.getFact("main", { key: "editor" })), pinned: true });
    expect(await remote.listFacts("main", { pinned: true })).toEqual({ facts: [pinned], unreadable: [] });
    await remote.renewFact("main", { key: "editor", ttlSeconds: 86_400 });
    const confirmed = await remote.pinFact("main", { key: "editor" }, { surface: "chat", isPerson: true });
    expect(confirmed.expiresAt).toBe(NOW + 365 * 86_400_000);
    expect(await remote.pinFact("main", { key: "editor", pinned: false })).not.toHaveProperty("pinned");
    expect(await remote.forget("main", { scope: "edito", dryRun: true })).toMatchObject({
      deleted: 0,
      near: ["editor"],
    });
    expect(await remote.forget("main", { scope: "editor", dryRun: true })).toMatchObject({ deleted: 1 });
    expect(await remote.getFact("main", { key: "editor" })).toBeDefined();
    expect(await remote.forget("main", { scope: "editor" })).toMatchObject({ deleted: 1, dryRun: false });
    expect(await remote.getFact("main", { key: "editor" })).toBeUndefined();
  });

  it("records tool calls, and counts them", async () => {
    const before = await remote.revision("main");
    const at_unix = 1_795_000_000;
    await remote.recordToolCall("main", { tool: "exec", outcome: "ok", at_unix, inputs: { path: "/etc" } });
    await remote.recordPackRun("main", { pack: "slides.narrate", outcome: "ok", at_unix, duration_ms: 3 });
    expect(await remote.revision("main")).toBeGreaterThan(before);
    expect(await remote.status("main")).toMatchObject({
      state: "ready",
      engine: { url: engine.url, version: expect.any(String), tookMs: expect.any(Number) },
      subject: { name: "main", facts: 5, auditRows: 2, expiring: { count: 1 } },
    });
  });

  it("lists runs, with inputs under their tools' names, and the memory's growth", async () => {
    const inputs = { file_path: "/etc/hosts", updated_at: "2026-11-20T00:00:00Z" };
    await remote.recordToolCall("main", { tool: "edit", outcome: "failed", at_unix: 1_795_000_001, inputs });
    for (const query of [{}, { kind: "tool" }, { outcome: "failed" }, { limit: 1 }] as const) {
      expect(await remote.listRuns("main", query)).toEqual(await embedded.listRuns("main", query));
    }
    const { runs } = await remote.listRuns("main", { outcome: "failed" });
    expect(runs).toMatchObject([{ name: "edit", isOk: false, at: 1_795_000_001_000, inputs }]);
    const { nextCursor = "" } = await remote.listRuns("main", { limit: 1, until: NOW });
    expect(await remote.listRuns("main", { cursor: nextCursor })).toEqual(
      await embedded.listRuns("main", { cursor: nextCursor }),
    );
    for (const until of [-9e15, 0, NOW - 1, 9e15]) {
      expect(await remote.listRuns("main", { until })).toEqual(await embedded.listRuns("main", { until }));
    }
    expect(await remote.growth("main")).toEqual(await embedded.growth("main"));
    expect((await remote.growth("main")).days).toMatchObject([{ facts: 5, runs: 3 }]);
  });

  it("passes on agent and session when the host vouches for them", async () => {
    const host = { surface: "openclaw", agent: "work", sessionKind: "subagent" };
    await remote.storeFact("main", { key: "vouched", value: "by the host" }, host);
    const writer = { surface: "rest", agent: "main/work", sessionKind: "subagent" };
    expect((await embedded.getFact("main", { key: "vouched" }))?.writer).toEqual(writer);
    await remote.recordToolCall("main", { tool: "vouched", outcome: "ok", at_unix: 1_795_000_000 }, host);
    const { runs } = await embedded.listRuns("main", {});
    expect(runs.find(({ name }) => name === "vouched")?.writer).toEqual(writer);
    await remote.storeFact("main", { key: "odd", value: "by nobody" }, { surface: "cli", agent: "a b" });
    expect((await embedded.getFact("main", { key: "odd" }))?.writer).toEqual({
      surface: "rest",
      agent: "main",
    });
  });

  it("passes on the engine's message about a refused input", async () => {
    const refusals = [
      { fact: { key: "", value: "v" }, code: "invalid_input", says: /key/ },
      { fact: { key: "k", value: "v", ttlSeconds: 60 }, code: "invalid_input", says: /ttl_seconds/ },
      { fact: { key: "k", value: `ghp_${"a1B2".repeat(9)}` }, code: "secret_refused", says: /./ },
    ];
    for (const { fact, code, says } of refusals) {
      await expect(remote.storeFact("main", fact)).rejects.toMatchObject({
        code,
        message: expect.stringMatching(says),
      });
    }
  });

  it("has one memory per token, whatever the agent's name", async () => {
    expect(await remote.listFacts("other", {})).toMatchObject({ facts: [] });
    expect(await remote.search("other", { query: "deploy" })).toMatchObject({ results: [] });
    expect(
      await remote.readDocument("other", { path: "helmdeck/work/deploy/preference.md" }),
    ).toBeUndefined();
    await remote.forget("other", { scope: "everything" });
    expect((await remote.listFacts("main", {})).facts).not.toEqual([]);
  });

  it.each<UseCase>(["sweep", "callers", "corpusPage", "recordPipelineRun", "imports", "checkFact"])(
    "refuses %s: it must be done on the engine's machine",
    async (name) => {
      const call = remote[name] as (...args: readonly unknown[]) => Promise<unknown>; // each use case accepts any arguments here
      await expect(call("main", {})).rejects.toMatchObject({
        code: "memory_unavailable",
        message: expect.stringContaining("on the engine's machine"),
      });
    },
  );
});
