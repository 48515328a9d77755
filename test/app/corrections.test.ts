/** Corrections: superseding, similar facts in a store's result, history, undo, and old exports. */
import { Readable } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { exportLines } from "../../app/transfer/export-lines.ts";
import { importLines } from "../transfer/import-lines.ts";
import {
  keysOf,
  openMemoryInProcess,
  openTestMemory,
  openWithClock,
  TestClock,
} from "./fixtures/memories.ts";

async function exported(memory: OpenMemory, withHistory = false): Promise<string> {
  const lines: string[] = [];
  const onProblem = (problem: unknown) => void expect(problem).toBeUndefined();
  for await (const line of exportLines({ memory, subject: "main", withHistory, onProblem })) lines.push(line);
  return `${lines.join("\n")}\n`;
}

const imported = (memory: OpenMemory, lines: string) =>
  importLines({ memory, subject: "main", input: Readable.from([Buffer.from(lines)]) });

describe("the result of a store", () => {
  test("names other facts with the same value, and no fact for a new value", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "deploy/tool", value: "Deploys go through Konflux." });
    const again = await memory.storeFact("main", {
      key: "deploy/tool",
      value: "Deploys go through Konflux.",
    });
    expect(again).not.toHaveProperty("sameAs");
    const other = await memory.storeFact("main", { key: "deploys", value: "Deploys go through Konflux." });
    expect(other).toMatchObject({ key: "deploys", sameAs: ["deploy/tool"] });
    expect(other).not.toHaveProperty("similar");
  });

  test("names at most three similar facts, escaped and short", async () => {
    const memory = await openTestMemory();
    for (const name of ["a", "b", "c", "d"]) {
      const value = `The harbour crane ${name} lifts forty tonnes.\u202e\u001b[31m ${"and more ".repeat(40)}`;
      await memory.storeFact("main", { key: `crane/${name}`, value });
    }
    const { similar = [] } = await memory.storeFact("main", {
      key: "crane/today",
      value: "The harbour crane lifts forty tonnes.",
    });
    expect(similar).toHaveLength(3);
    for (const { value, updatedAt } of similar) {
      expect(value).toMatch(/^The harbour crane \w lifts forty tonnes\.\[U\+202E\]\[U\+001B\]/);
      expect(value).toMatch(/…$/);
      expect(value.length).toBeLessThanOrEqual(200);
      expect(updatedAt).toEqual(expect.any(Number));
    }
  });

  // verifies P-supersede-scope, P-alone-subjects
  test("names no fact of another caller, nor any that it supersedes", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("other", { key: "crane", value: "The harbour crane lifts forty tonnes." });
    const first = await memory.storeFact("main", {
      key: "a",
      value: "The harbour crane lifts forty tonnes.",
    });
    expect(first).not.toHaveProperty("sameAs");
    expect(first).not.toHaveProperty("similar");
    const second = await memory.storeFact("main", {
      key: "b",
      value: "The harbour crane lifts forty tonnes.",
      supersedes: ["a"],
    });
    expect(second).toMatchObject({ superseded: ["a"] });
    expect(second).not.toHaveProperty("sameAs");
    expect(await memory.getFact("other", { key: "crane" })).toBeDefined();
  });

  test("omits them when the search is slow or fails", async () => {
    const memory = await openMemoryInProcess();
    const changes = vi.spyOn(memory.store, "changes").mockRejectedValue(new Error("broken"));
    const stored = await memory.storeFact("main", { key: "a", value: "v" });
    expect(changes).toHaveBeenCalled();
    expect(stored).toMatchObject({ key: "a" });
    expect(stored).not.toHaveProperty("similar");
  });
});

