/** Synonyms, in every word form, are weaker evidence than the word itself, and never sufficient alone. */
import { describe, expect, test } from "vitest";
import { type FactSketch, keysOf, NOW, OWNER, recallOf, WritableSource } from "./corpus.ts";
import { between, directionOf, drawSpace } from "./meaning.ts";

const DEPLOY = { key: "deploy", value: "Jenkins deploys the billing service." };
const OTHERS = [
  { key: "invoices", value: "Invoices are filed in October." },
  { key: "ferry", value: "The ferry leaves at noon." },
];

describe("in keyword search", () => {
  test.each(["ship", "shipping", "releases"])("%s finds a fact about deploying", async (asked) => {
    expect(await keysOf([DEPLOY, ...OTHERS], `${asked} the billing service`)).toEqual(["deploy"]);
    expect(await keysOf([DEPLOY, ...OTHERS], "painting the billing service")).toEqual([]);
  });

  test("the word itself comes before its synonym", async () => {
    const synonym = { key: "synonym", value: "Jenkins releases the billing service." };
    for (const facts of [
      [synonym, DEPLOY],
      [DEPLOY, synonym],
    ]) {
      const recall = recallOf(new WritableSource(facts), { showsAll: true });
      const { results } = await recall.search(OWNER, { query: "deploy the billing service" });
      expect(results.map(({ key }) => key)).toEqual(["deploy", "synonym"]);
    }
  });

  test("a synonym without any word of the question finds nothing", async () => {
    const facts = [DEPLOY, { key: "dog", value: "My dog is called Rex." }];
    expect(await keysOf(facts, "which pet was shipped")).toEqual([]);
  });

  test("words of the same kind are not synonyms of each other", async () => {
    const facts = [{ key: "dog", value: "Elin has a dog in the attic." }, ...OTHERS];
    expect(await keysOf(facts, "pet of Elin in the attic")).toEqual(["dog"]);
    expect(await keysOf(facts, "hamster of Elin in the attic")).toEqual([]);
  });

  test("a name has no synonyms", async () => {
    const facts = [{ key: "repo", value: "The repo of Tessa holds recipes." }, ...OTHERS];
    expect(await keysOf(facts, "recipes in the repository of Tessa")).toEqual(["repo"]);
    expect(await keysOf(facts, "recipes in the Repository of Tessa")).toEqual([]);
  });
});

test("of facts with the same meaning, the one with the question's synonyms comes first", async () => {
  const facts: readonly FactSketch[] = [
    { key: "plain", value: "Jenkins is what we take.", createdAt: NOW },
    { key: "synonym", value: "Jenkins deploys all.", createdAt: NOW - 86_400_000 },
  ];
  const question = "how do we ship";
  const near = between(directionOf(question), directionOf("else"), 0.3);
  const places = { ...Object.fromEntries(facts.map(({ value }) => [value, near])) };
  const { index: semantic } = drawSpace({ places });
  const recall = recallOf(new WritableSource(facts), { semantic, showsAll: true });
  const { results } = await recall.search(OWNER, { query: question, explain: true });
  expect(results.map(({ key, parts }) => [key, parts?.synonyms?.value])).toEqual([
    ["synonym", 1],
    ["plain", 0],
  ]);
});
