/** The properties of the set of pairs: sizes, balanced halves, no duplicates, facts that can be stored beside each other. */
import { describe, expect, test } from "vitest";
import { readPairs } from "../../bench/sets/pairs-set.ts";
import { validateFact } from "../../engine/facts/facts-policy.ts";
import { kindOfSecret } from "../../engine/facts/secrets.ts";
import { counts, repeated } from "./counts.ts";

const pairs = readPairs();
const facts = pairs.flatMap(({ a, b }) => [a, b]);

describe("the set of pairs", () => {
  test("has 50 pairs that contradict each other, 50 that say the same, and 50 that are near", () => {
    expect(counts(pairs.map(({ label }) => label))).toEqual({ contradict: 50, same: 50, near: 50 });
  });

  test("is halved within each kind", () => {
    const [tune, held] = (["tune", "held"] as const).map((wanted) =>
      counts(pairs.filter(({ half }) => half === wanted).map(({ label, kind }) => `${label} ${kind}`)),
    );
    expect(tune).toEqual(held);
    expect(Object.keys(tune ?? {})).toHaveLength(12);
  });

  test("has no duplicates", () => {
    expect(repeated(facts.map(({ value }) => value))).toEqual([]);
  });

  test("has two keys and two days in each pair, and not always the newer fact first", () => {
    expect(pairs.filter(({ a, b }) => a.key === b.key || a.stored === b.stored)).toEqual([]);
    const newerFirst = pairs.filter(({ a, b }) => a.stored > b.stored).length;
    expect(newerFirst).toBeGreaterThan(pairs.length / 3);
    expect(newerFirst).toBeLessThan((pairs.length * 2) / 3);
  });

  test("holds facts that may be stored", async () => {
    for (const fact of facts) {
      expect(() => validateFact(fact)).not.toThrow();
      expect(await kindOfSecret(`${fact.key} = ${fact.value}`), fact.value).toBeUndefined();
    }
  });
});
