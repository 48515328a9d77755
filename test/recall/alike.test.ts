/** Similar facts are those of a plain search that scores every passage by itself. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { madeFact } from "../../bench/search/made-facts.ts";
import { readPairs } from "../../bench/sets/pairs-set.ts";
import { ANSWER_LIMITS } from "../../engine/answer-limits.ts";
import { Claim, type FactText } from "../../recall/claims.ts";
import { type Relation, relationOf } from "../../recall/conflicts.ts";
import { conceptsOf, type WeightedTerms } from "../../recall/lexical/analyse-query.ts";
import { FIELD_COUNTS } from "../../recall/lexical/candidate-features.ts";
import { LexicalIndex } from "../../recall/lexical/lexical-index.ts";
import { unitOf } from "../../recall/lexical/terms.ts";
import { bestPerDocument, type RankedPassage } from "../../recall/scoring.ts";
import { type Topic, topicBySeparateWords } from "../../recall/topic.ts";
import { WEIGHTS } from "../../recall/weights.ts";
import { corpusEntry, type FactSketch, NOW, OWNER, recallOf, WritableSource } from "./corpus.ts";

const LIMIT = 3;
/** Such as one that is being replaced. */
const isOther = ({ key }: { readonly key: string }): boolean => key !== "vim";

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
  readonly isSame: boolean;
  readonly relation: Relation;
}

test("are those of a search that scores every passage", async () => {
  let told = 0;
  let same = 0;
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
          const alike = await recall.alike(OWNER, added, { limit: LIMIT, isOther });
          const found = alike.map(
            ({ key: name, isSame, relation }): Told => ({ key: name, isSame, relation }),
          );
          expect(found).toEqual(plainly(index, added));
          told += found.length;
          same += found.filter(({ isSame }) => isSame).length;
          contradicting += found.filter(({ relation }) => relation === "contradict").length;
        }
      },
    ),
    { numRuns: 80 },
  );
  expect(told).toBeGreaterThan(100);
  expect(same).toBeGreaterThan(0);
  expect(contradicting).toBeGreaterThan(0);
});

test("find what a new fact corrects or repeats, in other words too, among two thousand others", async () => {
  const pairs = readPairs().filter(({ label }) => label !== "near");
  const others = Array.from({ length: 2_000 }, (_, number) => madeFact(number));
  const recall = recallOf(new WritableSource([...pairs.map(({ a }) => a), ...others]));
  let shown = 0;
  for (const { a, b } of pairs) {
    const alike = await recall.alike(OWNER, b, { limit: LIMIT, isOther });
    if (alike.some(({ key }) => key === a.key)) shown += 1;
  }
  expect(pairs).toHaveLength(100);
  expect(shown).toBeGreaterThanOrEqual(75); // those of a whole search were as many
});

test.each([
  ["会议室在四楼", "会议室在三楼"],
  ["我的生日是四月六日", "我的生日是三月五日"],
  ["会議室は四階にあります", "会議室は三階にあります"],
  ["私は緑茶が嫌いです", "私は緑茶が好きです"],
  ["회의실은 4층에 있다", "회의실은 3층에 있다"],
  ["我家的猫叫咪咪", undefined],
])("in Chinese, Japanese and Korean, to %s: %s", async (added, before) => {
  const facts = [
    ...["会议室在三楼", "我的生日是三月五日", "会議室は三階にあります", "私は緑茶が好きです"],
    ...["회의실은 3층에 있다", "每周一早上九点开会", "나는 녹차를 좋아한다"],
  ];
  const recall = recallOf(
    new WritableSource(facts.map((one, place) => ({ key: `fact-${place}`, value: one }))),
  );
  const [first] = await recall.alike(OWNER, { key: "new", value: added }, { limit: LIMIT, isOther });
  expect(first?.text).toBe(before);
});

function indexOf(facts: readonly FactSketch[]): LexicalIndex {
  const index = new LexicalIndex();
  for (const one of facts) index.add(corpusEntry(one));
  return index;
}

function plainly(index: LexicalIndex, added: FactText): readonly Told[] {
  const topic = topicBySeparateWords(added.value.slice(0, ANSWER_LIMITS.queryCharacters));
  const claim = new Claim(added);
  const alike = closest(index, topic)
    .filter(({ document }) => document.expiresAt > NOW && isOther(document))
    .map((one) => {
      const relation = relationOf(claim, new Claim({ key: one.document.key, value: textOf(one) }));
      return { key: one.document.key, relation, whole: bodyOf(one) };
    })
    .filter(({ relation }) => relation !== "none");
  const others = alike.filter(({ whole }) => whole !== added.value);
  const last = others[LIMIT - 1];
  return (last === undefined ? alike : alike.slice(0, alike.indexOf(last) + 1)).map(
    ({ key, relation, whole }) => ({ key, isSame: whole === added.value, relation }),
  );
}

/** Below the heading, and above the category. */
function bodyOf({ document }: RankedPassage): string {
  return document.content.split("\n").slice(2, -2).join("\n");
}

function textOf({ document, passage }: RankedPassage): string {
  return document.content.slice(passage.start, passage.end);
}

/** The 50 passages with the highest BM25; of each document its best. Expired ones still take a place. */
function closest(index: LexicalIndex, topic: Topic): readonly RankedPassage[] {
  const concepts = conceptsOf(topic, index);
  const scored = Array.from({ length: index.unitEnd }, (_, unit) => unit)
    .map((unit) => ({ unit, score: bm25(index, unit, concepts) }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score || left.unit - right.unit)
    .slice(0, 50);
  return bestPerDocument(
    scored.flatMap(({ unit, score }) => {
      const [document, passage] = [index.documentOf(unit), index.passageOf(unit)];
      return document && passage ? { unit, document, passage, score } : [];
    }),
  );
}

function bm25(index: LexicalIndex, unit: number, concepts: readonly WeightedTerms[]): number {
  const { saturation, lengthNorm } = WEIGHTS.bm25;
  const length = index.bodyLength(unit) / index.meanBodyLength;
  const has = new Map([...index.postingsOfUnit(unit)].map((posting) => [unitOf(posting), posting & 255]));
  return concepts.reduce((sum, { terms, synonyms, share }) => {
    const related = synonyms.map(({ term, quality }) => ({ term, quality: WEIGHTS.words.related * quality }));
    const best = [...terms, ...related].find(({ term }) => has.has(term));
    if (best === undefined) return sum;
    const count = FIELD_COUNTS[has.get(best.term) ?? 0] ?? 0;
    const norm = saturation * (1 - lengthNorm + lengthNorm * length);
    const gain = (share * best.quality * (1 + saturation) * count) / (count + norm);
    return Math.fround(sum + gain);
  }, 0);
}
