/** Durations as a person types them. */
import { describe, expect, test } from "vitest";
import { parseSeconds } from "../../commands/option-parsers.ts";

describe("a span of time", () => {
  test.each([
    ["3600", 3_600],
    ["3600s", 3_600],
    ["90m", 5_400],
    ["12h", 43_200],
    ["90d", 7_776_000],
    ["4w", 2_419_200],
    ["0", 0],
  ])("%s is %i seconds", (text, seconds) => {
    expect(parseSeconds(text)).toBe(seconds);
  });

  test.each([
    "",
    "d",
    "-1d",
    "1.5h",
    "1e9",
    "90 d",
    " 90d",
    "90D",
    "90days",
    "1h30m",
    "soon",
    "٣d",
    "99999999999",
  ])("%j is none", (text) => {
    expect(parseSeconds(text)).toBeUndefined();
  });
});
