/** What memory knows under another key, or what contradicts it: said before an import, and kept, skipped or superseded. */
import { describe, expect, test, vi } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import type { ImportResult } from "../../app/transfer/import-counts.ts";
import { DAY_MS, NOW, openTestMemory, TestClock } from "../app/fixtures/memories.ts";
import { GROWN_FROM, growMemory } from "./grown-memory.ts";
import { factsOf, importNotes, textFile } from "./notes.ts";

const importText = (memory: OpenMemory, text: string, options = {}) =>
  importNotes(memory, "markdown", [textFile(text)], options);
const importMem0 = (memory: OpenMemory, memories: readonly object[], options = {}) =>
  importNotes(memory, "mem0", [textFile(JSON.stringify(memories), "mem0.json")], options);
const importLines = (memory: OpenMemory, lines: readonly object[], options = {}) =>
  importNotes(
    memory,
    "jsonl",
    [textFile(lines.map((line) => JSON.stringify(line)).join("\n"), "facts.jsonl")],
    options,
  );
const knownIn = ({ foreseen }: ImportResult) =>
  foreseen?.known.map(({ fact, known }) => `${fact.key} ${known.relation} ${known.key}`);
const formerOf = async (memory: OpenMemory, key: string) =>
  (await memory.factHistory("main", { key }))?.former.map((former) => `${former.key}: ${former.value}`);
const withText = async (memory: OpenMemory, pattern: RegExp) =>
  Object.entries(await factsOf(memory)).filter(([, value]) => pattern.test(value));

async function memoryWith(facts: Readonly<Record<string, string>>): Promise<OpenMemory> {
  const memory = await openTestMemory();
  for (const [key, value] of Object.entries(facts)) await memory.storeFact("main", { key, value });
  return memory;
}

test("what is pinned is not superseded by an import", async () => {
  const memory = await memoryWith({ allergy: "Allergic to penicillin", standup: "The standup is at 9:30" });
  for (const key of ["allergy", "standup"])
    await memory.pinFact("main", { key }, { surface: "cli", isPerson: true });
  const text = "- Allergic to penicillin.\n- The standup is at 10:00\n";
  expect(await importText(memory, text, { onKnown: "supersede" })).toMatchObject({
    stored: 0,
    superseded: 0,
  });
  expect(await factsOf(memory)).toEqual({
    allergy: "Allergic to penicillin",
    standup: "The standup is at 9:30",
  });
});

describe("before an import, memory says", () => {
  test("what it knows under another key, what contradicts it, and what is near, and changes nothing", async () => {
    const facts = {
      allergy: "Allergic to penicillin",
      standup: "The standup is at 9:30",
      deploys: "Deploys go through staging first",
      money: "US customers pay in dollars",
    };
    const memory = await memoryWith(facts);
    const text = `- **allergic** to \`penicillin\`.\n- The standup is at 10:00\n- Deploys of the website go through staging\n- Client Karst pays late, usually after the second reminder\n`;
    const dry = await importText(memory, text, { dryRun: true });
    expect(knownIn(dry)).toEqual([
      "notes/notes/allergic-to-penicillin same allergy",
      "notes/notes/the-standup-is-at-10-00 contradict standup",
      "notes/notes/deploys-of-the-website-go-through near deploys",
    ]);
    expect(dry).toMatchObject({ stored: 4, superseded: 0 });
    expect(dry.foreseen?.known[0]?.known).toMatchObject({ value: "Allergic to penicillin", updatedAt: NOW });
    expect(await factsOf(memory)).toEqual(facts);
  });

  test("nothing about what is in the import itself, or was imported from the same place", async () => {
    const memory = await openTestMemory();
    const text = "## One\n- Build: make all\n## Two\n- Build: make all\n";
    expect(knownIn(await importText(memory, text, { dryRun: true }))).toEqual([]);
    await importText(memory, text);
    for (const onKnown of ["skip", "supersede"] as const) {
      expect(await importText(memory, text, { onKnown })).toMatchObject({ refreshed: 2, superseded: 0 });
      expect(Object.keys(await factsOf(memory))).toHaveLength(2);
    }
  });

  test("nothing about single words under keys of different things", async () => {
    const memory = await memoryWith({ "tools/editor": "vim" });
    const lines = [
      { key: "tools/pager", value: "vim" },
      { key: "shell", value: "Vim" },
      { key: "my/editor", value: "Vim" },
    ];
    expect(knownIn(await importLines(memory, lines, { dryRun: true }))).not.toContain(
      "shell same tools/editor",
    );
    expect(knownIn(await importLines(memory, lines, { dryRun: true }))).toContain(
      "my/editor same tools/editor",
    );
  });

  test("all facts, if asked", async () => {
    const memory = await openTestMemory();
    const text = Array.from({ length: 30 }, (_, at) => `- Note ${at}: text\n`).join("");
    const shown = async (options: object) =>
      (await importText(memory, text, { dryRun: true, ...options })).foreseen?.first.length;
    expect([await shown({}), await shown({ showAll: true })]).toEqual([10, 30]);
  });
});

