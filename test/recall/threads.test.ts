/** Turns of a conversation are scored together; facts that only share a folder, numbers or an import are not. */
import { describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { openWithClock, NOW as STORED_AT } from "../app/fixtures/memories.ts";
import { importLines } from "../transfer/import-lines.ts";
import { type FactSketch, hitsOf, keysOf, NOW } from "./corpus.ts";

const TALK = [
  "Mara: Did the boat survive the storm?",
  "Iven: Only the mast broke, the hull is fine.",
  "Mara: And the concert, how was it?",
  "Iven: Loud! We stood beside the drummer.",
  "Mara: Did you take your sister along?",
  "Iven: Yes, she brought her new trumpet.",
];

function talk(gapMs: number, keyOf: (place: number) => string): readonly FactSketch[] {
  return TALK.map((value, place) => ({
    key: keyOf(place),
    value,
    tags: [value.split(":")[0]?.toLowerCase() ?? ""],
    createdAt: NOW - 86_400_000 + place * gapMs,
    conversationId: "call/2026-03",
  }));
}

function plain(gapMs: number, keyOf: (place: number) => string): readonly FactSketch[] {
  return talk(gapMs, keyOf).map(({ conversationId: _, ...fact }) => fact);
}

const numbered = (place: number) => `call/2026-03/line:${place + 1}`;

describe("a conversation", () => {
  test("the answer to a question is found by the question's words", async () => {
    const keys = await keysOf(talk(20_000, numbered), "What did Iven say of the boat after the storm?");
    expect(keys.slice(0, 2)).toContain(numbered(1));
  });

  test("a line without a match is not found through its neighbours", async () => {
    const keys = await keysOf(talk(20_000, numbered), "boat storm survive");
    expect(keys).not.toContain(numbered(2));
  });

  test("about another subject does not match", async () => {
    expect(await keysOf(talk(20_000, numbered), "What is the blood type of Ottoline's grandfather?")).toEqual(
      [],
    );
  });
});

describe("each fact must match alone if nothing says that the facts are a conversation:", () => {
  const question = "What did Iven say of the boat after the storm?";
  const HOUR_MS = 3_600_000;

  test.each<[string, readonly FactSketch[]]>([
    ["numbers in a folder", plain(20_000, (place) => `fact/${place + 1}`)],
    ["numbers of a day", plain(20_000, (place) => `2026-11-28/${place + 1}`)],
    ["numbered lines of a call", plain(20_000, numbered)],
    ["days", plain(20_000, (place) => `diary/2026-03-0${place + 1}`)],
    [
      "one tag for all",
      plain(20_000, numbered).map((fact) => ({ ...fact, tags: ["import:jsonl-2026-03-01-3fa9c1"] })),
    ],
    [
      "another conversation for each",
      talk(20_000, numbered).map((fact) => ({ ...fact, conversationId: fact.key })),
    ],
    ["turns of one conversation that are hours apart", talk(HOUR_MS, numbered)],
  ])("%s", async (_name, facts) => {
    expect(await keysOf(facts, question)).not.toContain(facts[1]?.key);
  });
});

test.each<[string, number, (place: number) => string]>([
  ["whatever the keys are", 20_000, (place) => `${"qwerty"[place]}`],
  ["imported without times", 0, numbered],
])("turns of one conversation are read together, %s", async (_name, gapMs, keyOf) => {
  const keys = await keysOf(talk(gapMs, keyOf), "What did Iven say of the boat after the storm?");
  expect(keys.slice(0, 2)).toContain(keyOf(1));
});

describe("a memory that somebody fills", () => {
  const question = "What did Iven say of the boat after the storm?";
  const line = (value: string, place: number) => ({
    ...{ key: `call/${place + 1}`, value },
    created_at: new Date(STORED_AT - 86_400_000 + place * 20_000).toISOString(),
  });
  const isFound = async (memory: OpenMemory) => {
    const { results } = await memory.search("main", { query: question });
    return results.some(({ key }) => key === "call/2");
  };
  const filled = async (memory: OpenMemory, lines: readonly object[]) => {
    const input = (async function* () {
      for (const one of lines) yield Buffer.from(`${JSON.stringify(one)}\n`);
    })();
    expect(await importLines({ memory, subject: "main", input })).toMatchObject({ refused: [] });
  };

  test("takes imported lines for a conversation if they say so, also when imported again", async () => {
    const { memory, clock } = await openWithClock();
    await filled(memory, TALK.map(line));
    expect(await isFound(memory)).toBe(false);
    clock.pass(60_000);
    await filled(
      memory,
      TALK.map((value, place) => ({ ...line(value, place), conversation_id: "call" })),
    );
    expect(await isFound(memory)).toBe(true);
    expect((await memory.getFact("main", { key: "call/2" }))?.conversationId).toBe("call");
  });

  test("takes stores for one in the same way, until the fact is stored as a plain one", async () => {
    const { memory, clock } = await openWithClock();
    for (const [place, value] of TALK.entries()) {
      await memory.storeFact("main", { key: `call/${place + 1}`, value, conversationId: "call" });
      clock.pass(20_000);
    }
    expect(await isFound(memory)).toBe(true);
    await memory.storeFact("main", { key: "call/2", value: TALK[1] ?? "" });
    expect(await isFound(memory)).toBe(false);
  });
});

test("a line that matches through its neighbours scores below one that matches alone", async () => {
  const facts = [
    ...talk(20_000, numbered),
    { key: "log", value: "The mast of the boat broke in the storm, says Iven." },
  ];
  const hits = await hitsOf(facts, "Iven: mast of the boat broke in the storm");
  expect(hits[0]?.key).toBe("log");
  expect(hits.find(({ key }) => key === numbered(1))?.score ?? 0).toBeLessThan(hits[0]?.score ?? 0);
});
