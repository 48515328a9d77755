/** What is not sure is shown as a possible hit if its chance is worth its place. */
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { openBenchMemory } from "../../bench/recall/bench-memory.ts";
import { readJsonLines } from "../../bench/recall/conversations.ts";
import { shownBy } from "../../bench/recall/possible-hits.ts";
import { readQuery } from "../../recall/analysis/query.ts";
import { excerptFor } from "../../recall/excerpt.ts";
import { LexicalIndex } from "../../recall/lexical/lexical-index.ts";
import { WEIGHTS } from "../../recall/weights.ts";
import {
  corpusEntry,
  type FactSketch,
  hitsOf,
  keysOf,
  NOW,
  OWNER,
  recallOf,
  shownOf,
  WritableSource,
} from "./corpus.ts";
import { between, directionOf, drawSpace } from "./meaning.ts";

const WIFI = { key: "home/wifi", value: "The wifi at home is called Kolibri." };
const CAR = { key: "car", value: "The car is a grey estate from 2019." };
/** Shares one word with WIFI, but asks for something that is not stored. */
const PASSWORD = "what is the password of the wifi upstairs";

async function possibleOf(facts: readonly FactSketch[], query: string, limit?: number) {
  const shown = await shownOf(facts, query, limit);
  expect(shown.every(({ possible }) => possible)).toBe(true);
  return shown;
}

describe("a possible hit", () => {
  test("is shown, marked, and below every sure score", async () => {
    const [hit, ...others] = await possibleOf([WIFI, CAR], PASSWORD);
    expect(hit).toMatchObject({ key: WIFI.key, possible: true });
    expect(hit?.score).toBeGreaterThan(0);
    expect(hit?.score).toBeLessThan(0.35);
    expect(others).toEqual([]);
    expect(await hitsOf([WIFI, CAR], PASSWORD)).toEqual([]);
  });

  test("comes beside a sure one if its chance is worth more, after it and not marked as sure", async () => {
    const guests = { key: "guests", value: "Guests ask for the wifi and for towels." };
    const shownWith = async (beside: number) => {
      const possible = { ...WEIGHTS.possible, beside };
      const recall = recallOf(new WritableSource([WIFI, guests, CAR]), { possible });
      const { results } = await recall.search(OWNER, { query: "home wifi called Kolibri" });
      return results.map((hit) => [hit.key, hit.possible]);
    };
    expect(await shownWith(WEIGHTS.possible.beside)).toEqual([[WIFI.key, undefined]]);
    expect(await shownWith(0)).toEqual([
      [WIFI.key, undefined],
      [guests.key, true],
    ]);
  });

  test("is not shown when only sure hits are wanted", async () => {
    const recall = recallOf(new WritableSource([WIFI, CAR]));
    expect(await recall.search(OWNER, { query: PASSWORD, recall: "quiet" })).toEqual({
      results: [],
      mode: "keyword",
    });
    const sure = { query: "home wifi" };
    expect(await recall.search(OWNER, { ...sure, recall: "quiet" })).toEqual(
      await recall.search(OWNER, sure),
    );
  });

  test.each([
    ["balanced", { 1: 1, 5: 1, 6: 3, 10: 3 }],
    ["eager", { 1: 1, 2: 2, 5: 5, 10: 5 }],
    ["quiet", { 1: 0, 5: 0, 10: 0 }],
  ] as const)("of many, only the best are shown, as in %s mode", async (mode, shownByLimit) => {
    const facts = ["attic", "cellar", "garage", "porch", "shed", "hall"].map((room, number) => ({
      key: room,
      value: `The ${room} has a lamp with ${number} bulbs.`,
    }));
    const query = "who repaired the lamp during the storm";
    const source = new WritableSource(facts);
    const all = (await recallOf(source).search(OWNER, { query, recall: "eager" })).results;
    expect(all.map(({ score }) => score)).toEqual(all.map(({ score }) => score).sort((a, b) => b - a));
    for (const [limit, shown] of Object.entries(shownByLimit)) {
      const asked = { query, limit: Number(limit) };
      const { results } = await recallOf(source).search(OWNER, { ...asked, recall: mode });
      expect(results).toEqual(all.slice(0, shown));
      expect((await recallOf(source, { mode }).search(OWNER, asked)).results).toEqual(results);
    }
  });

  test("the question's own mode overrides the memory's", async () => {
    const recall = recallOf(new WritableSource([WIFI, CAR]), { mode: "eager" });
    expect((await recall.search(OWNER, { query: PASSWORD, recall: "quiet" })).results).toEqual([]);
  });

  test("is not shown when its chance is too small", async () => {
    const both = { key: "both", value: "The lamp in the garage flickers." };
    const one = { key: "one", value: "The garage needs a gate." };
    const keysWith = async (least: number) => {
      const possible = { ...WEIGHTS.possible, least };
      const recall = recallOf(new WritableSource([both, one]), { possible });
      const query = "who repaired the lamp in the garage during the storm of May";
      return (await recall.search(OWNER, { query })).results.map(({ key }) => key);
    };
    expect(await keysWith(0)).toEqual(["both", "one"]);
    expect(await keysWith(WEIGHTS.possible.least)).toEqual(["both"]);
    expect(await keysWith(0.9)).toEqual([]);
  });

  test("represents all facts with the same text, even lines of a conversation", async () => {
    const value = "The wifi at home is called Kolibri.";
    const lines = [1, 2, 3].map((line) => ({ key: `talk/${line}`, value, createdAt: NOW - line * 60_000 }));
    const other = { key: "office", value: "The wifi at the office is called Falke." };
    const facts = [...lines, { key: "copy", value: `${value.toUpperCase()}!` }, other];
    const shown = await possibleOf(facts, PASSWORD);
    expect(shown.filter(({ key }) => key !== "office")).toHaveLength(1);
  });

  test("needs a content word", async () => {
    for (const query of ["what is this about?", "the of and", "???", ""]) {
      expect(await shownOf([WIFI, CAR], query)).toEqual([]);
    }
  });

  test("is never expired or removed", async () => {
    expect(await shownOf([{ ...WIFI, expiresAt: NOW }], PASSWORD)).toEqual([]);
    const source = new WritableSource([WIFI]);
    const recall = recallOf(source);
    expect((await recall.search(OWNER, { query: PASSWORD })).results).toHaveLength(1);
    source.remove(WIFI.key);
    expect((await recall.search(OWNER, { query: PASSWORD })).results).toEqual([]);
  });

  test("is explained like a sure one", async () => {
    const recall = recallOf(new WritableSource([WIFI]));
    const [hit] = (await recall.search(OWNER, { query: PASSWORD, explain: true })).results;
    expect(hit?.parts?.fewWords).toEqual({ value: 1, weight: -(WEIGHTS.fact.doubt.fewWords ?? 0) });
  });

  test("is shown from a partial index, with a note that there may be more", async () => {
    const source = new WritableSource([WIFI, CAR]);
    const recall = recallOf(source, { patienceMs: 0, batchSize: 1 });
    source.gate = new Promise(() => {});
    source.gatesFirstPage = false;
    const answer = await recall.search(OWNER, { query: PASSWORD });
    expect(answer).toMatchObject({ incomplete: true, results: [{ key: WIFI.key, possible: true }] });
    expect(answer.reason).toMatch(/^Still indexing/);
  });
});