describe("a fact that memory knows or contradicts", () => {
  test("is kept beside it, unless the person says otherwise", async () => {
    const memory = await memoryWith({ allergy: "Allergic to penicillin" });
    expect(await importText(memory, "- allergic to penicillin\n")).toMatchObject({
      stored: 1,
      superseded: 0,
    });
    expect(await withText(memory, /penicillin/)).toHaveLength(2);
  });

  test("is skipped, and counted with the reason; what is near is not", async () => {
    const memory = await memoryWith({
      allergy: "Allergic to penicillin",
      standup: "The standup is at 9:30",
      deploys: "Deploys go through staging first",
    });
    const before = await factsOf(memory);
    const text =
      "- allergic to penicillin\n- The standup is at 10:00\n- Deploys of the website go through staging\n";
    const leftOut = { "known under another key": 1, "contradicting what memory has": 1 };
    const skipping = { onKnown: "skip" } as const;
    expect(await importText(memory, text, { ...skipping, dryRun: true })).toMatchObject({
      stored: 1,
      leftOut,
    });
    expect(await importText(memory, text, skipping)).toMatchObject({ stored: 1, leftOut });
    expect(await factsOf(memory)).toEqual({
      ...before,
      "notes/notes/deploys-of-the-website-go-through": "Deploys of the website go through staging",
    });
  });

  test("supersedes the older one, which becomes its history", async () => {
    const memory = await memoryWith({ standup: "The standup is at 9:30", "old/standup": "Standup at 9:45" });
    const text = "- The standup is at 10:00\n";
    const superseding = { onKnown: "supersede" } as const;
    const counts = { stored: 1, superseded: 2 };
    expect(await importText(memory, text, { ...superseding, dryRun: true })).toMatchObject(counts);
    expect(await importText(memory, text, superseding)).toMatchObject(counts);
    const key = "notes/notes/the-standup-is-at-10-00";
    expect(await factsOf(memory)).toEqual({ [key]: "The standup is at 10:00" });
    expect((await formerOf(memory, key))?.toSorted()).toEqual([
      "old/standup: Standup at 9:45",
      "standup: The standup is at 9:30",
    ]);
    // The same again changes nothing.
    expect(await importText(memory, text, superseding)).toMatchObject({ refreshed: 1, superseded: 0 });
  });

  test("does not supersede what memory has from a later time, and is left out then", async () => {
    const memory = await memoryWith({ standup: "The standup is at 9:30" });
    const older = [{ id: "a", memory: "The standup is at 10:00", updated_at: "2026-10-03T10:00:00Z" }];
    const options = { onKnown: "supersede" } as const;
    const leftOut = { "contradicting what memory has": 1 };
    expect(await importMem0(memory, older, options)).toMatchObject({ stored: 0, superseded: 0, leftOut });
    expect(await factsOf(memory)).toEqual({ standup: "The standup is at 9:30" });
  });

  test("replaces its own former text, even if another fact says the same", async () => {
    const memory = await openTestMemory();
    await importText(memory, "- Standup: at 9:30 in room one\n");
    await memory.storeFact("main", { key: "mine", value: "Standup: at 10:00 in room one" });
    const edited = "- Standup: at 10:00 in room one\n";
    expect(await importText(memory, edited, { onKnown: "skip" })).toMatchObject({ replaced: 1, stored: 0 });
    expect(Object.values(await factsOf(memory))).toEqual([
      "Standup: at 10:00 in room one",
      "Standup: at 10:00 in room one",
    ]);
  });

  test("of a line with a history keeps its history, and supersedes nothing", async () => {
    const memory = await memoryWith({ mine: "Allergic to penicillin" });
    const time = "2026-11-01T00:00:00Z";
    const former = { key: "a", value: "before", category: "x", tags: [], created_at: time, updated_at: time };
    const line = { key: "a", value: "allergic to penicillin", history: [{ ...former, joined: false }] };
    expect(await importLines(memory, [line], { onKnown: "supersede" })).toMatchObject({ superseded: 0 });
    expect(await formerOf(memory, "a")).toEqual(["a: before"]);
    expect(Object.keys(await factsOf(memory))).toEqual(["a", "mine"]);
  });
});

