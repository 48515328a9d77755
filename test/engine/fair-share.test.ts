/** Each caller's share: its own limit, and an equal part when the capacity is exhausted. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countByCaller, hasRoom, SharedPlaces, shareOf } from "../../engine/fair-share.ts";

const LIMITS = { perCaller: 8, total: 16 };
const held = (counts: Readonly<Record<string, number>>) => new Map(Object.entries(counts));

// verifies P-load-fair
describe("a caller's share", () => {
  it.each<[string, Record<string, number>, string, number]>([
    ["is its own limit while slots are free", { ben: 8 }, "ana", 8],
    ["is its own limit if only this caller holds slots", { ana: 8 }, "ana", 8],
    ["is an equal part if all slots are taken", { ben: 8, cleo: 8 }, "ana", 5],
    ["is also an equal part for callers that hold slots", { ana: 1, ben: 8, cleo: 8 }, "ben", 5],
    ["is never more than its own limit", { ana: 16 }, "ana", 8],
    ["is at least one", Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`c${n}`, 1])), "ana", 1],
  ])("%s", (_what, counts, caller, share) => {
    expect(shareOf(caller, held(counts), LIMITS)).toBe(share);
  });

  it("always has room for a new caller, and limits each caller", () => {
    const limits = fc.record({
      perCaller: fc.integer({ min: 1, max: 8 }),
      total: fc.integer({ min: 1, max: 24 }),
    });
    const takers = fc.array(fc.constantFrom("ana", "ben", "cleo", "dora", "emil"), { maxLength: 120 });
    fc.assert(
      fc.property(limits, takers, (bounds, order) => {
        const holders: string[] = [];
        for (const caller of order) if (hasRoom(caller, countByCaller(holders), bounds)) holders.push(caller);
        const counts = countByCaller(holders);
        expect(hasRoom("somebody new", counts, bounds)).toBe(true);
        for (const count of counts.values()) expect(count).toBeLessThanOrEqual(bounds.perCaller);
      }),
    );
  });

  it("limits the slots of all callers to about the total, however many callers take their maximum", () => {
    const holders: string[] = [];
    for (let n = 0; n < 200; n += 1) {
      while (hasRoom(`c${n}`, countByCaller(holders), { perCaller: 64, total: 1_024 })) holders.push(`c${n}`);
    }
    expect(holders.length).toBeLessThan(1_024 * 4);
  });
});

describe("slots", () => {
  it("are taken and released, each once", () => {
    const places = new SharedPlaces({ perCaller: 1, total: 10 });
    const giveBack = places.take("ana");
    expect(places.take("ana")).toBeUndefined();
    giveBack?.();
    giveBack?.();
    expect(places.take("ana")).toBeDefined();
    expect(places.take("ana")).toBeUndefined();
  });
});
