/** The properties of the set of dialogues: sizes, halves without a common memory, few facts that help a message, no duplicates. */
import { describe, expect, test } from "vitest";
import { readDialogues } from "../../bench/sets/dialogues-set.ts";
import { validateFact } from "../../engine/facts/facts-policy.ts";
import { kindOfSecret } from "../../engine/facts/secrets.ts";
import { counts, repeated } from "./counts.ts";

const { facts, dialogues } = readDialogues();
const messages = dialogues.flatMap((dialogue) =>
  dialogue.messages.map((message) => ({ ...message, half: dialogue.half, memory: dialogue.memory })),
);

describe("the set of dialogues", () => {
  test("has ten memories of 15 facts, and 20 dialogues about each", () => {
    expect(new Set(Object.values(counts(facts.map(({ memory }) => memory))))).toEqual(new Set([15]));
    const about = counts(dialogues.map(({ memory }) => memory));
    expect(Object.keys(about)).toHaveLength(10);
    expect(new Set(Object.values(about))).toEqual(new Set([20]));
  });

  test("is halved by memory", () => {
    expect(counts(dialogues.map(({ half }) => half))).toEqual({ tune: 100, held: 100 });
    const halves = [...facts, ...dialogues].map(({ half, memory }) => `${memory} ${half}`);
    expect(new Set(halves).size).toBe(10);
  });

  test.each(["tune", "held"] as const)("%s: about half of the messages need no fact", (half) => {
    const ofHalf = messages.filter((message) => message.half === half);
    const without = ofHalf.filter(({ helps }) => helps.length === 0).length / ofHalf.length;
    expect(without).toBeGreaterThan(0.45);
    expect(without).toBeLessThan(0.6);
    expect(ofHalf.length).toBeGreaterThan(150);
  });

  test("marks facts of the dialogue's own memory, at most three and each once", () => {
    const known = new Set(facts.map(({ memory, key }) => `${memory} ${key}`));
    for (const { text, memory, helps } of messages) {
      expect(helps.filter((key) => !known.has(`${memory} ${key}`))).toEqual([]);
      expect(repeated(helps), text).toEqual([]);
      expect(helps.length, text).toBeLessThanOrEqual(3);
    }
  });

  test("has no duplicates", () => {
    expect(repeated(facts.map(({ memory, key }) => `${memory} ${key}`))).toEqual([]);
    expect(repeated(facts.map(({ value }) => value))).toEqual([]);
    expect(repeated(dialogues.map(({ messages: [first] }) => first?.text ?? ""))).toEqual([]);
  });

  test("holds facts that may be stored", async () => {
    for (const fact of facts) {
      expect(() => validateFact({ key: fact.key, value: fact.value })).not.toThrow();
      expect(await kindOfSecret(`${fact.key} = ${fact.value}`), fact.value).toBeUndefined();
    }
  });
});
