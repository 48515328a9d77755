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
const messages = readMessages();

test("six languages have 20 facts each, half of them held, and all but English an English question too", () => {
  const twenty = { en: 20, de: 20, es: 20, fr: 20, zh: 20, ja: 20 };
  expect(counts(facts.map(({ language }) => language))).toEqual(twenty);
  const held = facts.filter(({ half }) => half === "held").map(({ language }) => language);
  expect(counts(held)).toEqual({ en: 10, de: 10, es: 10, fr: 10, zh: 10, ja: 10 });
  expect(facts.filter(({ language, english }) => (language === "en") !== (english === undefined))).toEqual(
    [],
  );
  expect(counts(fillers.map(({ language }) => language))).toEqual({ de: 10, es: 10, fr: 10, zh: 10, ja: 10 });
});

test("life and work has 60 facts, two questions about each, and 20 near misses; all are held", () => {
  expect(life.facts).toHaveLength(60);
  const asked = counts(life.questions.flatMap((one) => (one.kind === "answerable" ? [one.expect] : [])));
  expect(asked).toEqual(Object.fromEntries(life.facts.map(({ key }) => [key, 2])));
  const near = life.questions.flatMap((one) => (one.kind === "answerable" ? [] : [one.near]));
  expect(near).toHaveLength(20);
  expect(near.filter((key) => !(key in asked))).toEqual([]);
  expect([...life.facts, ...life.questions].filter(({ half }) => half !== "held")).toEqual([]);
});

test("200 messages are labelled with facts of their memory, about half of them with none", () => {
  const keys = {
    life: new Set(life.facts.map(({ key }) => key)),
    people: new Set(readTestData<{ readonly key?: string }>("facts-people-store").map(({ key }) => key)),
  };
  expect(counts(messages.map(({ memory }) => memory))).toEqual({ life: 100, people: 100 });
  expect(messages.filter(({ memory, helps }) => helps.some((key) => !keys[memory].has(key)))).toEqual([]);
  expect(messages.filter(({ helps }) => helps.length > 0)).toHaveLength(111);
});

test("nothing is there twice, and every fact may be stored", async () => {
  const stored = [...facts, ...fillers];
  for (const of of [stored, life.facts]) {
    expect(repeated(of.map(({ key }) => key))).toEqual([]);
    expect(repeated(of.map(({ value }) => value))).toEqual([]);
  }
  expect(
    repeated(facts.flatMap(({ question, english = `${question} (en)` }) => [question, english])),
  ).toEqual([]);
  expect(
    repeated([...life.questions.map(({ question }) => question), ...messages.map(({ text }) => text)]),
  ).toEqual([]);
  for (const fact of [...stored, ...life.facts]) {
    expect(() => validateFact(fact)).not.toThrow();
    expect(await kindOfSecret(`${fact.key} = ${fact.value}`), fact.value).toBeUndefined();
  }
});
