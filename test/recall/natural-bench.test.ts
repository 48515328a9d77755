/** The natural set's measurements: shares, the surrounding memory, and the chart. */
import { describe, expect, test } from "vitest";
import { curvePicture } from "../../bench/recall/curve-picture.ts";
import { askNatural, NATURAL_SIZES, type NaturalAnswer } from "../../bench/recall/natural.ts";
import { shownRight, shownWrong } from "../../bench/recall/natural-section.ts";
import { readNaturalSet } from "../../bench/recall/natural-set.ts";
import type { Bench, Hit, Search } from "../../bench/recall/recall-systems.ts";
import { unrelatedFact } from "../../bench/recall/unrelated-facts.ts";

function answer(wanted: string | undefined, ...hits: readonly Hit[]): NaturalAnswer {
  const kind = wanted === undefined ? "unanswerable" : "own";
  return {
    ...{ half: "dev", size: 20, system: "keyword", kind, question: "q" },
    ...{ wanted, hits, possibleCharacters: { text: 0, json: 0 } },
  };
}

const sure = (key: string): Hit => ({ key, score: 0.8 });
const possible = (key: string): Hit => ({ key, score: 0.2, possible: true });

describe("the figures", () => {
  test("count a fact among the first three as shown, and as sure unless it is a possible hit", () => {
    const answers = [
      answer("a", sure("b"), sure("c"), sure("a")),
      answer("a", sure("b"), sure("c"), sure("d"), sure("a")),
      answer("a", possible("a")),
      answer("a"),
    ];
    expect(shownRight(answers)).toBe(0.5);
    expect(shownRight(answers, true)).toBe(0.25);
  });

  test("count possible hits, not sure ones, as wrong", () => {
    expect(shownWrong([answer(undefined, possible("a"), possible("b")), answer(undefined, sure("a"))])).toBe(
      1,
    );
  });
});

describe("the tested memory", () => {
  test("contains the expected facts of one half, never of the other, and is filled up to its size", async () => {
    const { facts } = readNaturalSet();
    const filled: string[][] = [];
    const nothing: Search = async () => [];
    const bench: Bench = {
      async fill(_subject, lines) {
        filled.push(lines.map((line) => String("key" in line && line.key)));
        return new Map([["keyword", nothing]]);
      },
      async close() {},
    };
    const answers = await askNatural(bench);
    expect(filled.map(({ length }) => length)).toEqual(
      ["dev", "held-out"].flatMap(() => NATURAL_SIZES.flatMap((size) => [size, size])),
    );
    for (const keys of filled) {
      const halves = new Set(facts.filter(({ key }) => keys.includes(key)).map(({ half }) => half));
      expect(halves.size).toBe(1);
      expect(new Set(keys).size).toBe(keys.length);
    }
    const smallest = answers.filter(({ size }) => size === NATURAL_SIZES[0]);
    const asked = smallest.flatMap(({ wanted }) => wanted ?? []);
    const held = new Set([
      ...(filled[0] ?? []),
      ...(filled[1] ?? []),
      ...(filled[6] ?? []),
      ...(filled[7] ?? []),
    ]);
    expect(asked.filter((key) => !held.has(key))).toEqual([]);
  });

  test("is filled up with the same facts each time", () => {
    expect(unrelatedFact(7)).toEqual(unrelatedFact(7));
    expect(unrelatedFact(7).value).not.toBe(unrelatedFact(8).value);
    expect(unrelatedFact(7).value).not.toMatch(/[{}]/);
  });
});

test("the chart has a mark for each point, the chosen one larger", () => {
  const points = [0.9, 0.8].map((right, place) => ({ right, wrong: 1 - place, isChosen: place === 1 }));
  const svg = curvePicture([{ name: "words", points }], 2);
  expect(svg.match(/<circle/g)).toHaveLength(2);
  expect(svg.match(/r="6"/g)).toHaveLength(1);
  expect(svg).toContain("words</text>");
});
