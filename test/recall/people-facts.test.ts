/** The promises about facts as people store them, on the set in test/data, through the app's own import and search. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { measurePeopleFacts, type PeopleFigures, SURE } from "../../bench/recall/people-facts.ts";
import { type Bench, openBench, SYSTEMS } from "../../bench/recall/systems.ts";

let bench: Bench;
let figures: PeopleFigures;

beforeAll(async () => {
  bench = await openBench();
  const measured = (await measurePeopleFacts(bench)).get(SYSTEMS.keyword);
  if (measured === undefined) throw new Error("Keywords were not measured.");
  figures = measured;
});
afterAll(() => bench.close());

describe("facts as people store them", () => {
  test("asked in its own words, a fact comes first and scores 0.85 and above", () => {
    expect(figures.exact.hitAt1).toBeGreaterThanOrEqual(0.98);
    expect(figures.exact.meanScore).toBeGreaterThanOrEqual(SURE);
    expect(figures.exact.sure).toBeGreaterThanOrEqual(0.95);
  });

  test("of the hits at 0.5 and above at least 80 % are right", () => {
    expect(figures.precision).toBeGreaterThanOrEqual(0.8);
  });

  test("at most 5 % of the questions that nothing answers get any hit", () => {
    expect(figures.falseAlarms).toBeLessThanOrEqual(0.05);
  });

  test("asked only partly in its own words, half of the facts still come first", () => {
    expect(figures.partial.hitAt1).toBeGreaterThanOrEqual(0.5);
  });
});
