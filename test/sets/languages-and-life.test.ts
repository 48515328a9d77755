/** The properties of the sets of six languages, of life and work, and of single messages: sizes, halves, no duplicates, labels that exist. */
import { expect, test } from "vitest";
import { readTestData } from "../../bench/recall/conversations.ts";
import { readMessages } from "../../bench/sets/dialogues-set.ts";
import { readLanguages } from "../../bench/sets/languages-set.ts";
import { readPersonalSet } from "../../bench/sets/personal-set.ts";
import { validateFact } from "../../engine/facts/facts-policy.ts";
import { kindOfSecret } from "../../engine/facts/secrets.ts";
import { counts, repeated } from "./counts.ts";

const { facts, fillers } = readLanguages();
const life = readPersonalSet("life");
const people = readTestData<{ readonly key?: string }>("facts-people-store");
const messages = readMessages();

test("the sets have their sizes, halves and labels", () => {
  const kinds = facts.map(({ half, language, english }) => `${half} ${language} ${english !== undefined}`);
  const each = ["de", "en", "es", "fr", "ja", "zh"].flatMap((one) => [`tune ${one}`, `held ${one}`]);
  expect(counts(kinds)).toEqual(Object.fromEntries(each.map((one) => [`${one} ${!one.endsWith("en")}`, 10])));
  const asked = counts(life.questions.flatMap((one) => (one.kind === "answerable" ? [one.expect] : [])));
  expect(asked).toEqual(Object.fromEntries(life.facts.map(({ key }) => [key, 2])));
  const near = life.questions.flatMap((one) => (one.kind === "answerable" ? [] : [one.near]));
  expect([life.facts.length, near.length, near.filter((key) => !(key in asked))]).toEqual([60, 20, []]);
  const keys = { life: life.facts.map(({ key }) => key), people: people.map(({ key }) => key) };
  const unknown = messages.filter(({ memory, helps }) => helps.some((key) => !keys[memory].includes(key)));
  expect([messages.length, messages.filter(({ helps }) => helps.length > 0).length]).toEqual([200, 111]);
  expect(unknown).toEqual([]);
});

test("nothing is there twice, and every fact may be stored", async () => {
  const asked = facts.flatMap(({ question, english }) =>
    english === undefined ? [question] : [question, english],
  );
  const said = [...asked, ...life.questions.map((one) => one.question), ...messages.map(({ text }) => text)];
  expect(repeated(said)).toEqual([]);
  for (const stored of [[...facts, ...fillers], life.facts]) {
    expect(repeated(stored.map(({ key }) => key))).toEqual([]);
    for (const fact of stored) {
      expect(() => validateFact({ key: fact.key, value: fact.value })).not.toThrow();
      expect(await kindOfSecret(`${fact.key} = ${fact.value}`), fact.value).toBeUndefined();
    }
  }
});