describe("semantic search", () => {
  const question = "where do grandparents spend winter";
  const value = "My parents' parents fly south in November.";
  const nearBy = (share: number) => {
    const places = { [value]: between(directionOf(question), directionOf("else"), share) };
    const source = new WritableSource([{ key: "family", value }, CAR]);
    return recallOf(source, { semantic: drawSpace({ places }).index });
  };

  test("a rather similar text is a possible hit, without a shared word", async () => {
    const answer = await nearBy(0.6).search(OWNER, { query: question });
    expect(answer).toMatchObject({ mode: "hybrid", results: [{ key: "family", possible: true }] });
    expect(answer.results[0]?.score).toBeLessThan(0.35);
    expect((await nearBy(0.6).search(OWNER, { query: question, recall: "quiet" })).results).toEqual([]);
  });

  test("a very similar text is a sure hit", async () => {
    const [hit] = (await nearBy(0.2).search(OWNER, { query: question })).results;
    expect(hit).toMatchObject({ key: "family" });
    expect(hit).not.toHaveProperty("possible");
  });
});

describe("the excerpt of a possible hit", () => {
  const filler = "Nothing of note happened on that day either. ".repeat(12);

  test("shows the matching words, in at most 100 characters, with its own lines", async () => {
    const value = `${filler}\n\nThe wifi upstairs belongs to the neighbours.\n${filler}`;
    const [hit] = await possibleOf([{ key: "log", value }], "what did the electrician say about the wifi");
    expect(hit?.snippet).toContain("The wifi upstairs belongs to the neighbours.");
    expect(hit?.snippet.length).toBeLessThanOrEqual(100);
    const lines = `## log\n\n${value}`.split("\n");
    const cited = lines.slice((hit?.startLine ?? 0) - 1, hit?.endLine).join("\n");
    expect(cited).toContain(hit?.snippet.replace(/^…|…$/g, ""));
    expect(hit?.snippet).toMatch(/^….*…$/s);
  });

  test.each([
    [
      "which book do we read in December",
      "Book club: first Tuesday at Anna's place, everyone brings snacks and a bottle; December's book is The Dispossessed.",
      "December's book is The Dispossessed",
    ],
    [
      "where is the spare fuse",
      "The fuse box is behind the coats in the hallway, next to the meter, and nobody may block it, spare fuses lie in the tin above it.",
      "spare fuses lie in the tin above it",
    ],
    [
      "what does the electrician charge",
      "The kitchen was rewired in May. The electrician who did it charges 64 euros an hour. He comes on weekdays only, and never in August.",
      "The electrician who did it charges 64 euros an hour.",
    ],
    [
      "what does Ilka drink",
      "On visits there is always cake from the bakery at the corner, and nobody minds. Ilka drinks only rooibos tea, without milk, and she likes it strong.",
      "Ilka drinks only rooibos tea",
    ],
  ])("has the answer to: %s", (query, value, answer) => {
    const index = new LexicalIndex();
    index.add(corpusEntry({ key: "note", value }));
    const [document] = [...index.documents()];
    const passage = index.passageOf(document?.units[0] ?? -1);
    if (document === undefined || passage === undefined) return expect.unreachable();
    const { snippet } = excerptFor(readQuery(query), index)(document, passage, "possible");
    expect(snippet).toContain(answer);
    expect(snippet.length).toBeLessThanOrEqual(100);
  });

  test("keeps some text before the word if there are no sentences", async () => {
    const value = `${"walnut ".repeat(60)}our new wifi router hums ${"walnut ".repeat(20)}`;
    const [hit] = await possibleOf([{ key: "log", value }], "what did the electrician say about the wifi");
    expect(hit?.snippet).toContain("our new wifi router hums");
    expect(hit?.snippet.length).toBeLessThanOrEqual(100);
  });

  test.each([
    ["no spaces", "会议室在三楼靠近电梯的那一边".repeat(30), "会议室的密码是什么呢请告诉我"],
    ["pairs of surrogates", `wifi ${"🚀".repeat(300)}`, "what did the electrician say about the wifi"],
  ])("cuts between characters: %s", async (_name, value, query) => {
    for (const { snippet } of await shownOf([{ key: "k", value }], query)) {
      expect(snippet.length).toBeLessThanOrEqual(100);
      expect(snippet.isWellFormed()).toBe(true);
    }
  });
});

