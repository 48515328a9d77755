/** Everyday questions: ambiguous forms, words with several senses, and what a question asks for. */
import { describe, expect, test } from "vitest";
import { otherTermOf, termOf } from "../../recall/analysis/english.ts";
import { keysOf, shownOf } from "./corpus.ts";

const OTHERS = [
  { key: "garden", value: "The garden gate squeaks and wants oil." },
  { key: "tax", value: "Tax papers are in the second drawer." },
  { key: "choir", value: "The choir rehearses on Mondays at eight." },
];

describe("a form of two words", () => {
  test.each([
    ["lives", "life", "live"],
    ["leaves", "leaf", "leave"],
    ["halves", "half", "halve"],
    ["calves", "calf", "calve"],
    ["shelves", "shelf", "shelve"],
    ["analyses", "analysis", "analyse"],
    ["bases", "basis", "base"],
    ["axes", "axis", "axe"],
    ["saw", "see", "saws"],
    ["felt", "feel", "felts"],
    ["found", "find", "founded"],
    ["fell", "fall", "felled"],
    ["rose", "rise", "roses"],
    ["wound", "wind", "wounds"],
    ["ground", "grind", "grounds"],
    ["bore", "bear", "bores"],
    ["bound", "bind", "bounds"],
    ["left", "leave", "lefts"],
    ["shot", "shoot", "shots"],
    ["bit", "bite", "bits"],
    ["thought", "think", "thoughts"],
    ["spoke", "speak", "spokes"],
    ["rung", "ring", "rungs"],
  ])("%s is a form of %s and of %s", (form, one, other) => {
    expect([termOf(form), otherTermOf(form)].sort()).toEqual([termOf(one), termOf(other)].sort());
  });

  test.each([
    ["Dora lives in Graz.", "where does Dora live"],
    ["The lives of painters interest me.", "life of a painter"],
    ["Rake the leaves before the frost.", "leaf rake"],
    ["The bus leaves at seven.", "when does the bus leave"],
    ["She wants a rose for her balcony.", "roses balcony"],
    ["The flu shot was in October.", "flu shots"],
    ["Ordered sixty-four bits of the drill set.", "drill bit"],
  ])("%s is found by %s", async (value, query) => {
    expect((await shownOf([{ key: "it", value }, ...OTHERS], query))[0]?.key).toBe("it");
  });
});

test("an everyday word alone makes no fact sure", async () => {
  const facts = [
    { key: "about_me", value: "Name: Dora, lives in Graz" },
    { key: "secrets", value: "Secrets live in Vault" },
    ...OTHERS,
  ];
  const shown = await shownOf(facts, "where do I live");
  expect(shown[0]?.key).toBe("about_me");
  expect(shown.every(({ possible }) => possible)).toBe(true);
});

describe("a word with several senses", () => {
  // Of equals, the first by key would come first.
  const facts = [{ key: "a_shell", value: "My shell is fish" }, ...OTHERS];

  test("does not outrank another form of a word of the question", async () => {
    const health = { key: "health", value: "I am allergic to hazelnuts" };
    const [first] = await shownOf([...facts, health], "any food allergies");
    expect(first?.key).toBe("health");
  });

  test("is weaker than a word with one sense", async () => {
    const bag = { key: "bag", value: "Pasta without cheese" };
    const [first] = await shownOf([...facts, bag], "what food is there");
    expect(first?.key).toBe("bag");
  });
});

describe("what a question asks for", () => {
  /** Not its newness keeps a fact about somebody else from being sure. */
  const KNOWN_NAME = { key: "moon", value: "Emil has a telescope" };

  test.each([
    ["somebody else's", "Sanne has blood type B", "which blood type has Emil", "which blood type has Sanne"],
    ["a person", "Emil plays handball on Fridays", "who is Emil's handball", "when does Emil play handball"],
    [
      "a number",
      "The home insurance renews in spring",
      "how much is the home insurance",
      "home insurance renews",
    ],
    [
      "a time of day",
      "Nora's time at school is in Maple Street",
      "what time is Nora's school",
      "Nora's school street",
    ],
    [
      "how often",
      "Game night is at Rasmus's",
      "how often is game night at Rasmus's",
      "game night at Rasmus's",
    ],
    [
      "a colour",
      "The old Volvo's colour is worn",
      "what colour is the old Volvo",
      "is the old Volvo's colour worn",
    ],
    ["a name", "My band was called off on Sunday", "what is my band called", "was my band called off"],
    ["how long", "Sprint planning is on Monday", "how long is sprint planning", "when is sprint planning"],
  ])("must be in the fact: %s", async (_name, value, lacking, answered) => {
    const facts = [{ key: "it", value }, KNOWN_NAME, ...OTHERS];
    expect(await keysOf(facts, lacking)).toEqual([]);
    expect((await shownOf(facts, lacking)).map(({ key }) => key)).toContain("it");
    expect((await keysOf(facts, answered))[0]).toBe("it");
  });
});

test("a meaning or an event is there if the fact has every word of the question", async () => {
  const facts = [
    { key: "boiler", value: "Boiler error F28: the gas pressure is low" },
    { key: "office", value: "We moved the office to Graz" },
    ...OTHERS,
  ];
  expect(await keysOf(facts, "what does boiler error F28 mean")).toEqual(["boiler"]);
  expect(await keysOf(facts, "when did we move the office to Graz")).toEqual(["office"]);
});

test("a question in another language asks for nothing", async () => {
  const facts = [{ key: "it", value: "Der Geburtstag von Mama ist am zweiten Mai" }, ...OTHERS];
  expect(await keysOf(facts, "wann ist der Geburtstag von Mama")).toEqual(["it"]);
});
