/** How long facts live: renewal by a person and by use. */
import { describe, expect, test } from "vitest";
import type { Entry } from "../../../engine/index.ts";
import { renewalByHand, renewalByUse } from "../../../engine/index.ts";

const DAY_MS = 86_400_000;
const STORED = Date.UTC(2026, 0, 1);

/** A fact stored at STORED that expires after this number of days. */
function livingFor(days: number, more: { prolonged?: true; offByMs?: number } = {}): Entry {
  const { offByMs = 0, ...mark } = more;
  const expiresAt = STORED + days * DAY_MS - offByMs;
  return { updatedAt: STORED, expiresAt, ...mark } as Entry; // the decision uses no other fields
}

/** The day of the new expiry, counted from STORED; undefined without a renewal. */
function renewed(decide: typeof renewalByUse, entry: Entry, onDay: number): number | undefined {
  const renewal = decide(entry, STORED + onDay * DAY_MS);
  return renewal && (renewal.expiresAt - STORED) / DAY_MS;
}

// verifies P-renew-bounded
describe("by use", () => {
  test.each([
    ["a default life begins anew", livingFor(90), 10, 100],
    [
      "also where the store waited for others before it was written",
      livingFor(90, { offByMs: 5_000 }),
      10,
      100,
    ],
    ["at most once a day", livingFor(100, { prolonged: true }), 10.9, undefined],
    ["and again a day later", livingFor(100, { prolonged: true }), 11, 101],
    ["not within the first day", livingFor(90), 0.9, undefined],
    ["never beyond a year from the last store", livingFor(360, { prolonged: true }), 300, 365],
    ["and then no more", livingFor(365, { prolonged: true }), 360, undefined],
    ["a shorter life that was asked for stays", livingFor(30), 20, undefined],
    ["a longer one too, when a default one would be longer by now", livingFor(120), 60, undefined],
    ["and the longest", livingFor(365), 300, undefined],
  ])("%s", (_name, entry, onDay, until) => {
    expect(renewed(renewalByUse, entry, onDay)).toBe(until);
  });

  test("marks what it renews, and recognises it the next time", () => {
    const renewal = renewalByUse(livingFor(90), STORED + 10 * DAY_MS);
    expect(renewal).toMatchObject({ prolonged: true });
  });
});

describe("by hand", () => {
  test.each([
    ["90 days from now", livingFor(90), 80, undefined, 170],
    ["never less than it has", livingFor(365), 10, undefined, undefined],
    ["as long as was said, from now", livingFor(90), 80, 10 * 86_400, 90],
    ["also where that is less", livingFor(365), 10, 86_400, 11],
    ["zero is the default, as for a store", livingFor(90), 80, 0, 170],
  ])("%s", (_name, entry, onDay, ttlSeconds, until) => {
    expect(renewed(renewalByHand(ttlSeconds), entry, onDay)).toBe(until);
  });

  test("a default life is renewed by use, a given ttl is not", () => {
    const now = STORED + 80 * DAY_MS;
    expect(renewalByHand(undefined)(livingFor(90), now)).toMatchObject({ prolonged: true });
    expect(renewalByHand(86_400)(livingFor(90), now)).not.toHaveProperty("prolonged");
  });

  test.each([-1, 60, 1.5, 31_536_001, "90d"])("a life of %j is refused", (ttlSeconds) => {
    expect(() => renewalByHand(ttlSeconds)).toThrow(/ttl_seconds must be a whole number/);
  });
});
