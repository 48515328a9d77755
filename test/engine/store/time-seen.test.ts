/** How a store interprets clock readings, right or wrong. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  BUILT_AT,
  decodeTimeSeen,
  deletableBefore,
  effectiveTime,
  encodeTimeSeen,
  firstObservation,
  KEPT_EXPIRED_MS,
  LONGEST_STEP_MS,
  look,
  type TimeSeen,
} from "../../../engine/store/time-seen.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = BUILT_AT + 100 * DAY;

function seenAt(readings: readonly number[]): TimeSeen {
  const [first = START, ...rest] = readings;
  return rest.reduce((seen, clock) => look(seen, clock).seen, firstObservation(first));
}

/** Readings of the clock every five minutes, starting at `from`. */
function evenly(from: number, milliseconds: number): readonly number[] {
  return Array.from({ length: milliseconds / LONGEST_STEP_MS + 1 }, (_, i) => from + i * LONGEST_STEP_MS);
}

// verifies P-clock-deletes-nothing
describe("a deleted entry", () => {
  test("has been expired for exactly 24 hours if the clock advanced evenly", () => {
    expect(deletableBefore(seenAt(evenly(START, DAY - LONGEST_STEP_MS)))).toBeUndefined();
    expect(deletableBefore(seenAt(evenly(START, DAY)))).toBe(START);
    expect(deletableBefore(seenAt(evenly(START, 3 * DAY)))).toBe(START + 2 * DAY);
  });

  test("is expired by every reading of the last 24 observed hours", () => {
    const leap = [...evenly(START, DAY), ...evenly(START + 800 * DAY, DAY - LONGEST_STEP_MS)];
    expect(deletableBefore(seenAt(leap))).toBeLessThanOrEqual(START + DAY);
    expect(deletableBefore(seenAt([...leap, START + 900 * DAY, START + 900 * DAY + HOUR]))).toBeGreaterThan(
      START + 800 * DAY - 1,
    );
    expect(deletableBefore(seenAt([...leap, START + 2 * DAY]))).toBeLessThanOrEqual(START + 2 * DAY);
  });

  test("is older than the minimum of the last 24 observed hours, for any clock (compared with a slow calculation)", () => {
    const readings = fc.array(
      fc
        .oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 3_000 }))
        .map((minutes) => START + minutes * MINUTE),
      { minLength: 1, maxLength: 400 },
    );
    fc.assert(
      fc.property(readings, ([first = START, ...rest]) => {
        const clocks = [first];
        let seen = firstObservation(first);
        for (const clock of rest) {
          if (clock < seen.confirmed) continue; // the tests below cover a clock that moves back
          clocks.push(clock);
          seen = look(seen, clock).seen;
        }
        expect(deletableBefore(seen)).toBe(least(minuteByMinute(clocks)));
        expect(seen.stretches.length).toBeLessThanOrEqual(KEPT_EXPIRED_MS / LONGEST_STEP_MS + 2);
        expect(decodeTimeSeen(encodeTimeSeen(seen))).toEqual(seen);
      }),
      { numRuns: 300 },
    );
  });

  /** The clock's reading at each minute of observed time. */
  function minuteByMinute(clocks: readonly number[]): readonly number[] {
    const shown: number[] = [];
    for (const [i, clock] of clocks.entries()) {
      const before = clocks[i - 1] ?? clock;
      const steps = Math.min(5, Math.max(0, (clock - before) / MINUTE));
      for (let minute = 1; minute < steps; minute += 1) shown.push(before + minute * MINUTE);
      // No observed time passed between the two readings, so the earlier one counts.
      const same = steps === 0 ? shown.pop() : undefined;
      shown.push(Math.min(clock, same ?? clock));
    }
    return shown;
  }

  function least(shown: readonly number[]): number | undefined {
    const window = shown.slice(-(KEPT_EXPIRED_MS / MINUTE) - 1);
    return window.length <= KEPT_EXPIRED_MS / MINUTE ? undefined : Math.min(...window);
  }
});

describe("a clock below the floor", () => {
  test("is not used: time continues from the last plausible reading, as the clock ticks", () => {
    const seen = seenAt([START, START + HOUR]);
    expect(effectiveTime(seen, 0)).toBe(START + HOUR + 1);
    const astray = look(seen, 7_000).seen;
    expect(effectiveTime(astray, 7_000 + 3 * HOUR)).toBe(START + HOUR + 1 + 3 * HOUR);
    expect(effectiveTime(astray, 3_000)).toBe(START + HOUR + 1);
  });

  test("does not use an earlier wrong reading in the future, if the clock was correct after it", () => {
    const seen = seenAt([START, START + 800 * DAY, START + MINUTE, 1_000]);
    expect(effectiveTime(seen, 2_000)).toBeLessThan(START + HOUR);
  });

  test("still counts time that has passed since the build", () => {
    const seen = seenAt(evenly(0, 2 * DAY));
    expect(deletableBefore(seen)).toBe(BUILT_AT + DAY);
    expect(effectiveTime(seen, 2 * DAY)).toBe(BUILT_AT + 2 * DAY);
  });

  test("that is then set corrects entries written before, once, by the difference", () => {
    const astray = seenAt([START, 0, HOUR]);
    const { seen, correction } = look(astray, START + 10 * DAY);
    expect(correction).toEqual({ from: START + 1, to: START + 1 + HOUR, byMs: 10 * DAY - HOUR - 1 });
    expect(look(seen, START + 11 * DAY).correction).toBeUndefined();
    expect(look(astray, START - DAY).correction).toBeUndefined(); // earlier than any time seen, so nothing is known about it
  });

  test("includes one that was correct a day ago and is set back before that", () => {
    const seen = seenAt(evenly(START, 2 * DAY));
    expect(effectiveTime(seen, START + DAY)).toBe(START + DAY);
    expect(effectiveTime(seen, START + DAY - 1)).toBe(START + 2 * DAY + 1);
  });
});

test.each([
  "",
  "{}",
  "null",
  "[]",
  '{"observedMs":1}',
  '{"observedMs":1,"reading":2,"inUse":3,"confirmed":4,"stretches":[]}',
  '{"observedMs":1,"reading":2,"inUse":3,"confirmed":4,"stretches":[[1]]}',
  '{"observedMs":1e99,"reading":2,"inUse":3,"confirmed":4,"stretches":[[1,2]]}',
])("a saved state that was changed (%s) is ignored", (text) => expect(decodeTimeSeen(text)).toBeUndefined());
