/** Importing a changed file again: facts of one name keep their keys, whatever was removed, reordered, edited or added beside them. */
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { openTestMemory } from "../app/fixtures/memories.ts";
import { factsOf, importNotes, textFile } from "./notes.ts";

const KEY = "notes/notes/important";
const KEYS = [KEY, `${KEY}-2`, `${KEY}-3`] as const;
const ALL = ["one", "two", "three"];

const fileOf = (texts: readonly string[]) => textFile(texts.map((text) => `- Important: ${text}\n`).join(""));
const importOf = (memory: OpenMemory, texts: readonly string[], options = {}) =>
  importNotes(memory, "markdown", [fileOf(texts)], options);
const factsFor = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([key, text]) => [key, `Important: ${text}`]));
const THREE = { [KEYS[0]]: "one", [KEYS[1]]: "two", [KEYS[2]]: "three" };

async function imported(): Promise<OpenMemory> {
  const memory = await openTestMemory();
  await importOf(memory, ALL);
  return memory;
}

/** The numbers of facts, and of former values in all of their histories. */
async function expectFacts(memory: OpenMemory, facts: Readonly<Record<string, string>>, former = 0) {
  expect(await factsOf(memory)).toEqual(factsFor(facts));
  const histories = await Promise.all(Object.keys(facts).map((key) => memory.factHistory("main", { key })));
  expect(histories.flatMap((history) => history?.former ?? [])).toHaveLength(former);
}

// verifies P-import-again
describe("of notes with one name", () => {
  test.each([
    ["the first was removed", ["two", "three"]],
    ["the middle one was removed", ["one", "three"]],
    ["the last was removed", ["one", "two"]],
    ["all but the last were removed", ["three"]],
    ["they were reordered", ["three", "one", "two"]],
    ["one was removed and the others were reordered", ["three", "two"]],
    ["one is repeated", ["one", "one", "two", "three"]],
  ])("nothing changes if %s", async (_what, texts) => {
    const memory = await imported();
    const rest = new Set(texts).size;
    const dry = await importOf(memory, texts, { dryRun: true });
    expect(dry).toMatchObject({ refreshed: rest, replaced: 0, foreseen: { gone: 3 - rest, first: [] } });
    for (let again = 0; again < 2; again += 1) {
      const result = await importOf(memory, texts);
      expect(result).toMatchObject({ stored: 0, replaced: 0, refreshed: rest, kept: 0 });
      await expectFacts(memory, THREE);
    }
  });

  test.each([
    ["the first", ["ONE", "two", "three"], { [KEYS[0]]: "ONE" }],
    ["the middle one", ["one", "TWO", "three"], { [KEYS[1]]: "TWO" }],
    ["the last", ["one", "two", "THREE"], { [KEYS[2]]: "THREE" }],
    ["the middle one between reordered ones", ["three", "TWO", "one"], { [KEYS[1]]: "TWO" }],
    ["the one before a removed one", ["ONE", "three"], { [KEYS[0]]: "ONE" }],
  ])("%s that was edited replaces its own fact", async (_what, texts, changed) => {
    const memory = await imported();
    expect(await importOf(memory, texts)).toMatchObject({ stored: 0, replaced: 1 });
    await expectFacts(memory, { ...THREE, ...changed }, 1);
    expect(await importOf(memory, texts)).toMatchObject({ stored: 0, replaced: 0 });
    expect(await importOf(memory, ALL)).toMatchObject({ stored: 0, replaced: 1 });
    expect(await factsOf(memory)).toEqual(factsFor(THREE));
  });

  test.each([
    ["at the end", ["one", "two", "three", "four"]],
    ["at the beginning", ["four", "one", "two", "three"]],
    ["at the end, while another was removed", ["one", "three", "four"]],
  ])("a new one %s gets a new number", async (_where, texts) => {
    const memory = await imported();
    expect(await importOf(memory, texts)).toMatchObject({ stored: 1, replaced: 0 });
    await expectFacts(memory, { ...THREE, [`${KEY}-4`]: "four" });
    expect(await importOf(memory, texts)).toMatchObject({ stored: 0, replaced: 0 });
  });

  test("one whose fact was changed in memory since stays as it is there", async () => {
    const memory = await imported();
    await memory.storeFact("main", { key: KEYS[1], value: "Important: by hand" });
    for (const texts of [ALL, ["two", "three"], ["three", "two"]]) {
      expect(await importOf(memory, texts)).toMatchObject({ stored: 0, replaced: 0, kept: 1 });
      await expectFacts(memory, { ...THREE, [KEYS[1]]: "by hand" }, 1);
    }
  });

  test.each(KEYS)("%s is imported again at its place after its fact was forgotten", async (key) => {
    const memory = await imported();
    await memory.forget("main", { scope: `key:${key}` });
    expect(await importOf(memory, ALL)).toMatchObject({ stored: 1, replaced: 0, refreshed: 2 });
    await expectFacts(memory, THREE);
  });

  test("one whose fact was superseded in memory since stays superseded, and a new one does not take its number", async () => {
    const memory = await imported();
    await memory.storeFact("main", { key: "mine", value: "Important: mine", supersedes: [KEYS[1]] });
    const rest = { [KEYS[0]]: "one", [KEYS[2]]: "three", mine: "mine" };
    expect(await importOf(memory, ALL)).toMatchObject({ retired: 1, stored: 0, replaced: 0 });
    expect(await importOf(memory, ["two", "three"])).toMatchObject({ retired: 1, stored: 0, replaced: 0 });
    await expectFacts(memory, rest, 1);
    expect(await importOf(memory, ["one", "three", "four"])).toMatchObject({ retired: 0, stored: 1 });
    await expectFacts(memory, { ...rest, [`${KEY}-4`]: "four" }, 1);
  });

  test("a fact of a person with such a key is not replaced", async () => {
    const memory = await openTestMemory();
    await importOf(memory, ["one"]);
    await memory.storeFact("main", { key: KEYS[1], value: "Important: mine" });
    expect(await importOf(memory, ["one", "two"])).toMatchObject({ stored: 1, replaced: 0 });
    await expectFacts(memory, { [KEYS[0]]: "one", [KEYS[1]]: "mine", [KEYS[2]]: "two" });
  });

  test("names that look numbered keep to their own facts", async () => {
    const memory = await openTestMemory();
    const file = (...lines: readonly string[]) => textFile(lines.map((line) => `- ${line}\n`).join(""));
    const text = ["Step: a", "Step: b", "Step 2: c"];
    await importNotes(memory, "markdown", [file(...text)]);
    const before = await factsOf(memory);
    expect(Object.keys(before)).toHaveLength(3);
    expect(await importNotes(memory, "markdown", [file("Step 2: c", "Step: b")])).toMatchObject({
      refreshed: 2,
    });
    expect(await factsOf(memory)).toEqual(before);
    const other = await openTestMemory();
    await importNotes(other, "markdown", [file("Step: a", "Step 2: c")]);
    await importNotes(other, "markdown", [file("Step: a", "Step: b", "Step 2: C")]);
    expect(Object.values(await factsOf(other))).toEqual(["Step: a", "Step 2: C", "Step: b"]);
  });

  test("nothing changes after any removals and any order", async () => {
    const texts = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1, maxLength: 12 });
    const changed = texts.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all)));
    await fc.assert(
      fc.asyncProperty(changed, async ([all, rest]) => {
        const memory = await openTestMemory();
        await importOf(memory, all);
        const before = await factsOf(memory);
        expect(await importOf(memory, rest)).toMatchObject({ stored: 0, replaced: 0, kept: 0 });
        expect(await factsOf(memory)).toEqual(before);
      }),
      { numRuns: 20 },
    );
  });
});

