/** The promises about facts as people write them, tested on the set in test/data with the app's import and search. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { measurePeopleFacts, type PeopleFigures, SURE } from "../../bench/recall/people-facts.ts";
import { type Bench, openBench, SYSTEMS } from "../../bench/recall/recall-systems.ts";

let bench: Bench;
let figures: PeopleFigures;
/** Figures without possible hits. */
let sureFigures: PeopleFigures;

beforeAll(async () => {
  bench = await openBench();
  const measured = await measurePeopleFacts(bench);
  const [shown, sure] = [measured.get(SYSTEMS.keyword), measured.get(SYSTEMS.keywordSure)];
  if (shown === undefined || sure === undefined) throw new Error("Keywords were not measured.");
  figures = shown;
  sureFigures = sure;
});
afterAll(() => bench.close());

describe("facts as people store them", () => {
  test("a fact comes first with a score of at least 0.85 for a question in its own words", () => {
    expect(figures.exact.hitAt1).toBeGreaterThanOrEqual(0.98);
    expect(figures.exact.meanScore).toBeGreaterThanOrEqual(SURE);
    expect(figures.exact.sure).toBeGreaterThanOrEqual(0.95);
  });

  test("at least 80 % of the hits with a score of 0.5 or more are right", () => {
    expect(figures.precision).toBeGreaterThanOrEqual(0.8);
  });

  test("at most 5 % of the unanswerable questions get a sure hit, and the others few possible ones", () => {
    expect(figures.falseAlarms).toBeLessThanOrEqual(0.05);
    expect(figures.possible).toBeLessThanOrEqual(1.6);
  });

  test("most facts are shown for a question that is partly in their own words, half of them as sure hits", () => {
    expect(figures.partial.hitAt3).toBeGreaterThanOrEqual(0.83);
    expect(sureFigures.partial.hitAt1).toBeGreaterThanOrEqual(0.5);
  });

  test("possible hits do not affect the sure ones", () => {
    expect(figures.exact.sure).toBe(sureFigures.exact.sure);
    expect(figures.precision).toBe(sureFigures.precision);
    expect(figures.falseAlarms).toBe(sureFigures.falseAlarms);
    expect(sureFigures.possible).toBe(0);
  });
});