describe("superseding", () => {
  test("accepts keys, paths and docids, and ignores missing ones", async () => {
    const memory = await openTestMemory();
    for (const key of ["tea/one", "tea/two", "tea/three"])
      await memory.storeFact("main", { key, value: key });
    const stored = await memory.storeFact("main", {
      key: "coffee",
      value: "Coffee, no tea.",
      supersedes: ["tea/one", "helmdeck/user_facts/tea/two.md", "user_facts/tea/three", "tea/four", "coffee"],
    });
    expect(stored.superseded).toEqual(["tea/one", "tea/two", "tea/three"]);
    expect(await keysOf(memory)).toEqual(["coffee"]);
  });

  test.each([[["", "a"]], [Array.from({ length: 10 }, (_, i) => `k${i}`)], ["a"], [[7]]])(
    "refuses %j, and stores nothing",
    async (supersedes) => {
      const memory = await openTestMemory();
      const fact = { key: "k", value: "v", supersedes: supersedes as readonly string[] }; // wrong types on purpose
      await expect(memory.storeFact("main", fact)).rejects.toMatchObject({
        code: "invalid_input",
        details: { field: "supersedes" },
      });
      expect(await keysOf(memory)).toEqual([]);
    },
  );

  // verifies P-history-hidden
  test("only the new fact is found, listed, read and counted", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", {
      key: "deploy/konflux",
      value: "Production deploys go through Konflux.",
    });
    await memory.storeFact("main", {
      key: "deploy/argo",
      value: "Production deploys go through Argo.",
      supersedes: ["deploy/konflux"],
    });
    const seen = JSON.stringify([
      await memory.search("main", { query: "how do production deploys go, through Konflux?" }),
      await memory.search("main", { query: "konflux" }),
      await memory.corpusPage("main", {}),
      await memory.listFacts("main", {}),
      await memory.myMemory("main"),
      await memory.readDocument("main", { path: "helmdeck/my-memory.md" }),
      await exported(memory),
    ]);
    expect(seen).toContain("Argo");
    expect(seen.toLowerCase()).not.toContain("konflux");
    expect(await memory.getFact("main", { key: "deploy/konflux" })).toBeUndefined();
    const history = await memory.factHistory("main", { key: "deploy/konflux" });
    expect(history).toMatchObject({ key: "deploy/argo", former: [{ key: "deploy/konflux" }] });
  });
});

describe("forgetting a superseded fact", () => {
  // verifies P-history-erased
  test.each(["deploy/konflux", "key:deploy/konflux", "helmdeck/user_facts/deploy/konflux.md"])(
    "by %s erases it from the history, as its dry run says",
    async (scope) => {
      const memory = await openTestMemory();
      await memory.storeFact("main", { key: "deploy/konflux", value: "Konflux" });
      await memory.storeFact("main", { key: "deploy/argo", value: "Argo", supersedes: ["deploy/konflux"] });
      const { revision, ...dry } = await memory.forget("main", { scope, dryRun: true });
      expect(revision).toBeGreaterThan(0);
      expect(dry).toEqual({ scope, deleted: 0, former: 1, dryRun: true, erased: "nothing" });
      expect(await memory.forget("main", { scope })).toEqual({ ...dry, dryRun: false, erased: "complete" });
      expect(await memory.factHistory("main", { key: "deploy/argo" })).toEqual({
        key: "deploy/argo",
        former: [],
        undo: [],
      });
      expect(await memory.factHistory("main", { key: "deploy/konflux" })).toBeUndefined();
      expect(await memory.forget("main", { scope })).toMatchObject({ deleted: 0, erased: "nothing" });
    },
  );
});

