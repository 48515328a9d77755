/** Contract: an index can always update itself from the change feed, or is told to start over. */
import { describe, expect, test } from "vitest";
import type { Changes, MemoryReader } from "../../engine/store/memory-store.ts";
import {
  ANA,
  BEN,
  fact,
  HOUR_MS,
  KEPT_EXPIRED_MS,
  letPass,
  type OpenRig,
  refTo,
  START,
  type StoreRig,
  text,
  withRig,
} from "./rig.ts";

type Answer = Extract<Changes, { readonly kind: "changes" }>;

export function describeFeed(open: OpenRig): void {
  describeRevision(open);
  describe("the change feed", () => {
    test(
      "returns everything from 0, and nothing from the returned cursor",
      withRig(open, async ({ store }) => {
        await store.putMany([fact("a", "1"), fact("b", "2")]);
        const all = await changesSince(store, 0);
        expect(all.upserts.map((entry) => [entry.key, text(entry.value)])).toEqual([
          ["a", "1"],
          ["b", "2"],
        ]);
        expect([all.removed, all.unreadable, all.more]).toEqual([[], [], false]);
        const none = await changesSince(store, all.cursor);
        expect(none).toEqual({ ...none, upserts: [], removed: [], unreadable: [], more: false });
        expect(none.cursor).toBe(all.cursor);
      }),
    );

    test(
      "returns a cursor for an empty store",
      withRig(open, async ({ store }) => {
        const { cursor } = await changesSince(store, 0);
        await store.put(fact("a", "1"));
        expect((await changesSince(store, cursor)).upserts.map((entry) => entry.key)).toEqual(["a"]);
      }),
    );

    test(
      "reports an overwrite as an upsert of the same id, and only the last of several",
      withRig(open, async ({ store }) => {
        const first = await store.put(fact("a", "1"));
        const { cursor } = await changesSince(store, 0);
        await store.put(fact("a", "2"));
        await store.put(fact("a", "3"));
        const { upserts } = await changesSince(store, cursor);
        expect(upserts.map((entry) => [entry.id, text(entry.value)])).toEqual([[first.entry.id, "3"]]);
      }),
    );

    test(
      "reports a refresh, because it changes the expiry",
      withRig(open, async ({ store }) => {
        await store.put(fact("a", "1"));
        const { cursor } = await changesSince(store, 0);
        await store.put(fact("a", "1", { expiresAt: START + HOUR_MS }));
        expect((await changesSince(store, cursor)).upserts).toMatchObject([{ expiresAt: START + HOUR_MS }]);
      }),
    );

    test(
      "reports deletions, however they were made",
      withRig(open, async ({ store, clock }) => {
        const results = await store.putMany([
          fact("a", "1"),
          fact("b", "2"),
          fact("c", "3", { expiresAt: START + HOUR_MS }),
          fact("stays", "4"),
        ]);
        const { cursor } = await changesSince(store, 0);
        await store.delete(refTo("a"));
        await store.deleteWhere({ namespace: ANA, prefix: "b" });
        await letPass(store, clock, HOUR_MS + KEPT_EXPIRED_MS);
        const changes = await changesSince(store, cursor);
        expect(changes.removed).toEqual(results.slice(0, 3).map((result) => result.entry.id));
        expect(changes.upserts).toMatchObject([{ origin: "cache", key: "facts/ended" }]);
      }),
    );

    test(
      "distinguishes a deleted entry from a new one with the same key",
      withRig(open, async ({ store }) => {
        const old = await store.put(fact("a", "1"));
        const { cursor } = await changesSince(store, 0);
        await store.delete(refTo("a"));
        const fresh = await store.put(fact("a", "2"));
        const changes = await changesSince(store, cursor);
        expect(changes.removed).toEqual([old.entry.id]);
        expect(changes.upserts.map((entry) => entry.id)).toEqual([fresh.entry.id]);
      }),
    );

    test(
      "reports the old entry as removed when a put replaces an expired one",
      withRig(open, async ({ store, clock }) => {
        const old = await store.put(fact("a", "1", { expiresAt: START + 1 }));
        const { cursor } = await changesSince(store, 0);
        clock.now += 1;
        const fresh = await store.put(fact("a", "1"));
        const changes = await changesSince(store, cursor);
        expect(changes.removed).toEqual([old.entry.id]);
        expect(changes.upserts.map((entry) => entry.id)).toEqual([fresh.entry.id]);
      }),
    );

    test(
      "reports an entry as removed when its shortened life has ended",
      withRig(open, async ({ store, clock }) => {
        const { entry } = await store.put(fact("a", "1"));
        const { cursor } = await changesSince(store, 0);
        await store.put(fact("a", "1", { expiresAt: START + 1 }));
        clock.now += 1;
        const changes = await changesSince(store, cursor);
        expect([changes.upserts, changes.removed]).toEqual([[], [entry.id]]);
      }),
    );

    test(
      "contains only its namespace's changes, and never goes back",
      withRig(open, async ({ store }) => {
        await store.put(fact("a", "1"));
        const { cursor } = await changesSince(store, 0);
        await store.put(fact("b", "2", { namespace: BEN }));
        await store.delete(refTo("b", { namespace: BEN }));
        const mine = await changesSince(store, cursor);
        expect([mine.upserts, mine.removed]).toEqual([[], []]);
        expect(mine.cursor).toBeGreaterThanOrEqual(cursor);
      }),
    );

    test(
      "returns pages of any size, in order, and reports whether there are more",
      withRig(open, async ({ store }) => {
        await store.putMany(Array.from({ length: 10 }, (_, i) => fact(`k${i}`, "v")));
        await store.deleteWhere({ namespace: ANA, key: "k3" });
        await store.put(fact("k0", "again"));
        for (const limit of [1, 3, 9, 10, 11]) {
          const replica = await follow(store, 0, limit);
          expect([...replica.values()].map((entry) => entry.key)).toEqual([
            ...["k1", "k2", "k4", "k5", "k6", "k7", "k8", "k9"],
            "k0",
          ]);
        }
        expect((await changesSince(store, 0, 10)).more).toBe(false);
        expect((await changesSince(store, 0, 9)).more).toBe(true);
      }),
    );

    for (const limit of [0, -1, 10_001, 1.5, Number.NaN]) {
      test(
        `refuses the page size ${limit}`,
        withRig(open, async ({ store }) => {
          const refusal = { code: "invalid_input", details: { field: "limit" } };
          await expect(store.changes({ namespace: ANA, since: 0, limit })).rejects.toMatchObject(refusal);
        }),
      );
    }

    for (const since of [-1, 0.5, Number.NaN, Number.MAX_SAFE_INTEGER, 2 ** 60, 1_000]) {
      test(
        `starts over from ${since}, a cursor that it never returned`,
        withRig(open, async ({ store }) => {
          await store.put(fact("a", "1"));
          expect(await store.changes({ namespace: ANA, since })).toEqual({ kind: "start_over" });
        }),
      );
    }
  });

  describe("the change feed after pruning", () => {
    const few = { keepRemovals: 5 };

    test(
      "makes a reader start over that missed a removal",
      withRig(
        open,
        async ({ store }) => {
          await store.putMany([fact("a", "1"), fact("b", "2")]);
          const { cursor } = await changesSince(store, 0);
          await store.delete(refTo("a"));
          await churn(store, 20);
          expect(await store.changes({ namespace: ANA, since: cursor })).toEqual({ kind: "start_over" });
          expect([...(await follow(store, 0)).values()].map((entry) => entry.key)).toEqual(["b"]);
        },
        few,
      ),
    );

    test(
      "makes a reader start over that missed the replacement of an expired entry",
      withRig(
        open,
        async ({ store, clock }) => {
          await store.put(fact("a", "1"));
          const { cursor } = await changesSince(store, 0);
          for (let i = 0; i < 20; i++) {
            await store.put(fact("short-lived", "v", { expiresAt: clock.now + 1 }));
            clock.now += 1;
          }
          expect(await store.changes({ namespace: ANA, since: cursor })).toEqual({ kind: "start_over" });
        },
        few,
      ),
    );

    test(
      "starts over for a subject whose name was dropped after its last entry, whatever was stored since",
      withRig(open, async ({ store }) => {
        await store.put(fact("a", "1"));
        const late = (await changesSince(store, 0)).cursor;
        await store.deleteWhere({ namespace: ANA, includeSessions: true });
        expect((await changesSince(store, late)).removed).toHaveLength(1);
        await store.deleteExpired();
        const { cursor } = await changesSince(store, 0);
        for (const keys of [[], ["b"], ["b", "c"]]) {
          for (const key of keys.slice(-1)) await store.put(fact(key, "1"));
          expect(await store.changes({ namespace: ANA, since: late })).toEqual({ kind: "start_over" });
          const shown = [...(await follow(store, cursor, 1)).values()].map((entry) => entry.key);
          expect(shown).toEqual(keys);
        }
        const last = (await changesSince(store, 0)).cursor;
        await store.delete(refTo("b"));
        expect((await changesSince(store, last)).removed).toHaveLength(1);
      }),
    );

    test(
      "continues for a reader that missed no removal",
      withRig(
        open,
        async ({ store }) => {
          await churn(store, 20);
          const { entry } = await store.put(fact("a", "1"));
          const { cursor } = await changesSince(store, 0);
          await store.delete(refTo("a"));
          expect((await changesSince(store, cursor)).removed).toEqual([entry.id]);
        },
        few,
      ),
    );

    test(
      "continues a first paged read although its early pages are from before the pruning",
      withRig(
        open,
        async ({ store }) => {
          await store.putMany(Array.from({ length: 8 }, (_, i) => fact(`k${i}`, "v")));
          await churn(store, 20);
          expect((await follow(store, 0, 1)).size).toBe(8);
        },
        few,
      ),
    );

    test(
      "restarts a first read when removals are pruned during it, and loses none",
      withRig(
        open,
        async ({ store }) => {
          await store.putMany(Array.from({ length: 8 }, (_, i) => fact(`k${i}`, "v")));
          const part = await changesSince(store, 0, 4);
          await store.delete(refTo("k0"));
          await churn(store, 20);
          expect(await store.changes({ namespace: ANA, since: part.cursor })).toEqual({ kind: "start_over" });
        },
        few,
      ),
    );

    test(
      "never makes a frequent reader start over, however much is pruned",
      withRig(
        open,
        async ({ store }) => {
          let { cursor } = await changesSince(store, 0);
          for (let i = 0; i < 30; i++) {
            await churn(store, 1);
            const changes = await changesSince(store, cursor);
            expect(changes.removed).toHaveLength(1);
            cursor = changes.cursor;
          }
        },
        few,
      ),
    );
  });
}