// verifies P-import-known
describe("what somebody changed since the preview", () => {
  const text = "- allergic to penicillin\n";
  const KEY = "notes/notes/allergic-to-penicillin";

  test.each(["skip", "supersede"] as const)("is no reason to %s", async (onKnown) => {
    const memory = await memoryWith({ mine: "Allergic to penicillin" });
    const shown = (await importText(memory, text, { dryRun: true })).foreseen?.shown;
    await memory.storeFact("main", { key: "mine", value: "allergic to Penicillin and nuts" });
    const result = await importText(memory, text, { onKnown, ...(shown && { shown }) });
    expect(result).toMatchObject({ stored: 1, superseded: 0 });
    expect(await factsOf(memory)).toEqual({
      mine: "allergic to Penicillin and nuts",
      [KEY]: "allergic to penicillin",
    });
  });

  test("in the last moment stays beside the imported fact", async () => {
    const memory = await memoryWith({ mine: "Allergic to penicillin" });
    const put = memory.store.put.bind(memory.store);
    const putting = vi.spyOn(memory.store, "put").mockImplementation(async (...asked) => {
      putting.mockRestore();
      await memory.storeFact("main", { key: "mine", value: "Allergic to nuts" });
      return put(...asked);
    });
    expect(await importText(memory, text, { onKnown: "supersede" })).toMatchObject({
      stored: 1,
      superseded: 0,
    });
    expect(await factsOf(memory)).toEqual({ mine: "Allergic to nuts", [KEY]: "allergic to penicillin" });
  });
});

describe("a memory grown from four imports", () => {
  test("has an allergy four times if nobody chooses", async () => {
    const memory = await openTestMemory();
    await growMemory(memory);
    expect(await withText(memory, /allergy/i)).toHaveLength(4);
  });

  test.each(["skip", "supersede"] as const)("has it once after: %s", async (onKnown) => {
    const clock = new TestClock();
    const memory = await openTestMemory({ now: clock.now });
    const results = await growMemory(memory, { onKnown });
    expect(await withText(memory, /allergy/i)).toHaveLength(1);
    expect(results.every(({ refusedCount }) => refusedCount === 0)).toBe(true);
    clock.pass(DAY_MS);
    const before = await factsOf(memory);
    await growMemory(memory, { onKnown });
    expect(await withText(memory, /allergy/i)).toHaveLength(1);
    expect(Object.keys(await factsOf(memory)).sort()).toEqual(Object.keys(before).sort());
  });

  // verifies P-import-known
  test("is as it was before, after the imports that superseded are forgotten", async () => {
    const memory = await openTestMemory();
    const [first, ...others] = GROWN_FROM.filter(([format]) => format !== "jsonl");
    await growMemory(memory, {}, first && [first]);
    const facts = async () => {
      const { facts: all } = await memory.listFacts("main", { limit: 1_000 });
      return all.map(({ revision: _, ...fact }) => fact).toSorted((a, b) => (a.key < b.key ? -1 : 1));
    };
    const before = await facts();
    const results = await growMemory(memory, { onKnown: "supersede" }, others);
    expect(results.map(({ superseded }) => superseded)).toEqual([3, 1]);
    for (const { importId } of results.toReversed())
      await memory.forget("main", { scope: `import:${importId}` });
    expect(await facts()).toEqual(before);
  });
});
