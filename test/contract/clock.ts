/** Contract: a clock that is wrong for a while hides and shows entries, but never deletes any. */
import { describe, expect, test } from "vitest";
import type { MemoryReader, MemoryStore } from "../../engine/store/memory-store.ts";
import { follow } from "./feed.ts";
import {
  ANA,
  allKeys,
  BEN,
  type Clock,
  DAY_MS,
  fact,
  HOUR_MS,
  KEPT_EXPIRED_MS,
  letPass,
  type OpenRig,
  refTo,
  START,
  type StoreRig,
  withRig,
} from "./rig.ts";

const WRONG_BY_MS = 800 * DAY_MS;
/** Later than the correct time in any test. */
const LATER = START + 90 * DAY_MS;

async function keysOf(store: MemoryReader): Promise<readonly string[]> {
  return [...(await allKeys(store))].sort();
}

/** Runs a process's background work while the clock shows another time. */
async function live(store: MemoryStore, clock: Clock, now: number): Promise<void> {
  clock.now = now;
  for (let second = 0; second < 14; second += 1) {
    clock.now += 1_000;
    await store.deleteExpired();
  }
}

export function describeClock(open: OpenRig, { isPersistent }: { readonly isPersistent: boolean }): void {
  /** The store as another process would see it: reopened, if the store can be. */
  const anew = async (rig: StoreRig): Promise<MemoryStore> => {
    if (rig.openAgain === undefined) return rig.store;
    await rig.store.close();
    return rig.openAgain();
  };

  describe("a clock that is far ahead for a moment", () => {
    for (const across of isPersistent ? [false, true] : [false]) {
      test(
        `hides what would have expired, and shows it again${across ? ", across processes" : ""}`,
        withRig(open, async (rig) => {
          let { store } = rig;
          await store.putMany([
            fact("a", "1", { expiresAt: LATER }),
            fact("b", "2", { expiresAt: LATER }),
            fact("c", "3"),
          ]);
          await live(store, rig.clock, START + WRONG_BY_MS);
          if (across) store = await anew({ ...rig, store });
          await live(store, rig.clock, START + WRONG_BY_MS);
          expect(await keysOf(store)).toEqual(["c"]);
          expect(await store.inspect()).toMatchObject({ entries: 1, expired: 2 });
          rig.clock.now = START + 60_000;
          if (across) store = await anew({ ...rig, store });
          expect(await keysOf(store)).toEqual(["a", "b", "c"]);
          expect(store.now()).toBe(rig.clock.now);
          await live(store, rig.clock, rig.clock.now);
          expect(await store.inspect()).toMatchObject({ entries: 3, expired: 0, clockBehindMs: 0 });
        }),
      );
    }

    test(
      "deletes nothing, however often that happens",
      withRig(open, async ({ store, clock }) => {
        await store.put(fact("a", "1", { expiresAt: LATER }));
        for (let times = 1; times <= 60; times += 1) {
          clock.now = START + WRONG_BY_MS + times * 60_000;
          await store.deleteExpired();
          clock.now = START + times * 60_000;
          await store.deleteExpired();
        }
        expect(await keysOf(store)).toEqual(["a"]);
      }),
    );

    test(
      "has no effect on readers of the change feed",
      withRig(open, async ({ store, clock }) => {
        await store.putMany([fact("a", "1", { expiresAt: LATER }), fact("b", "2")]);
        const before = await store.changes({ namespace: ANA, since: 0 });
        if (before.kind !== "changes") throw new Error("told to start over from 0");
        clock.now = START + WRONG_BY_MS;
        const wrong = await store.changes({ namespace: ANA, since: 0 });
        expect(wrong).toMatchObject({
          kind: "changes",
          upserts: [{ key: "b" }],
          removed: [expect.any(String)],
        });
        clock.now = START + 1_000;
        if (wrong.kind !== "changes") throw new Error("told to start over from 0");
        expect(await store.changes({ namespace: ANA, since: wrong.cursor })).toEqual({ kind: "start_over" });
        const seen = await follow(store, 0, 1);
        expect([...seen.values()].map(({ key }) => key).sort()).toEqual(["a", "b"]);
        const after = await store.changes({ namespace: ANA, since: 0 });
        if (after.kind !== "changes") throw new Error("told to start over from 0");
        clock.now -= 500;
        expect(await store.changes({ namespace: ANA, since: after.cursor })).toMatchObject({
          kind: "changes",
          upserts: [],
        });
      }),
    );

    test(
      "lets a put replace a hidden entry",
      withRig(open, async ({ store, clock }) => {
        await store.put(fact("a", "old", { expiresAt: LATER }));
        clock.now = START + WRONG_BY_MS;
        await store.put(fact("a", "new"));
        clock.now = START + 1_000;
        expect(Buffer.from((await store.get(refTo("a")))?.value ?? []).toString()).toBe("new");
      }),
    );
  });

  describe("facts that ended", () => {
    const november = { month: "2026-11", facts: 2 };
    const audit = { origin: "audit", category: "tool_history" } as const;

    // verifies P-ended-counted, P-clock-deletes-nothing
    test(
      "are counted by month for a year, hidden or swept, once, and of nobody else",
      withRig(
        open,
        async (rig) => {
          const { clock } = rig;
          let { store } = rig;
          const soon = { expiresAt: START + HOUR_MS };
          await store.putMany([
            ...["a", "b", "forgotten"].map((key) => fact(key, "v", soon)),
            fact("december", "v", { expiresAt: START + 12 * DAY_MS }),
            fact("run", "v", { ...soon, ...audit }),
            fact("theirs", "v", { ...soon, namespace: BEN }),
          ]);
          expect(await store.ended(ANA)).toEqual([]);
          await store.delete(refTo("forgotten"));
          await live(store, clock, START + WRONG_BY_MS);
          clock.now = START;
          expect(await store.ended(ANA)).toEqual([]);
          clock.now = START + HOUR_MS;
          expect(await store.ended(ANA)).toEqual([november]);
          await letPass(store, clock, 2 * KEPT_EXPIRED_MS);
          store = await anew({ ...rig, store });
          await store.deleteExpired();
          expect(await store.inspect()).toMatchObject({ expired: 0 });
          expect(await store.ended(ANA)).toEqual([november]);
          expect(await store.ended(BEN)).toEqual([{ ...november, facts: 1 }]);
          // what is left of six entries; the count takes nothing of it
          await store.putMany(["1", "2", "3", "4", "5"].map((key) => fact(key, "v")));
          await expect(store.put(fact("6", "v"))).rejects.toMatchObject({ code: "quota_exceeded" });
          clock.now = START + 12 * DAY_MS;
          const both = [november, { month: "2026-12", facts: 1 }];
          expect(await store.ended(ANA)).toEqual(both);
          await letPass(store, clock, KEPT_EXPIRED_MS + HOUR_MS);
          expect(await store.ended(ANA)).toEqual(both);
          clock.now = START + 380 * DAY_MS;
          expect(await store.ended(ANA)).toEqual(both.slice(1));
          clock.now = START + 410 * DAY_MS;
          expect(await store.ended(ANA)).toEqual([]);
        },
        { quota: { entries: 6 } },
      ),
    );
  });

  describe("time without any reading of the clock", () => {
    test(
      "counts five minutes: what expired meanwhile is hidden at once, and deleted a day of use later",
      withRig(open, async ({ store, clock }) => {
        await store.put(fact("a", "1", { expiresAt: START + HOUR_MS }));
        clock.now = START + 30 * DAY_MS;
        expect(await store.deleteExpired()).toMatchObject({ deleted: 0 });
        expect(await keysOf(store)).toEqual([]);
        await letPass(store, clock, KEPT_EXPIRED_MS - 5 * 60_000);
        expect(await store.inspect()).toMatchObject({ expired: 1 });
        await letPass(store, clock, 10 * 60_000);
        expect(await store.inspect()).toMatchObject({ expired: 0 });
      }),
    );
  });

  describe("a clock that begins in 1970", () => {
    test(
      "counts lives from the build date at the earliest, and corrects them when it is set",
      withRig(open, async (rig) => {
        const { clock } = rig;
        clock.now = 5_000;
        let store = await anew(rig);
        const made = store.now();
        expect(made).toBeGreaterThan(Date.UTC(2026, 0, 1));
        await store.put(fact("brief", "1", { expiresAt: made + HOUR_MS }));
        await store.put(fact("kept", "1"));
        clock.now += 10 * 60_000;
        expect(store.now() - made).toBeGreaterThanOrEqual(10 * 60_000);
        expect(await keysOf(store)).toEqual(["brief", "kept"]);
        expect(await store.inspect()).toMatchObject({ clockBehindMs: store.now() - clock.now });
        clock.now = LATER;
        store = await anew({ ...rig, store });
        await store.deleteExpired(); // the first look at the correct clock
        const brief = await store.get(refTo("brief"));
        expect(brief?.expiresAt).toBeGreaterThan(LATER);
        expect(brief?.expiresAt).toBeLessThanOrEqual(LATER + HOUR_MS);
        expect(brief?.updatedAt).toBeGreaterThan(LATER - HOUR_MS);
        clock.now = LATER + HOUR_MS;
        expect(await keysOf(store)).toEqual(["kept"]);
      }),
    );

    test(
      "is replaced by the last observed time: expired entries stay hidden",
      withRig(open, async (rig) => {
        await rig.store.putMany([
          fact("over", "1", { expiresAt: START + HOUR_MS }),
          fact("living", "1", { expiresAt: LATER }),
        ]);
        await letPass(rig.store, rig.clock, 2 * HOUR_MS);
        const seen = rig.clock.now;
        rig.clock.now = 1_000;
        const store = await anew(rig);
        expect(store.now()).toBeGreaterThanOrEqual(seen);
        expect(await keysOf(store)).toEqual(["living"]);
        await live(store, rig.clock, 1_000);
        expect(store.now()).toBeLessThan(seen + HOUR_MS);
        rig.clock.now = seen + 60_000;
        expect(store.now()).toBe(rig.clock.now);
        expect(await store.inspect()).toMatchObject({ entries: 1, expired: 1 });
      }),
    );

    test(
      "and is never set still lets entries expire",
      withRig(open, async (rig) => {
        rig.clock.now = 0;
        const store = await anew(rig);
        await store.put(fact("a", "1", { expiresAt: store.now() + HOUR_MS }));
        await letPass(store, rig.clock, HOUR_MS);
        expect(await keysOf(store)).toEqual([]);
        expect(await store.inspect()).toMatchObject({ expired: 1 });
      }),
    );
  });
}