interface EverydayQuestion {
  readonly question: string;
  readonly expect?: string;
}

const DATA = new URL("../data/", import.meta.url);
const everyday = readJsonLines<FactSketch>(fileURLToPath(new URL("everyday-facts.jsonl", DATA)));
const questions = readJsonLines<EverydayQuestion>(fileURLToPath(new URL("everyday-questions.jsonl", DATA)));
const answerable = questions.filter(({ expect }) => expect !== undefined);

describe("natural questions about everyday facts", () => {
  test("nearly all show the fact with only keyword search", async () => {
    const missed: string[] = [];
    for (const { question, expect } of answerable) {
      const keys = (await shownOf(everyday, question)).slice(0, 3).map(({ key }) => key);
      if (!keys.includes(expect ?? "")) missed.push(question);
    }
    expect(missed.length, missed.join("\n")).toBeLessThanOrEqual(0.05 * answerable.length);
  });

  test.each([1, 3, 8])("also in a memory of %i facts", async (size) => {
    const missed: string[] = [];
    for (const { question, expect } of answerable) {
      const others = everyday.filter(({ key }) => key !== expect).slice(0, size - 1);
      const facts = [...others, ...everyday.filter(({ key }) => key === expect)];
      const keys = (await shownOf(facts, question)).map(({ key }) => key);
      if (!keys.includes(expect ?? "")) missed.push(question);
    }
    expect(missed.length, missed.join("\n")).toBeLessThanOrEqual(0.05 * answerable.length);
  });

  test("unanswerable ones get no sure hit and few possible ones", async () => {
    let shown = 0;
    for (const { question } of questions.filter(({ expect }) => expect === undefined)) {
      expect(await keysOf(everyday, question)).toEqual([]);
      shown += (await shownOf(everyday, question)).length;
    }
    expect(shown).toBeLessThanOrEqual(12);
  });

  test("the curve of the benchmark uses recall's own cut-off", async () => {
    const memory = await openBenchMemory();
    try {
      await memory.fill("main", everyday);
      for (const { question } of questions) {
        const candidates = await memory.candidates("main", question, 10);
        const shown = await memory.shown("main", question, 10);
        const cut = shownBy(candidates, WEIGHTS.possible);
        expect(cut.map(({ key }) => key)).toEqual(shown.map(({ key }) => key));
      }
    } finally {
      await memory.close();
    }
  });
});
