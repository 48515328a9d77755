/** Facts about the same thing as a new one, whatever the size of the memory. */
import { describe, expect, test } from "vitest";
import { unrelatedFact } from "../../bench/recall/unrelated-facts.ts";
import { readPairs } from "../../bench/sets/pairs-set.ts";
import { alikeTo, topicOf } from "../../recall/topic.ts";
import { OWNER, recallOf, WritableSource } from "./corpus.ts";

describe.each([20, 200, 2_000])("among %i facts", (size) => {
  const others = Array.from({ length: size }, (_none, number) => unrelatedFact(number));
  const style = { key: "style", value: "Answers are no longer than five lines" };
  const diet = { key: "diet", value: "I have been a vegetarian since 2019" };

  test.each(["I am no longer vegetarian", "I am not vegetarian any more", "not vegetarian anymore"])(
    '"%s" is about the same thing as one fact alone',
    async (text) => {
      const keysAmong = async (facts: ConstructorParameters<typeof WritableSource>[0]) =>
        (
          await recallOf(new WritableSource(facts)).alike(
            OWNER,
            { key: "new", value: text },
            { limit: 3, isOther: () => true },
          )
        ).map(({ key }) => key);
      expect(await keysAmong([...others, style])).toEqual([]);
      expect(await keysAmong([...others, style, diet])).toEqual(["diet"]);
    },
  );
});

test("most corrections and repetitions are alike, and few facts of other pairs", () => {
  const pairs = readPairs().filter(({ half }) => half === "tune");
  const about = pairs.map(({ a, b, label }) => ({
    label,
    isAlike: alikeTo(topicOf(b.value)),
    a: topicOf(a.value),
  }));
  const own = about.filter(({ label }) => label !== "near");
  expect(own.filter(({ isAlike, a }) => isAlike(a)).length / own.length).toBeGreaterThan(0.7);
  const others = about.flatMap((one) =>
    about.filter((other) => other !== one).map(({ a }) => one.isAlike(a)),
  );
  expect(others.filter(Boolean).length / others.length).toBeLessThan(0.01);
});
