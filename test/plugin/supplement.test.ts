import { describe, expect, test } from "vitest";
import type { Memory } from "../../app/memory.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { makeSupplement } from "../../plugin/supplement.ts";
import type { RecallAnswer, RecallHit } from "../../recall/search-contract.ts";
import { MAIN, policyFor, recordingLogger } from "./fake-host.ts";
import { accessTo, fakeMemory, HIT, hanging } from "./fake-memory.ts";

const DEADLINE_MS = 40;
const PATH = "helmdeck/user_facts/deploy.md";
const ANSWER: RecallAnswer = { results: [HIT], mode: "keyword" };
const NOTHING: RecallAnswer = { results: [], mode: "keyword" };
const SLICE = {
  ...{ path: PATH, title: "deploy", content: "always via Konflux", entry: HIT },
  ...{ fromLine: 1, lineCount: 1, totalLines: 1, truncated: false },
};

function supplementOver(memory: Memory | Error, config: unknown = {}, more: { renewOnUse?: boolean } = {}) {
  const log = recordingLogger();
  const supplement = makeSupplement({
    access: accessTo(memory),
    policy: policyFor(config),
    log,
    deadlineMs: DEADLINE_MS,
    ...more,
  });
  return { supplement, log };
}

const GROUP = { agentId: "main", agentSessionKey: "agent:main:telegram:group:-1" };
const REFUSED = [
  ["a group", GROUP],
  ["a hook", { agentId: "main", agentSessionKey: "agent:main:hook:1" }],
  ["a sandboxed run", { ...MAIN, sandboxed: true }],
  ["another agent's session", { agentId: "other", agentSessionKey: "agent:main:main" }],
  ["nobody", {}],
] as const;