function describeRevision(open: OpenRig): void {
  describe("the revision", () => {
    test(
      "is a position in the change feed: reading from it returns exactly the later writes",
      withRig(open, async ({ store }) => {
        await store.putMany([fact("a", "1"), fact("b", "1"), fact("c", "1")]);
        const revision = await store.revision(ANA);
        await store.put(fact("b", "2"));
        await store.put(fact("d", "1"));
        const { upserts } = await changesSince(store, revision);
        expect(upserts.map(({ key }) => key)).toEqual(["b", "d"]);
      }),
    );

    test(
      "grows with every write and delete, and not with reads",
      withRig(open, async ({ store, clock }) => {
        const soon = { expiresAt: START + 1 };
        const steps: readonly (() => Promise<unknown>)[] = [
          () => store.put(fact("a", "1")),
          () => store.put(fact("a", "1")),
          () => store.putMany([fact("b", "2", soon), fact("c", "3", { origin: "audit" })]),
          () => store.delete(refTo("a")),
          () => store.deleteWhere({ namespace: ANA, origins: ["audit"] }),
          () => letPass(store, clock, KEPT_EXPIRED_MS + HOUR_MS),
        ];
        let revision = await store.revision(ANA);
        for (const step of steps) {
          await step();
          const next = await store.revision(ANA);
          expect(next).toBeGreaterThan(revision);
          await store.list({ namespace: ANA });
          await store.deleteWhere({ namespace: ANA, key: "not there" });
          expect(await store.revision(ANA)).toBe(next);
          revision = next;
        }
      }),
    );

    test(
      "of a namespace does not change with another's",
      withRig(open, async ({ store }) => {
        await store.put(fact("a", "1"));
        const revision = await store.revision(ANA);
        await store.put(fact("b", "2", { namespace: BEN }));
        expect(await store.revision(ANA)).toBe(revision);
        expect(await store.revision(BEN)).not.toBe(revision);
      }),
    );

    test(
      "never decreases when removals are pruned",
      withRig(
        open,
        async ({ store }) => {
          await store.putMany([fact("a", "1"), fact("b", "2")]);
          let revision = await store.revision(ANA);
          await store.delete(refTo("a"));
          for (let i = 0; i < 20; i++) {
            await store.put(fact("k", `${i}`, { namespace: BEN }));
            await store.delete(refTo("k", { namespace: BEN }));
            const next = await store.revision(ANA);
            expect(next).toBeGreaterThan(i === 0 ? revision : revision - 1);
            revision = next;
          }
        },
        { keepRemovals: 2 },
      ),
    );
  });
}

/** Puts and deletes one of Ana's entries repeatedly. */
async function churn(store: StoreRig["store"], times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    await store.put(fact("churn", `${i}`));
    await store.delete(refTo("churn"));
  }
}

/** Returns the changes; fails if the answer is to start over. */
async function changesSince(store: MemoryReader, since: number, limit?: number): Promise<Answer> {
  const changes = await store.changes({ namespace: ANA, since, ...(limit === undefined ? {} : { limit }) });
  if (changes.kind === "start_over") throw new Error(`told to start over from ${since}`);
  return changes;
}

/** A replica of Ana's entries by id, in the feed's order, read from a cursor to the end. */
export async function follow(
  store: MemoryReader,
  since: number,
  limit?: number,
): Promise<ReadonlyMap<string, Answer["upserts"][number]>> {
  const replica = new Map<string, Answer["upserts"][number]>();
  for (let cursor = since, more = true; more; ) {
    const changes = await changesSince(store, cursor, limit);
    for (const entry of changes.upserts) replica.set(entry.id, entry);
    for (const id of changes.removed) replica.delete(id);
    ({ cursor, more } = changes);
  }
  return replica;
}
