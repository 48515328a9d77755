/** How long facts live: renewal by a person and by use. */
import { describe, expect, test } from "vitest";
import { FACT_LIMITS } from "../../../engine/facts/facts-policy.ts";
import { renewalByHand, renewalByUse } from "../../../engine/facts/renewal.ts";
import type { DecideRenewal, Entry } from "../../../engine/store/memory-store.ts";
import type { Ending } from "../../../engine/store/writer.ts";

const DAY_MS = 86_400_000;
const USUAL = FACT_LIMITS.defaultTtlSeconds;
const STORED = Date.UTC(2026, 0, 1);

/** A fact stored at STORED that expires after this number of days. */
function livingFor(days: number, more: { ending?: Ending; offByMs?: number } = {}): Entry {
  const { offByMs = 0, ...mark } = more;
  const expiresAt = STORED + days * DAY_MS - offByMs;
  return { tags: [], updatedAt: STORED, expiresAt, ...mark } as unknown as Entry; // the decision uses no other fields
}

/** The day of the new expiry, counted from STORED; undefined without a renewal. */
function renewed(decide: DecideRenewal, entry: Entry, onDay: number): number | undefined {
  const renewal = decide(entry, STORED + onDay * DAY_MS);
  return renewal && ((renewal.expiresAt ?? 0) - STORED) / DAY_MS;
}

// verifies P-renew-bounded
describe("renewal by use", () => {
  test.each([
    ["a default lifetime starts again", livingFor(90), 10, 100],
    ["also if the write was delayed by other writers", livingFor(90, { offByMs: 5_000 }), 10, 100],
    ["at most once a day", livingFor(100, { ending: "default" }), 10.9, undefined],
    ["again after a day", livingFor(100, { ending: "default" }), 11, 101],
    ["not within the first day", livingFor(90), 0.9, undefined],
    ["never beyond a year from the last store", livingFor(360, { ending: "default" }), 300, 365],
    ["not after that year", livingFor(365, { ending: "default" }), 360, undefined],
    ["a shorter requested lifetime is kept", livingFor(30), 20, undefined],
    [
      "a longer requested lifetime is kept, even if a default one would end later",
      livingFor(120),
      60,
      undefined,
    ],
    ["the longest requested lifetime is kept", livingFor(365), 300, undefined],
    [
      "so is one that was asked for and is as long as the default",
      livingFor(90, { ending: "chosen" }),
      10,
      undefined,
    ],
  ])("%s", (_name, entry, onDay, until) => {
    expect(renewed(renewalByUse(USUAL), entry, onDay)).toBe(until);
  });

  test("marks what it renews, and recognises it the next time", () => {
    const renewal = renewalByUse(USUAL)(livingFor(90), STORED + 10 * DAY_MS);
    expect(renewal).toMatchObject({ ending: "default" });
  });
});

describe("renewal by hand", () => {
  test.each([
    ["90 days from now", livingFor(90), 80, undefined, 170],
    ["never earlier than its expiry", livingFor(365), 10, undefined, undefined],
    ["the requested time from now", livingFor(90), 80, 10 * 86_400, 90],
    ["the requested time even if that is earlier than its expiry", livingFor(365), 10, 86_400, 11],
    ["zero is the default, as for a store", livingFor(90), 80, 0, 170],
  ])("%s", (_name, entry, onDay, ttlSeconds, until) => {
    expect(renewed(renewalByHand(ttlSeconds, USUAL, false), entry, onDay)).toBe(until);
  });

  test("marks a default lifetime as renewable by use, but not a given one", () => {
    const now = STORED + 80 * DAY_MS;
    const byHand = (ttlSeconds?: number) => renewalByHand(ttlSeconds, USUAL, false)(livingFor(90), now);
    expect(byHand()).toMatchObject({ ending: "default" });
    expect(byHand(86_400)).toMatchObject({ ending: "chosen" });
  });

  test.each([-1, 60, 1.5, 31_536_001, "90d"])("a lifetime of %j is refused", (ttlSeconds) => {
    expect(() => renewalByHand(ttlSeconds, USUAL, false)).toThrow(/ttl_seconds must be a whole number/);
  });
});