describe("search", () => {
  test("searches the caller's own memory, for ten hits by default", async () => {
    const memory = fakeMemory({ search: async () => ANSWER });
    const { supplement } = supplementOver(memory, { subjects: { main: "alice" } });
    const hits = await supplement.search({ ...MAIN, query: "  deploy " });
    expect(hits).toMatchObject([{ path: PATH, score: 0.9, citation: `${PATH}#L3-L3` }]);
    expect(memory.calls).toEqual([{ method: "search", args: ["alice", { query: "deploy", limit: 10 }] }]);
  });

  test.each(REFUSED.slice(0, 3))(
    "from %s that the operator opened, asks only for sure hits",
    async (_, caller) => {
      const memory = fakeMemory({ search: async () => ANSWER });
      const opened = { allow: ["groups", "hooks", "sandboxed"], recall: "eager" };
      const { supplement } = supplementOver(memory, opened);
      expect(await supplement.search({ ...caller, query: "deploy" })).toHaveLength(1);
      expect(memory.calls).toMatchObject([{ args: ["main", { query: "deploy", recall: "quiet" }] }]);
    },
  );

  test("shows possible hits to the agent's owner, marked and below every sure hit", async () => {
    const memory = fakeMemory({
      search: async () => ({ results: [{ ...HIT, score: 0.3, possible: true }], mode: "keyword" }),
    });
    const [hit, ...others] = await supplementOver(memory).supplement.search({ ...MAIN, query: "deploy" });
    expect(others).toEqual([]);
    expect(hit?.score).toBe(0.3);
    expect(hit?.snippet).toBe(
      'Only possibly related: fact "deploy" in user_facts, stored 2001-09-09:\n> always via Konflux',
    );
    expect(hit?.provenanceLabel).toContain("only possibly related");
  });

  test("reports that an index is still being built if nothing was found in it", async () => {
    const answer = { ...NOTHING, reason: "Still indexing.", incomplete: true as const };
    const memory = fakeMemory({ search: async () => answer });
    const { supplement } = supplementOver(memory);
    await expect(supplement.search({ ...MAIN, query: "deploy" })).rejects.toThrow(
      "helmdeck memory is still being indexed; try again in a moment",
    );
    const opened = supplementOver(memory, { allow: ["groups"] }).supplement;
    expect(await opened.search({ ...GROUP, query: "deploy" })).toEqual([]);
  });

  test.each([
    [3, 3],
    [0, 1],
    [-5, 1],
    [1_000, 50],
    [2.9, 2],
    [Number.NaN, 10],
  ])("maxResults %s asks for %s", async (maxResults, limit) => {
    const memory = fakeMemory({ search: async () => ANSWER });
    await supplementOver(memory).supplement.search({ ...MAIN, query: "x", maxResults });
    expect(memory.calls).toMatchObject([{ args: ["main", { limit }] }]);
  });

  test("returns at most the requested number of hits, even if memory returns more", async () => {
    const results = Array.from({ length: 9 }, (_, index) => ({ ...HIT, path: `helmdeck/f/${index}.md` }));
    const memory = fakeMemory({ search: async () => ({ results, mode: "keyword" }) });
    const hits = await supplementOver(memory).supplement.search({ ...MAIN, query: "x", maxResults: 4 });
    expect(hits.map(({ path }) => path)).toEqual(results.slice(0, 4).map(({ path }) => path));
  });

  test.each(REFUSED)("%s gets nothing, without a request to memory", async (_, caller) => {
    const memory = fakeMemory({ search: async () => ANSWER });
    expect(await supplementOver(memory).supplement.search({ ...caller, query: "deploy" })).toEqual([]);
    expect(memory.calls).toEqual([]);
  });

  test.each(["", "   ", "\n\t"])("an empty question (%j) finds nothing", async (query) => {
    expect(await supplementOver(fakeMemory()).supplement.search({ ...MAIN, query })).toEqual([]);
  });

  test("a very long question is cut", async () => {
    const memory = fakeMemory({ search: async () => ANSWER });
    await supplementOver(memory).supplement.search({ ...MAIN, query: "x".repeat(10_000_000) });
    const [, query] = memory.calls[0]?.args ?? [];
    expect(query).toMatchObject({ query: "x".repeat(4_000) });
  });

  test("an empty memory is not an error", async () => {
    const memory = fakeMemory({ search: async () => NOTHING });
    expect(await supplementOver(memory).supplement.search({ ...MAIN, query: "x" })).toEqual([]);
  });

  test("one malformed hit is omitted and logged, and the others are kept", async () => {
    const broken = { ...HIT, path: undefined } as unknown as RecallHit; // a possible result of a defect in the ranking
    const memory = fakeMemory({ search: async () => ({ results: [broken, HIT], mode: "keyword" }) });
    const { supplement, log } = supplementOver(memory);
    expect(await supplement.search({ ...MAIN, query: "x" })).toHaveLength(1);
    expect(log.lines).toEqual(["helmdeck memory: internal: 1 malformed hits were left out"]);
  });

  // verifies P-quiet-deadline
  test("a memory that hangs is abandoned at the deadline", async () => {
    const { supplement } = supplementOver(fakeMemory({ search: hanging }));
    await expect(supplement.search({ ...MAIN, query: "x" })).rejects.toThrow(
      "helmdeck memory is not available: it did not answer in time; run openclaw helmdeck doctor",
    );
  });

  test("a memory that hangs while it opens is abandoned at the deadline", async () => {
    const access = { ...accessTo(fakeMemory()), open: hanging };
    const parts = { access, policy: policyFor(), log: recordingLogger(), deadlineMs: DEADLINE_MS };
    await expect(makeSupplement(parts).search({ ...MAIN, query: "x" })).rejects.toThrow("in time");
  });

  test("a failure gives one fixed sentence; the error's text is only logged", async () => {
    const secret = "deadbeef".repeat(8);
    const { supplement, log } = supplementOver(new HelmdeckError("key_missing", `no key in /home/x/k`));
    const failed = supplement.search({ ...MAIN, query: secret });
    await expect(failed).rejects.toThrow(
      /^helmdeck memory is not available: the memory key is missing; run openclaw helmdeck doctor$/,
    );
    expect(log.lines).toEqual(["helmdeck memory: key_missing: no key in /home/x/k"]);
  });

  test("an unexpected error's text reaches neither the model nor the log", async () => {
    const secret = "s3cr3t-value";
    const { supplement, log } = supplementOver(
      fakeMemory({ search: async () => Promise.reject(new Error(secret)) }),
    );
    const error: unknown = await supplement
      .search({ ...MAIN, query: "x" })
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(Error);
    expect(`${String(error)} ${JSON.stringify(error)} ${log.lines.join()}`).not.toContain(secret);
    expect(error).not.toHaveProperty("cause");
  });
});

