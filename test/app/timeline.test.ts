/** The use cases behind the pages: runs, expiring facts, growth, and the preview of a store. */
import { describe, expect, test } from "vitest";
import { DAY_MS, inTurn, NOW, openTestMemory, openWithClock, pagesOf } from "./fixtures/memories.ts";

const tool = (name: string, outcome: "ok" | "failed" = "ok", at = NOW) => ({
  tool: name,
  outcome,
  at_unix: Math.floor(at / 1_000),
  duration_ms: 12,
  inputs: { title: name },
});

async function memoryWithRuns() {
  const { clock, memory } = await openWithClock();
  await memory.recordToolCall("main", tool("one"));
  clock.pass(60_000);
  await memory.recordToolCall("main", tool("two", "failed", clock.time));
  clock.pass(60_000);
  await memory.recordPackRun("main", { pack: "p", outcome: "invalid_input", at_unix: clock.time / 1_000 });
  await memory.recordPipelineRun("main", {
    ...{ pipeline: "l", run_id: "r", outcome: "succeeded" },
    at_unix: clock.time / 1_000 + 60,
  });
  await memory.recordToolCall("other", tool("not ours"));
  return { memory, clock };
}

const names = (page: { readonly runs: readonly { readonly name: string }[] }) =>
  page.runs.map(({ name }) => name);

describe("runs", () => {
  test("are listed newest first, with all known details", async () => {
    const { memory } = await memoryWithRuns();
    const { runs, unreadable } = await memory.listRuns("main", {});
    expect(runs.map(({ name, kind, outcome, isOk }) => [name, kind, outcome, isOk]).sort()).toEqual([
      ["l", "pipeline", "succeeded", true],
      ["one", "tool", "ok", true],
      ["p", "pack", "invalid_input", false],
      ["two", "tool", "failed", false],
    ]);
    expect(runs.at(-1)).toMatchObject({ at: NOW, durationMs: 12, inputs: { title: "one" }, findings: 0 });
    expect(unreadable).toBe(0);
  });

  test("are filtered by kind, outcome and time", async () => {
    const { memory } = await memoryWithRuns();
    expect(names(await memory.listRuns("main", { kind: "tool" }))).toEqual(["two", "one"]);
    expect(names(await memory.listRuns("main", { outcome: "failed" })).sort()).toEqual(["p", "two"]);
    expect(names(await memory.listRuns("main", { outcome: "ok" })).sort()).toEqual(["l", "one"]);
    expect(names(await memory.listRuns("main", { until: NOW }))).toEqual(["one"]);
    expect(names(await memory.listRuns("main", { until: NOW - 1 }))).toEqual([]);
  });

  test("are listed page by page without a gap, also if few match", async () => {
    const { clock, memory } = await openWithClock();
    await inTurn([...Array(130).keys()], async (number) => {
      clock.pass(1_000);
      const outcome = number % 3 === 0 ? "failed" : "ok";
      await memory.recordToolCall("main", tool(`t${number}`, outcome, clock.time));
    });
    const failed = { outcome: "failed", limit: 7 } as const;
    const pages = await pagesOf((next) => memory.listRuns("main", { ...failed, ...next }));
    expect(pages.flatMap(names)).toEqual([...Array(44).keys()].map((at) => `t${129 - 3 * at}`));
  });

  test.each([{ kind: "cache" }, { outcome: "maybe" }, { until: 1.5 }, { limit: 201 }, { cursor: "x" }])(
    "refuse %o",
    async (query) => {
      const { memory } = await memoryWithRuns();
      await expect(memory.listRuns("main", query as object)).rejects.toMatchObject({ code: "invalid_input" });
    },
  );
});

test("facts that expire within 14 days are sorted soonest first, page by page", async () => {
  const memory = await openTestMemory();
  await inTurn([9, 3, 15, 1, 3, 13], async (days) => {
    const { facts } = await memory.listFacts("main", {});
    await memory.storeFact("main", {
      key: `k${facts.length}-${days}`,
      value: "x",
      ttlSeconds: days * 86_400,
    });
  });
  const soonest = { soonestFirst: true, limit: 2 };
  const pages = await pagesOf((next) => memory.listFacts("main", { ...soonest, ...next }));
  const days = pages.flatMap(({ facts }) => facts.map(({ expiresAt = 0 }) => (expiresAt - NOW) / DAY_MS));
  expect(days).toEqual([1, 3, 3, 9, 13]);
});

test("growth counts current entries by day of creation, and notices changes", async () => {
  const { clock, memory } = await openWithClock();
  expect(await memory.growth("main")).toEqual({ days: [], bytes: 0 });
  await memory.storeFact("main", { key: "a", value: "x" });
  await memory.recordToolCall("main", tool("t"));
  clock.pass(2 * DAY_MS);
  await memory.storeFact("main", { key: "a", value: "y" });
  await memory.storeFact("main", { key: "b", value: "x", ttlSeconds: 3_600 });
  const { days, bytes } = await memory.growth("main");
  expect(days).toEqual([
    { day: "2026-11-20", facts: 1, runs: 1 },
    { day: "2026-11-22", facts: 1, runs: 0 },
  ]);
  expect(bytes).toBeGreaterThan(3);
  clock.pass(3_600_000);
  expect((await memory.growth("main")).days).toEqual([{ day: "2026-11-20", facts: 1, runs: 1 }]);
  expect((await memory.growth("other")).days).toEqual([]);
});

describe("checking a fact", () => {
  test("returns the result of storing, and stores nothing", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "old", value: "We deploy through Konflux." });
    const checked = await memory.checkFact("main", {
      ...{ key: " new ", value: " We deploy through Argo. ", tags: ["a", "a"] },
      supersedes: ["old", "gone"],
    });
    expect(checked).toMatchObject({ key: "new", value: "We deploy through Argo.", category: "user_facts" });
    expect(checked).toMatchObject({ tags: ["a"], supersedes: ["old"], expiresAt: NOW + 90 * DAY_MS });
    expect((await memory.listFacts("main", {})).facts.map(({ key }) => key)).toEqual(["old"]);
  });

  test("refuses a fact that storing would refuse", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "deploy", value: "x" });
    const check = (key: string, value: string) => memory.checkFact("main", { key, value });
    await expect(check("", "x")).rejects.toMatchObject({ code: "invalid_input" });
    await expect(check("dеploy", "x")).rejects.toMatchObject({ code: "invalid_input" });
    const token = `ghp_${"a1B2".repeat(9)}`;
    await expect(check("token", token)).rejects.toMatchObject({ code: "secret_refused" });
  });
});

test("history marks what an undo would restore: everything that the last store replaced", async () => {
  const memory = await openTestMemory();
  const store = (key: string, value: string, supersedes: readonly string[] = []) =>
    memory.storeFact("main", { key, value, supersedes });
  await store("a", "one");
  await store("a", "two");
  await store("old", "gone");
  await store("a", "three", ["old"]);
  const undo = async () =>
    (await memory.factHistory("main", { key: "a" }))?.undo.map(({ key, value }) => [key, value]).sort();
  expect(await undo()).toEqual([
    ["a", "two"],
    ["old", "gone"],
  ]);
  const { restored } = await memory.undoFact("main", { key: "a" });
  expect(restored.map(({ key, value }) => [key, value]).sort()).toEqual([
    ["a", "two"],
    ["old", "gone"],
  ]);
  expect(await undo()).toEqual([["a", "one"]]);
});
