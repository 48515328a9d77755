/** Similar facts are those of a plain search that scores, judges and compares everything. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { madeFact } from "../../bench/search/made-facts.ts";
import { readPairs } from "../../bench/sets/pairs-set.ts";
import { readQuery } from "../../recall/analysis/query.ts";
import { Claim, type FactText } from "../../recall/claims.ts";
import { relationOf } from "../../recall/conflicts.ts";
import { LexicalIndex } from "../../recall/lexical/lexical-index.ts";
import { LexicalSearch } from "../../recall/lexical/lexical-search.ts";
import {
  bestPerDocument,
  mostCertain,
  type PassageSimilarities,
  type ScoredCandidate,
  scoreCandidates,
} from "../../recall/scoring.ts";
import { alikeTo, topicOf } from "../../recall/topic.ts";
import { corpusEntry, type FactSketch, NOW, OWNER, recallOf, WritableSource } from "./corpus.ts";

const LIMIT = 10;

const PAIRS = readPairs().flatMap(({ a, b }) => [a.value, b.value]);
const WORDS =
  "copper lamp deploying deployed Zürich 会议室 v1.2.3 a/b-c the 12 we our my I Anna Anna's dad when what not never moved" +
  " deploy ship vim editor standup 9:30 10:00 Monday March Gärtner gaertner apiCall e-mail data base US 6GB lives felt user";

const words = fc.constantFrom(...WORDS.split(" "));
const value = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...PAIRS) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 40 }).map((number) => madeFact(number).value) },
  {
    weight: 4,
    arbitrary: fc.array(words, { minLength: 1, maxLength: 15 }).map((list) => list.join(" ")),
  },
  {
    weight: 1,
    arbitrary: fc.array(words, { minLength: 150, maxLength: 250 }).map((list) => list.join(". ")),
  },
);
/** Some are lines of a conversation. */
const key = fc.oneof(
  fc.integer({ min: 0, max: 60 }).map((number) => `call/${number}`),
  fc.integer({ min: 0, max: 60 }).map((number) => `notes/topic ${number}`),
  fc.constantFrom("copper", "lamp", "vim"),
);
const fact: fc.Arbitrary<FactSketch> = fc.record({
  ...{ key, value },
  createdAt: fc.integer({ min: 0, max: 40 }).map((number) => NOW - 86_400_000 + number * 700),
  expiresAt: fc.constantFrom(NOW + 1_000, NOW + 2_000, NOW - 1),
});
const memory = fc.uniqueArray(fact, { selector: (one) => one.key, maxLength: 90, size: "max" });

/** How the new facts differ from some of the memory's: in a number, or not. */
const changes = fc.array(fc.constantFrom(undefined, "7", "11", "21"), { minLength: 2, maxLength: 6 });

interface Told {
  readonly key: string;
  readonly contradicts: boolean;
}

test("are those of a search that scores, judges and compares all", async () => {
  let told = 0;
  let contradicting = 0;
  await fc.assert(
    fc.asyncProperty(
      memory,
      fc.array(key, { maxLength: 4 }),
      fc.array(value, { minLength: 1, maxLength: 3 }),
      changes,
      async (facts, gone, unrelated, numbers) => {
        const source = new WritableSource(facts);
        const recall = recallOf(source);
        await recall.warm(OWNER);
        for (const one of gone) source.remove(one);
        const left = facts.filter((one) => !gone.includes(one.key));
        const index = indexOf(left);
        const corrections = numbers.flatMap((number, place) => {
          const before = left[place * 7]?.value;
          return before === undefined ? [] : [before.replace(/\d+/, (old) => number ?? old)];
        });
        for (const text of [...unrelated, ...corrections]) {
          const added = { key: "new", value: text };
          const alike = await recall.alike(OWNER, added, LIMIT);
          const found = alike.map((one): Told => ({ key: one.key, contradicts: one.contradicts() }));
          expect(found).toEqual(plainly(index, added));
          told += found.length;
          contradicting += found.filter(({ contradicts }) => contradicts).length;
        }
      },
    ),
    { numRuns: 80 },
  );
  expect(told).toBeGreaterThan(100);
  expect(contradicting).toBeGreaterThan(0);
});

test("are in the order of a search's certainties, also if a model has read some of the facts", () => {
  const meaning = fc.record({
    nearness: fc.dictionary(fc.nat({ max: 95 }).map(String), fc.double({ min: -2, max: 9, noNaN: true })),
    ...{ isWhole: fc.boolean(), knowsAll: fc.boolean() },
  });
  fc.assert(
    fc.property(memory, value, meaning, (facts, text, { nearness, isWhole, knowsAll }) => {
      const index = indexOf(facts);
      const near = Object.entries(nearness).map(([unit, deviations]) => [Number(unit), deviations] as const);
      const meant: PassageSimilarities = {
        ...{ nearness: new Map(near), passages: index.unitEnd, isWhole },
        ...(!knowsAll && { knows: ({ content }) => content.length % 2 === 0 }),
      };
      const query = readQuery(text);
      const candidates = new LexicalSearch().candidates(query, index, NOW, [...meant.nearness.keys()]);
      const certain = mostCertain(query, candidates, meant, index, 50).map((one) => [one.unit, one.score]);
      const scored = scoreCandidates(query, candidates, meant, index);
      expect(certain).toEqual(byCertainty(scored).map(({ unit, certainty }) => [unit, certainty]));
    }),
    { numRuns: 80 },
  );
});

function indexOf(facts: readonly FactSketch[]): LexicalIndex {
  const index = new LexicalIndex();
  for (const one of facts) index.add(corpusEntry(one));
  return index;
}

function plainly(index: LexicalIndex, added: FactText): readonly Told[] {
  const query = readQuery(added.value);
  const scored = scoreCandidates(query, new LexicalSearch().candidates(query, index, NOW), undefined, index);
  const isAlike = alikeTo(topicOf(added.value));
  const textOf = ({ document, passage }: ScoredCandidate) =>
    document.content.slice(passage.start, passage.end);
  return byCertainty(scored)
    .filter((one) => isAlike(topicOf(textOf(one))))
    .slice(0, LIMIT)
    .map((one) => {
      const claim = new Claim({ key: one.document.key, value: textOf(one) });
      return { key: one.document.key, contradicts: relationOf(new Claim(added), claim) === "contradict" };
    });
}

function byCertainty(scored: readonly ScoredCandidate[]): readonly ScoredCandidate[] {
  return bestPerDocument(scored.map((one) => ({ ...one, score: one.certainty }))).slice(0, 50);
}
