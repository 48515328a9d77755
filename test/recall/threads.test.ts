/** Consecutive lines are scored together; facts that only share a folder or an import are not. */
import { describe, expect, test } from "vitest";
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
  }));
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

describe("each fact must match alone if the facts are not a conversation:", () => {
  const question = "What did Iven say of the boat after the storm?";

  test.each<[string, readonly FactSketch[]]>([
    ["written at the same time, by an import", talk(0, numbered)],
    ["hours apart", talk(3_600_000, numbered)],
    ["keys that are not consecutive", talk(20_000, (place) => `call/${"abcdef"[place]}`)],
    ["keys that are days", talk(20_000, (place) => `diary/2026-03-0${place + 1}`)],
    ["keys far apart", talk(20_000, (place) => `call/${place * 100}`)],
    ["keys without a common folder", talk(20_000, (place) => `line${place}`)],
  ])("%s", async (_name, facts) => {
    expect(await keysOf(facts, question)).not.toContain(facts.find((_, place) => place === 1)?.key);
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