describe("get", () => {
  test("renews a fact by reading if the operator enabled it, and not in shared contexts", async () => {
    const asked = async (caller: object, more?: { renewOnUse: boolean }) => {
      const memory = fakeMemory({ readDocument: async () => SLICE });
      await supplementOver(memory, { allow: ["groups"] }, more).supplement.get({ ...caller, lookup: PATH });
      return memory.calls.map(({ args }) => args[1]);
    };
    expect(await asked(MAIN, { renewOnUse: true })).toEqual([{ path: PATH, renewOnUse: true }]);
    expect(await asked(MAIN)).toEqual([{ path: PATH }]);
    expect(await asked(MAIN, { renewOnUse: false })).toEqual([{ path: PATH }]);
    expect(await asked(GROUP, { renewOnUse: true })).toEqual([{ path: PATH }]);
  });

  test("reads a document of the caller's own memory", async () => {
    const memory = fakeMemory({ readDocument: async () => SLICE });
    const { supplement } = supplementOver(memory);
    const shown = await supplement.get({ ...MAIN, lookup: PATH, fromLine: 2, lineCount: 3 });
    expect(shown).toMatchObject({ corpus: "helmdeck", path: PATH, totalLines: 1 });
    expect(shown?.content).toBe('fact "deploy" in user_facts, stored 2001-09-09:\n> always via Konflux');
    expect(memory.calls).toEqual([
      { method: "readDocument", args: ["main", { path: PATH, fromLine: 2, lineCount: 3 }] },
    ]);
  });

  test.each([
    [0, -1],
    [1.5, Number.NaN],
  ])("line numbers that are not positive integers are ignored (%s, %s)", async (fromLine, lineCount) => {
    const memory = fakeMemory({ readDocument: async () => SLICE });
    await supplementOver(memory).supplement.get({ ...MAIN, lookup: PATH, fromLine, lineCount });
    expect(memory.calls).toMatchObject([{ args: ["main", { path: PATH }] }]);
  });

  test.each([
    "MEMORY.md",
    "",
    "helmdeck",
    "/helmdeck/x.md",
    "../helmdeck/x.md",
    "HELMDECK/x.md",
    "memory/2026-11-20.md",
  ])("the foreign path %j is not passed to memory", async (lookup) => {
    const memory = fakeMemory();
    expect(await supplementOver(memory).supplement.get({ ...MAIN, lookup })).toBeNull();
    expect(memory.calls).toEqual([]);
  });

  // verifies P-alone-invisible
  test("a missing document looks like one of another caller", async () => {
    const memory = fakeMemory({ readDocument: async () => undefined });
    expect(await supplementOver(memory).supplement.get({ ...MAIN, lookup: PATH })).toBeNull();
    for (const [, caller] of REFUSED) {
      expect(await supplementOver(memory).supplement.get({ ...caller, lookup: PATH })).toBeNull();
    }
  });

  test("a malformed document looks like a missing one", async () => {
    const memory = fakeMemory({ readDocument: async () => ({ ...SLICE, path: "MEMORY.md" }) });
    expect(await supplementOver(memory).supplement.get({ ...MAIN, lookup: PATH })).toBeNull();
  });

  test("a foreign path is answered even if memory does not open", async () => {
    const { supplement } = supplementOver(new HelmdeckError("key_wrong", "x"));
    expect(await supplement.get({ ...MAIN, lookup: "MEMORY.md" })).toBeNull();
    await expect(supplement.get({ ...MAIN, lookup: PATH })).rejects.toThrow("another database");
  });
});
