/** The questions of the bench of memories: each can be answered, none was tuned on, and a seed always makes the same ones. */
import { expect, it } from "vitest";
import { keysShown } from "../../bench/peers/measures/record.ts";
import { questionSets } from "../../bench/peers/sets.ts";
import { readNaturalSet } from "../../bench/recall/natural-set.ts";

const setsOf = (seed: number) => questionSets({ seed, isQuick: false });
const sets = Object.entries(setsOf(36));

it.each(sets)("%s: each wanted fact is stored, and recognised by its own text alone", (_name, set) => {
  const keys = set.facts.map(({ key }) => key);
  for (const { wanted } of set.questions) expect(keys).toEqual(expect.arrayContaining([...wanted]));
  for (const { key, value } of set.facts)
    expect(keysShown({ hits: [{ text: value }], text: value }, set.facts)).toEqual([key]);
});

it("asks no everyday question of the half that rankings are tuned on", () => {
  const { questions, languages, unanswerable } = readNaturalSet();
  const tuned = [...questions, ...languages, ...unanswerable].filter(({ half }) => half === "dev");
  const asked = new Set(sets.flatMap(([, set]) => set.questions.map(({ question }) => question)));
  expect(tuned.filter(({ question }) => asked.has(question))).toEqual([]);
});

it("makes the same set from the same seed, and another from another", () => {
  expect(setsOf(7).seeded).toEqual(setsOf(7).seeded);
  expect(setsOf(7).seeded?.facts[0]?.value).not.toBe(setsOf(8).seeded?.facts[0]?.value);
});

it("asks about things that were never stored", () => {
  const { facts = [], questions = [] } = setsOf(36).seeded ?? {};
  const never = questions.filter(({ wanted }) => wanted.length === 0);
  expect(never).toHaveLength(60);
  const names = never.flatMap(({ question }) => question.match(/\b\w{6}\w* \w{6}\w*$/) ?? []);
  const stored = facts.map(({ value }) => value).join("\n");
  expect(names.filter((name) => stored.includes(name))).toEqual([]);
});
