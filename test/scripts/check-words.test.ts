/** `npm run check:words` finds old words in names, comments and documents, and accepts ordinary English. */
import { describe, expect, test } from "vitest";
import { findingsIn } from "../../scripts/check-words.ts";

const wordsIn = (file: string, text: string) => findingsIn(file, text).map(({ line, word }) => [line, word]);

describe("check:words", () => {
  test.each([
    ["a class", "class Deck {}", "Deck"],
    ["part of a variable's name", "const testDeck = 1;", "testDeck"],
    ["part of a constant's name", "const MOST_DECOYS = 1;", "MOST_DECOYS"],
    ["a private field", "class A {\n#shelves = 1;\n}", "#shelves"],
    ["a whole type's name", "type Side = 1;", "Side"],
    ["a comment", "/** Measured with the yardstick. */", "yardstick"],
    ["a comment at a line's end", "const a = 1; // kindred", "kindred"],
  ])("finds %s", (_, source, word) => {
    expect(wordsIn("app/a.ts", `\n${source}`)).toEqual([[source.includes("\n") ? 3 : 2, word]]);
  });

  test("finds a file's name and a document's words, with the word to write instead", () => {
    expect(wordsIn("recall/shelf.ts", "")).toEqual([[1, "shelf"]]);
    expect(findingsIn("docs/a.md", "One.\nThe Gatekeeper asks.")).toEqual([
      { file: "docs/a.md", line: 2, word: "Gatekeeper", say: "AccessPolicy" },
    ]);
  });

  test.each([
    ["const helmdeckMemory = openWorldHint;"],
    ['const words = "a desk, a shelf and a deck";'],
    ["// at work, on the other side of the deck"],
    ["const workFolder = leftSide;"],
  ])("leaves %j alone", (source) => {
    expect(wordsIn("app/a.ts", source)).toEqual([]);
  });
});
