/** Which values say the very same: a review offers to merge them, and an import can leave them out. */
import { expect, test } from "vitest";
import { digestOfText } from "../../app/same-text.ts";

test.each([
  ["Allergic to **hazelnuts**.", "allergic to  hazelnuts"],
  ["Run `npm test` first!", "run npm test first"],
  ["Caf\u00e9 at ten", "Cafe\u0301 at ten;"],
])("%j and %j are the same", (one, other) => {
  expect(digestOfText(one)).toBe(digestOfText(other));
});

test.each([
  ["2 ** 3", "2 3"],
  ["a*b", "ab"],
  ["Tea, no milk", "Tea no milk"],
  ["!", "."],
])("%j and %j are not", (one, other) => {
  expect(digestOfText(one)).not.toBe(digestOfText(other));
});
