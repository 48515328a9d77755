/** Properties that hold for any facts and any question. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readQuery } from "../../recall/analysis/query.ts";
import { LexicalIndex } from "../../recall/lexical/lexical-index.ts";
import { LexicalSearch } from "../../recall/lexical/lexical-search.ts";
import type { RecallHit } from "../../recall/search-contract.ts";
import {
  corpusEntry,
  type FactSketch,
  idOf,
  NOW,
  OWNER,
  recallOf,
  SOME_WORDS,
  shownOf,
  WritableSource,
} from "./corpus.ts";

/** Mostly ordinary words, sometimes any text. */
const words = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom(...SOME_WORDS),
    },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 12 }) },
  ),
  { maxLength: 30 },
);
const text = words.map((list) => list.join(" "));
const value = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 1, arbitrary: text.map((some) => `${some}\n\n`.repeat(60)) },
);
const facts = fc.uniqueArray(
  fc.record({ key: fc.constantFrom("a", "b/1", "b/2", "b/3", "c/d/e", "Ключ", "鍵", "x_y-z"), value }),
  { selector: ({ key }) => key, maxLength: 8 },
);

describe("for any facts and any question", () => {
  test("hits are within their limits", async () => {
    await fc.assert(
      fc.asyncProperty(
        facts,
        fc.oneof(text, fc.string({ unit: "binary" })),
        fc.integer({ min: 1, max: 50 }),
        async (some, query, limit) => {
          const hits = await shownOf(some, query, limit);
          expect(hits.length).toBeLessThanOrEqual(limit);
          expectSureOrPossible(hits);
          expect(new Set(hits.map(({ path }) => path)).size).toBe(hits.length);
          for (const [place, hit] of hits.entries()) {
            expect(hit.score).toBeGreaterThan(0);
            expect(hit.score).toBeLessThanOrEqual(1);
            expect(hit.score).toBeLessThanOrEqual(hits[place - 1]?.score ?? 1);
            expect(hit.snippet.length).toBeLessThanOrEqual(hit.possible ? 200 : 700);
            expect(hit.snippet.isWellFormed()).toBe(true);
            expectLinesToMatch(some, hit);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test("the same question gives the same answer", async () => {
    await fc.assert(
      fc.asyncProperty(facts, text, async (some, query) => {
        expect(await shownOf(some, query)).toEqual(await shownOf(some, query));
      }),
      { numRuns: 50 },
    );
  });
});

/** Hits are either all sure or all possible. Possible hits are few, and score below every threshold for sure ones. */
function expectSureOrPossible(hits: readonly RecallHit[]): void {
  const possible = hits.filter((hit) => hit.possible);
  if (possible.length === 0) return;
  expect(hits.slice(-possible.length)).toEqual(possible);
  expect(hits.length).toBeLessThanOrEqual(3);
  for (const { score, possible: isPossible } of hits) expect(score < 0.35).toBe(isPossible === true);
}

function expectLinesToMatch(
  some: readonly FactSketch[],
  hit: { key: string; snippet: string; startLine: number; endLine: number },
): void {
  const fact = some.find(({ key }) => key === hit.key);
  const lines = corpusEntry(fact ?? { key: hit.key, value: "" }).chunk.content.split("\n");
  expect(hit.startLine).toBeGreaterThanOrEqual(1);
  expect(hit.endLine).toBeLessThanOrEqual(lines.length);
  expect(hit.endLine).toBeGreaterThanOrEqual(hit.startLine);
  expect(lines.slice(hit.startLine - 1, hit.endLine).join("\n")).toContain(hit.snippet.replace(/^…|…$/g, ""));
}

type Step =
  | { readonly kind: "put"; readonly key: string; readonly value: string }
  | { readonly kind: "remove"; readonly key: string };

const key = fc.constantFrom("a", "b", "c/1", "c/2", "c/3");
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("put" as const), key, value }),
    fc.record({ kind: fc.constant("remove" as const), key }),
  ),
  { maxLength: 30 },
);

describe("for any sequence of writing and removing, the index", () => {
  test("gives the same answers as an index built from the remaining facts", async () => {
    await fc.assert(
      fc.asyncProperty(steps, text, async (history, query) => {
        const source = new WritableSource();
        const recall = recallOf(source);
        for (const step of history) {
          apply(source, step);
          await recall.warm(OWNER);
        }
        const { results } = await recall.search(OWNER, { query });
        expect(results).toEqual(await shownOf(leftOf(history), query));
      }),
      { numRuns: 100 },
    );
  });

  test("keeps nothing of removed facts: no term, no text, no posting", () => {
    fc.assert(
      fc.property(steps, (history) => {
        const index = new LexicalIndex();
        for (const step of history) {
          if (step.kind === "put") index.add(corpusEntry({ key: step.key, value: step.value }));
          else index.remove(idOf(step.key));
        }
        for (const { key: left } of leftOf(history)) index.remove(idOf(left));
        expect(index.documentCount).toBe(0);
        expect(index.terms.size).toBe(0);
        for (let unit = 0; unit < index.unitEnd; unit += 1) {
          expect(index.documentOf(unit)).toBeUndefined();
          expect(index.passageOf(unit)).toBeUndefined();
          expect(index.bodyTerms(unit).every((term) => term === 0)).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });
});

function apply(source: WritableSource, step: Step): void {
  if (step.kind === "put") source.put({ key: step.key, value: step.value });
  else source.remove(step.key);
}

function leftOf(history: readonly Step[]): readonly FactSketch[] {
  const left = new Map<string, FactSketch>();
  for (const step of history) {
    if (step.kind === "put") left.set(step.key, { key: step.key, value: step.value });
    else left.delete(step.key);
  }
  return [...left.values()];
}

test("within a batch, a word that was gone for a while is found again, under its own number", () => {
  const index = new LexicalIndex();
  index.add(corpusEntry({ key: "a", value: "zebra" }));
  index.remove(idOf("a"));
  index.add(corpusEntry({ key: "b", value: "walrus" }));
  index.add(corpusEntry({ key: "c", value: "zebra" }));
  const found = (word: string) =>
    new LexicalSearch().candidates(readQuery(word), index, NOW).map(({ document }) => document.key);
  expect([found("zebra"), found("walrus")]).toEqual([["c"], ["b"]]);
});

test.each([1, 700])("beside %d facts, a typing error is found, and a forgotten word is not", (others) => {
  const index = new LexicalIndex();
  index.add(corpusEntry({ key: "a", value: "The harbour master." }));
  for (let fact = 0; fact < others; fact += 1) {
    index.add(corpusEntry({ key: `k${fact}`, value: `Number${fact} is harmless.` }));
  }
  const found = () =>
    new LexicalSearch().candidates(readQuery("harbuor"), index, NOW).map(({ document }) => document.key);
  expect(found()).toEqual(["a"]);
  index.remove(idOf("a"));
  expect(found()).toEqual([]);
});

test("writing and removing the same facts repeatedly does not grow the index", () => {
  const index = new LexicalIndex();
  const round = (number: number): void => {
    for (let fact = 0; fact < 50; fact += 1) {
      index.add(
        corpusEntry({
          key: `k${fact}`,
          value: `word${number} other${fact} ${"more ".repeat((number * fact) % 40)}`,
        }),
      );
    }
    for (let fact = 0; fact < 50; fact += 1) index.remove(idOf(`k${fact}`));
  };
  for (let number = 0; number < 20; number += 1) round(number);
  const before = index.sizeBytes;
  for (let number = 0; number < 60; number += 1) round(number);
  expect(index.sizeBytes).toBeLessThanOrEqual(before * 1.5);
});

test("long and hostile questions are answered quickly", () => {
  const index = new LexicalIndex();
  for (let number = 0; number < 2_000; number += 1) {
    index.add(
      corpusEntry({
        key: `notes/${number}`,
        value: `The ${number % 50} lamp of room ${number} is ${number % 3 ? "red" : "blue"}.`,
      }),
    );
  }
  const search = new LexicalSearch();
  const questions = [
    "lamp room red ".repeat(800),
    Array.from({ length: 2_000 }, (_, number) => `unknownword${number}`).join(" "),
    "a".repeat(10_240),
    "a-".repeat(5_000),
    "会".repeat(10_000),
    "'".repeat(10_000),
    "https://".repeat(1_200),
    "\u0301".repeat(10_000),
    "🚀".repeat(5_000),
    "\ud800".repeat(5_000),
    `${"(".repeat(5_000)}${")".repeat(5_000)}`,
  ];
  for (const question of questions) {
    const started = process.cpuUsage();
    search.candidates(readQuery(question), index, NOW);
    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1_000, question.slice(0, 20)).toBeLessThan(250);
  }
});
