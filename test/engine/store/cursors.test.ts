/** Change cursors across a takeover: the other database may lack writes and prunings that a reader has seen. */
import { expect, test } from "vitest";
import { encodeChangeCursor, historySince, resumeFrom } from "../../../engine/store/cursors.ts";

const FIRST = { times: 0, before: 0 };

// verifies P-postgres-feed
test.each([0, 1, 2, 20])(
  "a reader starts over when the database that took over lacks %i prunings",
  (lost) => {
    const former = historySince({ lastSeq: 900, prunedThrough: 500, prunes: 30 }, FIRST);
    const cursor = encodeChangeCursor(former, 450);
    expect(resumeFrom(former, cursor)).toBe(450);
    const there = historySince(
      { lastSeq: 880, prunedThrough: 480, prunes: 30 - lost },
      { times: 1, before: 901 },
    );
    expect(resumeFrom(there, cursor)).toBeUndefined();
  },
);

test("a reader that begins after the takeover continues", () => {
  const there = historySince({ lastSeq: 880, prunedThrough: 480, prunes: 29 }, { times: 1, before: 901 });
  expect(resumeFrom(there, encodeChangeCursor(there, 450))).toBe(450);
});
