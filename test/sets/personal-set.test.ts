/** The properties of the personal set: sizes, lengths, two balanced halves without common facts, no duplicates. */
import { describe, expect, test } from "vitest";
import { readPersonalSet } from "../../bench/sets/personal-set.ts";
import { validateFact } from "../../engine/facts/facts-policy.ts";
import { kindOfSecret } from "../../engine/facts/secrets.ts";
import { counts, repeated } from "./counts.ts";

const { facts, questions } = readPersonalSet();
const byKey = new Map(facts.map((fact) => [fact.key, fact]));

describe("the personal set", () => {
  test("has 60 facts, 105 questions that one of them answers, and 45 near misses of three kinds", () => {
    expect(facts).toHaveLength(60);
    expect(counts(questions.map(({ kind }) => kind))).toEqual({
      answerable: 105,
      "other-person": 15,
      "not-said": 15,
      "other-sense": 15,
    });
  });

  test("is halved: as many facts and questions, and as many of each kind but for one", () => {
    expect(counts(facts.map(({ half }) => half))).toEqual({ tune: 30, held: 30 });
    expect(counts(questions.map(({ half }) => half))).toEqual({ tune: 75, held: 75 });
    for (const [kind, number] of Object.entries(counts(questions.map((one) => one.kind)))) {
      const held = questions.filter((one) => one.kind === kind && one.half === "held").length;
      expect(Math.abs(number - 2 * held), kind).toBeLessThanOrEqual(1);
    }
  });

  test("has no duplicates", () => {
    expect(repeated(facts.map(({ key }) => key))).toEqual([]);
    expect(repeated(facts.map(({ value }) => value))).toEqual([]);
    expect(repeated(questions.map(({ question }) => question))).toEqual([]);
  });

  test("asks each half about its own facts, and about all of them", () => {
    const asked = questions.map((one) => ({
      half: one.half,
      key: one.kind === "answerable" ? one.expect : one.near,
    }));
    expect(asked.filter(({ half, key }) => byKey.get(key)?.half !== half)).toEqual([]);
    const answered = new Set(questions.flatMap((one) => (one.kind === "answerable" ? [one.expect] : [])));
    expect(facts.filter(({ key }) => !answered.has(key))).toEqual([]);
  });

  test("holds facts of 3 to 14 words that may be stored", async () => {
    for (const fact of facts) {
      const words = fact.value.split(" ").length;
      expect(words >= 3 && words <= 14, fact.value).toBe(true);
      expect(() => validateFact(fact)).not.toThrow();
      expect(await kindOfSecret(`${fact.key} = ${fact.value}`), fact.value).toBeUndefined();
    }
  });
});
