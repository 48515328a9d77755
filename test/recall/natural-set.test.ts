/** The properties of the natural set: sizes, two equal halves without common facts, and correct kinds. */
import { describe, expect, test } from "vitest";
import { type NaturalHalf, readNaturalSet } from "../../bench/recall/natural-set.ts";
import { sharedWords } from "../../bench/recall/shared-words.ts";
import { validateFact } from "../../engine/facts/facts-policy.ts";
import { kindOfSecret } from "../../engine/facts/secrets.ts";
import { repeated } from "./corpus.ts";

const { facts, questions, languages, unanswerable } = readNaturalSet();
const english = facts.filter(({ language }) => language === undefined);
const byKey = new Map(facts.map((fact) => [fact.key, fact]));
const HALVES: readonly NaturalHalf[] = ["dev", "held-out"];

function counts(names: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, of]) => [name, of.length]));
}

describe("the natural set", () => {
  test("has 40 facts, 100 questions, 30 unanswerable ones and 30 in other languages, half of each for tuning", () => {
    expect([english, questions, unanswerable, languages].map(({ length }) => length)).toEqual([
      40, 100, 30, 30,
    ]);
    for (const lines of [english, facts, questions, unanswerable, languages]) {
      expect(lines.filter(({ half }) => half === "dev")).toHaveLength(lines.length / 2);
    }
  });

  test("is balanced between both halves: as many questions of each kind and of each language", () => {
    const [dev, heldOut] = HALVES.map((half) => ({
      kinds: counts(questions.filter((one) => one.half === half).map(({ kind }) => kind)),
      languages: counts(languages.filter((one) => one.half === half).map(({ language = "en" }) => language)),
    }));
    expect(dev).toEqual(heldOut);
  });

  test("has no duplicates", () => {
    expect(repeated(facts.map(({ key }) => key))).toEqual([]);
    expect(repeated([...questions, ...languages, ...unanswerable].map(({ question }) => question))).toEqual(
      [],
    );
  });

  test("expects facts of the same half", () => {
    const asked = [...questions, ...languages].map(({ half, expect: key }) => ({ half, key }));
    const near = unanswerable.flatMap(({ half, near: key }) => (key === undefined ? [] : [{ half, key }]));
    expect([...asked, ...near].filter(({ half, key }) => byKey.get(key)?.half !== half)).toEqual([]);
  });

  test("holds facts that may be stored", async () => {
    for (const { key, value } of facts) {
      expect(() => validateFact({ key, value })).not.toThrow();
      expect(await kindOfSecret(`${key} = ${value}`)).toBeUndefined();
    }
  });

  test.each(questions)("$kind: $question", ({ kind, question, expect: key }) => {
    const { terms, stems, lookalikes } = sharedWords(question, `${key} ${byKey.get(key)?.value}`);
    const shared = [...terms, ...stems, ...lookalikes];
    if (kind === "paraphrase") expect(shared).toEqual([]);
    else expect(shared).not.toEqual([]);
  });
});
