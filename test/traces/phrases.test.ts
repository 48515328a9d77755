import { describe, expect, test } from "vitest";
import { Phrases } from "../../app/traces/phrases.ts";

const VALUE = "The spare key of the cabin lies under the third flowerpot.";
const linesIn = (phrases: Phrases, text: string, size = text.length) => {
  const reader = phrases.reader();
  for (let at = 0; at < text.length; at += size) reader.read(text.slice(at, at + size));
  reader.end();
  return [...reader.lines];
};

describe("a value is found", () => {
  const phrases = Phrases.ofValues([VALUE]);
  test.each([
    ["as it is", VALUE],
    [
      "in a list item",
      `- **The spare key** of the cabin lies under the third flowerpot. <!-- trigger: key -->`,
    ],
    ["in other letters", VALUE.toUpperCase()],
    ["over two lines", "The spare key of the\n  cabin lies under the third flowerpot"],
    ["as a part of it", "he said the cabin lies under the third flowerpot!"],
    ["in JSON", JSON.stringify({ content: `Hi.\n${VALUE}\n` })],
    ["in a quotation that goes on", "> The spare key of\n> the cabin lies\n> under the third\n> flowerpot."],
    [
      "with emphasis inside of its words",
      "The spa**re** key of the ca`bin` lies under the thi__rd__ flower~~pot~~.",
    ],
    [
      "with a link",
      "The [spare key](https://example.org/k) of the [cabin][1] lies <b>under</b> the third flowerpot",
    ],
    [
      "with comments",
      "The spare key <!-- a --> of the <!-- b --> cabin lies <!-- c --> under the third flowerpot",
    ],
    [
      "with characters that nobody sees",
      "The spare\u00a0key of the ca\u00adbin lies un\u200bder the third \ufeffflowerpot",
    ],
    ["in wide letters", "Ｔｈｅ spare key of the ｃａｂｉｎ lies under the ｔｈｉｒｄ flowerpot"],
    ["behind backslashes", `${"\\".repeat(10_000)}${VALUE}`],
    [
      "with many marks on each letter of others",
      `${"a\u0301\u0316".repeat(40)} ${VALUE} a${"\u0316".repeat(99)}`,
    ],
    ["in JSON in JSON", JSON.stringify({ args: JSON.stringify({ content: `Hi.\n${VALUE}` }) })],
  ])("%s", (_, text) => {
    expect(linesIn(phrases, text)).not.toEqual([]);
  });

  test("whatever the sizes of the chunks, on its lines", () => {
    const text = `one\ntwo\n${VALUE}\nfour\n`;
    for (const size of [1, 3, 7, 1000]) expect(linesIn(phrases, text, size)).toEqual([3]);
  });

  test.each([
    ["with accents", "Große Straße in Köln, Hausnummer neun", "in der große straße in köln, hausnummer 9"],
    ["in Chinese", "我最喜欢的咖啡店在北京路三号", "他说：我最喜欢的咖啡店在北京路三号。"],
    [
      "with escaped letters",
      "Große Straße in Köln",
      JSON.stringify("Große Straße in Köln").replaceAll("ß", "\\u00df"),
    ],
  ])("%s", (_, value, text) => {
    expect(Phrases.ofValues([value]).isIn(text)).toBe(true);
  });

  test("with marks, whatever the sizes of the chunks, on its lines", () => {
    const text = `one\ntwo\n[The spare](https://example.org) key of the [cabin](x) lies\nunder [the third](y) flowerpot\nfive\n`;
    for (const size of [64, 100, 1000]) expect(linesIn(phrases, text, size)).toEqual([3, 4]);
  });

  test("a line end that is written as an escape is not counted", () => {
    expect(linesIn(phrases, `"a\\u000ab"\n${VALUE}`)).toEqual([2]);
  });

  test("in other words, it is not", () => {
    expect(phrases.isIn("Below flowerpot number three you find what opens the cabin")).toBe(false);
  });

  test("by a short sentence of it, and by a number", () => {
    const one = Phrases.ofValues(["I moved last year. My landlord: Quentin Abernathy. PIN 48151623."]);
    expect(one.isIn("Quentin Abernathy. Landlord: my landlord Quentin Abernathy")).toBe(true);
    expect(Phrases.ofValues(["48151623"]).isIn("the pin is 48151623, ok")).toBe(true);
  });
});

describe("what stands everywhere is not looked for", () => {
  test.each(["yes", "blue", "it is what it is", "to be or not to be", ""])("%j", (value) => {
    expect(Phrases.ofValues([value]).isEmpty).toBe(true);
  });

  test("single words of a value do not count", () => {
    expect(Phrases.ofValues([VALUE]).isIn("The cabin has a spare bed and a flowerpot.")).toBe(false);
  });
});

test("counts the values in which nothing is telling", () => {
  expect(Phrases.ofValues(["blue", VALUE, "yes"]).leftOut).toBe(2);
  expect(Phrases.ofLines("a\nKonflux\n\n").leftOut).toBe(1);
});

test("a person's words are taken whole, one phrase a line", () => {
  const phrases = Phrases.ofLines("Konflux\nthe third flowerpot\n");
  expect(linesIn(phrases, "a konflux b\nthe third\nthe third flowerpot")).toEqual([1, 3]);
  expect(Phrases.ofLines("a\n\n").isEmpty).toBe(true);
});

test("each five words in a row of a long text are one", () => {
  const words = Array.from({ length: 2_600 }, (_, at) => `word${at}`);
  const phrases = Phrases.ofValues([words.join(" "), "blue", VALUE]);
  const isMissing = (_: string, at: number) => !phrases.isIn(words.slice(at, at + 5).join(" "));
  expect(words.slice(4).filter(isMissing)).toEqual([]);
  expect(phrases.isIn(words.slice(-4).join(" "))).toBe(false);
});