// verifies P-import-newer
describe("what somebody stores while notes are imported", () => {
  /** Before the import writes. */
  async function whileImporting(memory: OpenMemory, others: () => Promise<unknown>, options = {}) {
    const putMany = memory.store.putMany.bind(memory.store);
    const writing = vi.spyOn(memory.store, "putMany").mockImplementation(async (...asked) => {
      writing.mockRestore();
      await others();
      return putMany(...asked);
    });
    return importOf(memory, ["one", "TWO", "three"], options);
  }

  test.each(["newer", "keep"] as const)("stays as it is: %s", async (onConflict) => {
    const memory = await openTestMemory();
    const store = () => memory.storeFact("main", { key: KEYS[1], value: "Important: by hand" });
    expect(await whileImporting(memory, store, { onConflict })).toMatchObject({ stored: 2, kept: 1 });
    await expectFacts(memory, { ...THREE, [KEYS[1]]: "by hand" });
  });

  test("stays as it is where the import would have replaced a fact of an earlier one", async () => {
    const memory = await imported();
    const store = () => memory.storeFact("main", { key: KEYS[1], value: "Important: by hand" });
    expect(await whileImporting(memory, store)).toMatchObject({ replaced: 0, kept: 1 });
    await expectFacts(memory, { ...THREE, [KEYS[1]]: "by hand" }, 1);
  });

  test("is replaced if the operator wants that", async () => {
    const memory = await imported();
    const store = () => memory.storeFact("main", { key: KEYS[1], value: "Important: by hand" });
    const onConflict = "replace";
    expect(await whileImporting(memory, store, { onConflict })).toMatchObject({ replaced: 1, kept: 0 });
    await expectFacts(memory, { ...THREE, [KEYS[1]]: "TWO" }, 2);
  });
});

test("the last of two notes under one key counts", async () => {
  const memory = await openTestMemory();
  const file = textFile(
    JSON.stringify(["one", "two"].map((text) => ({ id: "a", memory: text }))),
    "mem0.json",
  );
  await importNotes(memory, "mem0", [file]);
  expect(Object.values(await factsOf(memory))).toContain("two");
});

test("memories of mem0 and observations of server-memory keep their keys, too", async () => {
  const memory = await openTestMemory();
  const graph = (...observations: readonly string[]) =>
    textFile(JSON.stringify({ type: "entity", name: "Ana", entityType: "person", observations }), "g.jsonl");
  const mem0 = (...texts: readonly string[]) =>
    textFile(JSON.stringify(texts.map((text) => ({ memory: `Likes: ${text}` }))), "mem0.json");
  await importNotes(memory, "server-memory", [graph("Likes: tea", "Likes: rain")]);
  await importNotes(memory, "mem0", [mem0("tea", "rain")]);
  const before = await factsOf(memory);
  expect(Object.keys(before)).toHaveLength(4);
  await importNotes(memory, "server-memory", [graph("Likes: rain")]);
  await importNotes(memory, "mem0", [mem0("rain")]);
  expect(await factsOf(memory)).toEqual(before);
});
