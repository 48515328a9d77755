import { describe, expect, test } from "vitest";
import { NOW, openTestMemory } from "./fixtures/memories.ts";

const PATH = "helmdeck/user_facts/k.md";

async function memoryWith(value: string) {
  const memory = await openTestMemory();
  await memory.storeFact("main", { key: "k", value });
  return memory;
}

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`).join("\n");

describe("reading a document", () => {
  test("returns a short one completely", async () => {
    const memory = await memoryWith("Konflux");
    expect(await memory.readDocument("main", { path: PATH })).toEqual({
      path: PATH,
      title: "k",
      content: "## k\n\nKonflux\n\n(category: user_facts)",
      fromLine: 1,
      lineCount: 5,
      totalLines: 5,
      truncated: false,
      entry: { kind: "fact", key: "k", category: "user_facts", createdAt: NOW, updatedAt: NOW },
    });
  });

  test("returns 200 lines at a time, and the total", async () => {
    const memory = await memoryWith(lines(1, 300));
    const first = await memory.readDocument("main", { path: PATH });
    expect(first).toMatchObject({ fromLine: 1, lineCount: 200, totalLines: 304, truncated: true });
    expect(first?.content.endsWith("line 198")).toBe(true);
    const rest = await memory.readDocument("main", { path: PATH, fromLine: 201 });
    expect(rest).toMatchObject({ fromLine: 201, lineCount: 104, totalLines: 304, truncated: false });
    expect(rest?.content.startsWith("line 199")).toBe(true);
  });

  test("returns exactly the requested lines", async () => {
    const memory = await memoryWith(lines(1, 10));
    const slice = await memory.readDocument("main", { path: PATH, fromLine: 3, lineCount: 2 });
    expect(slice).toMatchObject({
      content: "line 1\nline 2",
      fromLine: 3,
      lineCount: 2,
      totalLines: 14,
      truncated: true,
    });
  });

  test.each([0, -5, 1.5, Number.NaN, Number.POSITIVE_INFINITY, undefined])(
    "ignores the line number %s",
    async (line) => {
      const memory = await memoryWith("v");
      // @ts-expect-error a host may pass an unset field as undefined
      const slice = await memory.readDocument("main", { path: PATH, fromLine: line, lineCount: line });
      expect(slice).toMatchObject({ fromLine: 1, lineCount: 5 });
    },
  );

  test("returns no lines beyond the end", async () => {
    const memory = await memoryWith("v");
    const slice = await memory.readDocument("main", { path: PATH, fromLine: 99 });
    expect(slice).toMatchObject({ content: "", fromLine: 99, lineCount: 0, totalLines: 5, truncated: false });
  });

  test("limits the content to 12 KB, in whole lines, and continues there", async () => {
    const line = "é".repeat(500);
    const memory = await memoryWith(Array.from({ length: 40 }, () => line).join("\n"));
    const first = await memory.readDocument("main", { path: PATH });
    expect(Buffer.byteLength(first?.content ?? "")).toBeLessThanOrEqual(12_288);
    expect(first).toMatchObject({ totalLines: 44, truncated: true, lineCount: 14 });
    expect(first?.content.endsWith(line)).toBe(true);
    const next = await memory.readDocument("main", { path: PATH, fromLine: 15 });
    expect(next?.content.startsWith(line)).toBe(true);
  });

  test("splits a longer line between two characters", async () => {
    const memory = await memoryWith("🦆".repeat(10_000));
    const slice = await memory.readDocument("main", { path: PATH, fromLine: 3, lineCount: 1 });
    expect(slice).toMatchObject({ lineCount: 1, truncated: true });
    expect(slice?.content).toBe("🦆".repeat(3_072));
  });

  test("reads the lines of a search hit's citation", async () => {
    const memory = await memoryWith(`${lines(1, 50)}\nThe harbour crane is blue.\n${lines(51, 90)}`);
    const [hit] = (await memory.search("main", { query: "harbour crane" })).results;
    const { path = "", startLine = 0, endLine = 0 } = hit ?? {};
    const slice = await memory.readDocument("main", {
      path: `${path}#L${startLine}-L${endLine}`,
      fromLine: startLine,
      lineCount: endLine - startLine + 1,
    });
    expect(slice?.content).toContain("The harbour crane is blue.");
  });

  test("returns a run of a pack", async () => {
    const memory = await openTestMemory();
    await memory.recordPackRun("main", {
      pack: "github/lint",
      outcome: "timeout",
      at_unix: 1_795_000_000,
      duration_ms: 12,
    });
    const [hit] = (await memory.search("main", { query: "github lint timeout" })).results;
    const slice = await memory.readDocument("main", { path: hit?.path ?? "" });
    expect(slice?.content).toBe(
      "## Pack call: github/lint\n\nOutcome: timeout\nAt: 2026-11-18T11:06:40Z\nDuration: 12ms",
    );
  });
});

describe("my-memory.md", () => {
  test("lists the stored entries, with readable paths", async () => {
    const memory = await memoryWith("v");
    const slice = await memory.readDocument("main", { path: "helmdeck/my-memory.md" });
    expect(slice).toMatchObject({ title: "What helmdeck memory holds", truncated: false, lineCount: 7 });
    const [, path = ""] = /\((helmdeck\/.*\.md)\)/.exec(slice?.content ?? "") ?? [];
    expect((await memory.readDocument("main", { path }))?.title).toBe("k");
  });

  test("exists for a subject without entries, as for an unknown one", async () => {
    const memory = await memoryWith("v");
    const slice = await memory.readDocument("nobody", { path: "helmdeck/my-memory.md" });
    expect(slice?.content).toBe("# What helmdeck memory holds\n\nNothing yet.");
  });
});

describe("no document exists", () => {
  test.each([
    "helmdeck/user_facts/K.md",
    "helmdeck/prefs/k.md",
    "helmdeck/user_facts/k",
    "k",
    "user_facts/k",
    "MEMORY.md",
    "",
    "helmdeck/",
    "helmdeck/user_facts/../user_facts/k.md",
    "helmdeck/user_facts/%6B.md",
    "/helmdeck/user_facts/k.md",
    "helmdeck/cache/k.md",
    "helmdeck/pack_history/k.md",
    "helmdeck/user_facts/k.md\u0000",
    "helmdeck/my-memory.md/..",
    "helmdeck/MY-MEMORY.md",
  ])("at %j", async (path) => {
    const memory = await memoryWith("v");
    expect(await memory.readDocument("main", { path })).toBeUndefined();
  });

  test("at a path that is not a string", async () => {
    const memory = await memoryWith("v");
    // @ts-expect-error a host may pass arguments of any type from a model
    expect(await memory.readDocument("main", { path: 7 })).toBeUndefined();
  });
});