describe("undo", () => {
  test("is previewed correctly even if the first superseded fact has expired", async () => {
    const { clock, memory } = await openWithClock();
    await memory.storeFact("main", { key: "short", value: "Ends soon.", ttlSeconds: 3_600 });
    await memory.storeFact("main", { key: "long", value: "Stays." });
    await memory.storeFact("main", { key: "a", value: "One." });
    await memory.storeFact("main", { key: "a", value: "Two." });
    await memory.storeFact("main", { key: "a", value: "Three.", supersedes: ["short", "long"] });
    clock.pass(3_600_000);
    const { undo = [] } = (await memory.factHistory("main", { key: "a" })) ?? {};
    const { restored } = await memory.undoFact("main", { key: "a" });
    expect(undo.map(({ value }) => value)).toEqual(["Two.", "Stays."]);
    expect(restored.map(({ value }) => value)).toEqual(["Two.", "Stays."]);
  });

  test("returns the undone and the restored facts, and refuses a missing fact", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "tea", value: "green" }, { surface: "cli", agent: "ana" });
    await memory.storeFact("main", { key: "tea", value: "black" });
    const undone = await memory.undoFact("main", { key: "helmdeck/user_facts/tea.md" });
    expect(undone).toMatchObject({
      undone: { key: "tea", value: "black" },
      restored: [{ key: "tea", value: "green", writer: { surface: "cli", agent: "ana" } }],
    });
    for (const key of ["tea", "milk"]) {
      await expect(memory.undoFact("main", { key })).rejects.toMatchObject({ code: "not_found" });
    }
    await expect(memory.undoFact("other", { key: "tea" })).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("an export", () => {
  async function filled(clock = new TestClock()) {
    const memory = await openTestMemory({ now: clock.now });
    await memory.storeFact("main", { key: "tea", value: "green" }, { surface: "cli", agent: "ana" });
    await memory.storeFact("main", { key: "tea", value: "black", tags: ["hot"] });
    await memory.storeFact("main", { key: "milk", value: "none" });
    const old = await exported(memory);
    clock.pass(1_000);
    await memory.storeFact("main", { key: "morning", value: "coffee", supersedes: ["tea", "milk"] });
    return { memory, old, clock };
  }

  test("includes histories only on request, and an import restores them completely", async () => {
    const { memory } = await filled();
    expect(await exported(memory)).not.toMatch(/black|green|history/);
    const whole = await exported(memory, true);
    const copy = await openTestMemory({ now: new TestClock().now });
    expect(await imported(copy, whole)).toMatchObject({ stored: 1, refusedCount: 0 });
    expect(await copy.factHistory("main", { key: "tea" })).toEqual(
      await memory.factHistory("main", { key: "tea" }),
    );
    expect(await exported(copy, true)).toBe(whole);
    await copy.undoFact("main", { key: "morning" });
    await copy.undoFact("main", { key: "tea" });
    expect(await copy.getFact("main", { key: "tea" })).toMatchObject({
      value: "green",
      writer: { agent: "ana" },
    });
    expect(await keysOf(copy)).toEqual(["milk", "tea"]);
  });

  // verifies P-no-resurrection
  test("of an earlier time does not restore facts that were superseded since", async () => {
    const { memory, old } = await filled();
    expect(await imported(memory, old)).toMatchObject({ retired: 2, stored: 0, replaced: 0 });
    expect(await keysOf(memory)).toEqual(["morning"]);
  });

  test("restores later writes, facts that were not superseded, and hand-written lines", async () => {
    const { memory, old, clock } = await filled();
    clock.pass(60_000);
    const newer = old.replaceAll(/"(created|updated)_at":"[^"]+"/g, (_, name) => {
      return `"${name}_at":"${new Date(clock.time).toISOString()}"`;
    });
    expect(await imported(memory, newer)).toMatchObject({ retired: 0, stored: 2 });
    await memory.forget("main", { scope: "all" });
    expect(await imported(memory, old)).toMatchObject({ retired: 0, stored: 2 });
    await memory.storeFact("main", { key: "x", value: "y", supersedes: ["tea"] });
    expect(await imported(memory, '{"key":"tea","value":"by hand"}\n')).toMatchObject({ stored: 1 });
  });

  test.each([
    [
      "a fingerprint that does not match",
      (line: string) => line.replace('"value":"green"', '"value":"greed"'),
    ],
    ["a time in the future", (line: string) => line.replace(/("history":.*?"updated_at":")20/, "$130")],
    ["an invalid id", (line: string) => line.replace(/"into":"[^"]+"/, '"into":"a b"')],
    [
      "a secret",
      (line: string) =>
        line.replaceAll("green", `ghp_${"a1B2".repeat(9)}`).replaceAll(/"fingerprint":"[^"]+",?/g, ""),
    ],
  ])("with %s in a history is refused", async (_, spoil) => {
    const { memory } = await filled();
    const spoilt = spoil((await exported(memory, true)).replaceAll(/,"path":"[^"]*"/g, ""));
    const copy = await openTestMemory();
    expect(await imported(copy, spoilt)).toMatchObject({ stored: 0, refusedCount: 1 });
  });
});
