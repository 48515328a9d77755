/** The figures of the bench of sure hits. */
import { expect, test } from "vitest";
import { type SureAnswer, sureFigures } from "../../bench/recall/sure-hits.ts";

function answer(wanted: readonly string[], hits: SureAnswer["hits"]): SureAnswer {
  return { set: "x", half: "held out", by: "keyword", question: "x", wanted, hits };
}
const sure = (key: string) => ({ key, score: 0.9 });
const possible = (key: string) => ({ key, score: 0.2, possible: true }) as const;

test("count the first hit: sure and right, sure and wrong, and sure hits for unanswerable questions", () => {
  const figures = sureFigures([
    answer(["a"], [sure("a"), sure("b")]),
    answer(["a"], [sure("b"), sure("a")]),
    answer(["a"], [possible("a")]),
    answer(["a"], []),
    answer([], [sure("a")]),
    answer([], [possible("a")]),
    answer([], []),
    answer([], []),
  ]);
  expect(figures).toEqual({
    questions: 8,
    first: 0.5,
    firstAndSure: 0.25,
    amongThree: 0.75,
    right: 12.5,
    wrong: 25,
    alarms: 0.25,
  });
});
