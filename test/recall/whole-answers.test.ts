/** A name brings every fact that has it, and each part of a question its own answer. */
import { describe, expect, test } from "vitest";
import { type FactSketch, NOW, OWNER, recallOf, shownOf, WritableSource } from "./corpus.ts";
import { between, directionOf, drawSpace } from "./meaning.ts";

const BRIGHTWAVE = [
  { key: "brightwave/contract", value: "The contract with Brightwave ends in March." },
  { key: "lunch", value: "Lunch with Priya of Brightwave was on Tuesday." },
  { key: "invoices", value: "Brightwave pays its invoices within ten days." },
  { key: "logo", value: "Their new logo, a yellow wave, was drawn by Brightwave in a week." },
];
const OTHERS = [
  { key: "wifi", value: "The wifi at home is called Kolibri." },
  { key: "boiler", value: "Error F28 of the boiler means that there is no gas." },
  { key: "car", value: "The car is a grey estate from 2019." },
  { key: "dentist", value: "The dentist is Dr. Okafor in the Lindenstrasse." },
];
const FACTS: readonly FactSketch[] = [...BRIGHTWAVE, ...OTHERS];

describe("a question that is only a name, or asks for everything about it", () => {
  test.each([
    "Brightwave",
    "brightwave?",
    "what do I know about Brightwave",
    "Tell me everything about brightwave please",
    "what is there about Brightwave in my memory?",
    "was weiß ich über Brightwave?",
    "alles über Brightwave bitte",
    "qué sé sobre Brightwave",
    "que sais-je sur Brightwave",
  ])("brings every fact that has the name, as sure: %s", async (question) => {
    const expected = BRIGHTWAVE.map(({ key }) => [key, undefined]).sort();
    const shown = (hits: readonly { key: string; possible?: true }[]) =>
      hits.map(({ key, possible }) => [key, possible]).sort();
    expect(shown(await shownOf(FACTS, question))).toEqual(expected);
    // A model for which only one of the facts is near.
    const [first] = BRIGHTWAVE;
    const near = between(directionOf(question), directionOf("else"), 0.2);
    const { index: semantic } = drawSpace({ places: { [first?.value ?? ""]: near } });
    const recall = recallOf(new WritableSource(FACTS), { semantic });
    expect(shown((await recall.search(OWNER, { query: question })).results)).toEqual(expected);
  });

  test("stays within the limit", async () => {
    expect(await shownOf(FACTS, "Brightwave", 2)).toHaveLength(2);
  });

  test.each(["when does Brightwave pay", "who is Brightwave's lawyer"])(
    "is no question for one thing: %s",
    async (question) => {
      const sure = (await shownOf(FACTS, question)).filter(({ possible }) => !possible);
      expect(sure.length).toBeLessThan(BRIGHTWAVE.length);
    },
  );
});

describe("a question about two things", () => {
  test.each([
    "what is the wifi at home called and who is the dentist",
    "What is the wifi at home called? And where is the dentist?",
    "the wifi at home, the dentist",
    "wifi at home + dentist Okafor",
  ])("shows the answers to both: %s", async (question) => {
    const keys = (await shownOf(FACTS, question)).map(({ key }) => key);
    expect(keys).toEqual(expect.arrayContaining(["wifi", "dentist"]));
    expect(keys).not.toContain("car");
  });

  test("shows what answers a part as possible beside what surely answers another", async () => {
    const hits = await shownOf(FACTS, "Brightwave contract, the colour of the car");
    expect(hits.map(({ key, possible }) => [key, possible])).toEqual([
      ["brightwave/contract", undefined],
      ["car", true],
    ]);
  });

  test("finds the line of a conversation that has most of it, not one that has a part", async () => {
    const lines = [
      "Did the hike in the hills go well?",
      "It did, we saw a fox. The picnic was by the lake.",
      "Late, as ever. In the hills there is one an hour.",
      "The lake was cold. We ate the picnic in the hut, because of the rain in the hills.",
    ].map((value, place) => {
      return { key: `call/${place}`, value, conversationId: "call", createdAt: NOW - 86_400_000 + place };
    });
    const [first] = await shownOf(
      [...lines, ...FACTS],
      "where was the picnic, and why was the rain in the hills bad",
    );
    expect(first?.key).toBe("call/3");
  });
});
