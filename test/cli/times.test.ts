/** The display format of times. */
import { describe, expect, test } from "vitest";
import { expiryFrom, localMinute } from "../../app/presenters/words.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe("times", () => {
  test("are local minutes for people, with leading zeros", () => {
    expect(localMinute(new Date(2026, 0, 2, 3, 4, 59).getTime())).toBe("2026-01-02 03:04");
  });

  test.each([
    [undefined, "never"],
    [0, "expired"],
    [-DAY, "expired"],
    [1, "in 1 minute"],
    [120_000, "in 2 minutes"],
    [HOUR, "in 60 minutes"],
    [2 * HOUR, "in 2 hours"],
    [DAY, "in 24 hours"],
    [2 * DAY, "in 2 days"],
    [90 * DAY, "in 90 days"],
  ])("an expiry %s ms away reads: %s", (left, words) => {
    const now = 1_000_000;
    expect(expiryFrom(now, left === undefined ? undefined : now + left)).toBe(words);
  });
});
