/** Contract: closing, reopening, reading next to a writer, and working with a row that cannot be decrypted. */
import { describe, expect, test } from "vitest";
import type {
  Erasure,
  MemoryReader,
  MemoryStore,
  StoreCapabilities,
} from "../../engine/store/memory-store.ts";
import { follow } from "./feed.ts";
import {
  ANA,
  allKeys,
  fact,
  HOUR_MS,
  KEPT_EXPIRED_MS,
  letPass,
  type OpenRig,
  refTo,
  type StoreRig,
  text,
  withRig,
} from "./rig.ts";

const READS: Readonly<Record<string, (store: MemoryReader) => Promise<unknown>>> = {
  get: (store) => store.get(refTo("a")),
  list: (store) => store.list({ namespace: ANA }),
  listMeta: (store) => store.listMeta({ namespace: ANA }),
  countWhere: (store) => store.countWhere({ namespace: ANA }),
  changes: (store) => store.changes({ namespace: ANA, since: 0 }),
  revision: (store) => store.revision(ANA),
  namespaces: (store) => store.namespaces(),
  categories: (store) => store.categories(ANA),
  usage: (store) => store.usage(ANA),
  subjects: (store) => store.subjects(undefined, 1),
  inspect: (store) => store.inspect(),
};

const WRITES: Readonly<Record<string, (store: MemoryStore) => Promise<unknown>>> = {
  put: (store) => store.put(fact("b", "2")),
  putMany: (store) => store.putMany([fact("b", "2")]),
  delete: (store) => store.delete(refTo("a")),
  deleteWhere: (store) => store.deleteWhere({ namespace: ANA }),
  deleteExpired: (store) => store.deleteExpired(),
  vectorSpaces: (store) => store.vectorSpaces(),
  vectors: (store) => store.vectors({ namespace: ANA, space: "model", ids: [] }),
  putVectors: (store) => store.putVectors(ANA, "model", []),
  deleteOtherVectors: (store) => store.deleteOtherVectors({ namespace: ANA, space: "model", ids: [] }),
};

export function describeLifecycle(open: OpenRig, capabilities: StoreCapabilities): void {
  describe("closing", () => {
    test(
      "can be repeated, and every later call fails",
      withRig(open, async ({ store }) => {
        await store.put(fact("a", "1"));
        await store.close();
        await store.close();
        for (const call of [...Object.values(READS), ...Object.values(WRITES)]) {
          await expect(call(store)).rejects.toMatchObject({ code: "store_unavailable" });
        }
      }),
    );
  });

  describe("inspecting", () => {
    test(
      "counts entries and finds them undamaged",
      withRig(open, async ({ store }) => {
        await store.putMany([fact("a", "1"), fact("b", "2")]);
        const report = await store.inspect();
        expect(report).toMatchObject({ entries: 2, expired: 0, unreadable: 0, integrity: "ok" });
        expect(report.backend).not.toBe("");
      }),
    );

    test(
      "reports its capabilities correctly",
      withRig(open, async ({ store, openAgain, openReader }) => {
        expect(store.capabilities).toEqual(capabilities);
        expect(openAgain !== undefined).toBe(capabilities.persistent);
        expect(openReader !== undefined).toBe(capabilities.shared);
      }),
    );
  });

  describe.runIf(capabilities.persistent)("a persistent store", () => {
    test(
      "has everything when it is reopened, and continues its numbering",
      withRig(open, async (rig) => {
        const { entry } = await rig.store.put(fact("a", "1", { category: "tools", tags: ["x"] }));
        const { cursor } = await cursorAtEnd(rig.store);
        const before = await rig.store.get(refTo("a"));
        await rig.store.close();
        const again = await openAgain(rig);
        expect(await again.get(refTo("a"))).toEqual(before);
        await again.put(fact("a", "2"));
        const changes = await again.changes({ namespace: ANA, since: cursor });
        expect(changes.kind === "changes" && changes.upserts.map(({ id }) => id)).toEqual([entry.id]);
      }),
    );
  });

  describe.runIf(capabilities.shared)("a shared store", () => {
    test(
      "shows each process the other's writes, and gives both the same change order",
      withRig(open, async (rig) => {
        const other = await openAgain(rig);
        await rig.store.put(fact("a", "1"));
        expect(text((await other.get(refTo("a")))?.value)).toBe("1");
        const { cursor } = await cursorAtEnd(rig.store);
        const revision = await rig.store.revision(ANA);
        await other.put(fact("b", "2"));
        await other.delete(refTo("a"));
        expect(await rig.store.revision(ANA)).toBeGreaterThan(revision);
        const changes = await rig.store.changes({ namespace: ANA, since: cursor });
        expect(changes).toMatchObject({ upserts: [{ key: "b" }], removed: [expect.any(String)] });
      }),
    );

    test(
      "gives a reader the same results as a writer",
      withRig(open, async (rig) => {
        await rig.store.putMany([fact("a", "1"), fact("b", "2", { expiresAt: rig.clock.now + HOUR_MS })]);
        const reader = await openReader(rig);
        for (const [name, read] of Object.entries(READS)) {
          if (name === "inspect") continue; // the settings in its answer differ
          expect([name, await read(reader)]).toEqual([name, await read(rig.store)]);
        }
        await rig.store.put(fact("c", "3"));
        expect([...(await allKeys(reader))].sort()).toEqual(["a", "b", "c"]);
        rig.clock.now += HOUR_MS;
        expect([...(await allKeys(reader))].sort()).toEqual(["a", "c"]);
        expect(await reader.get(refTo("b"))).toBeUndefined();
        expect(await reader.inspect()).toMatchObject({ entries: 2, expired: 1, integrity: "ok" });
      }),
    );

    test(
      "has no write methods for a reader",
      withRig(open, async (rig) => {
        await rig.store.put(fact("a", "1"));
        const reader = await openReader(rig);
        for (const name of Object.keys(WRITES)) expect(name in reader).toBe(false);
      }),
    );

    test(
      "lets a reader close twice, and refuses its later calls",
      withRig(open, async (rig) => {
        const reader = await openReader(rig);
        await reader.close();
        await reader.close();
        for (const read of Object.values(READS)) {
          await expect(read(reader)).rejects.toMatchObject({ code: "store_unavailable" });
        }
      }),
    );
  });
}

/** Only for stores whose rows a test can damage from outside. */
export function describeDamage(open: OpenRig, erased: Erasure["erased"]): void {
  describe("a row that does not open", () => {
    const withDamage = (run: (rig: StoreRig) => Promise<void>) =>
      withRig(open, async (rig) => {
        await rig.store.putMany([
          fact("first", "1", { updatedAt: 1 }),
          fact("bad", "2", { updatedAt: 2 }),
          fact("last", "3", { updatedAt: 3 }),
        ]);
        await rig.damage?.(refTo("bad"));
        await run(rig);
      });

    test(
      "makes a get fail with entry_unreadable, which names the key and shows no value",
      withDamage(async ({ store }) => {
        await expect(store.get(refTo("bad"))).rejects.toMatchObject({
          code: "entry_unreadable",
          message: expect.stringContaining("bad"),
        });
        expect(text((await store.get(refTo("first")))?.value)).toBe("1");
      }),
    );

    test(
      "is reported by a listing, which continues; pages of any size agree",
      withDamage(async ({ store }) => {
        const page = await store.list({ namespace: ANA });
        expect(page.entries.map((entry) => entry.key)).toEqual(["last", "first"]);
        expect(page.unreadable).toEqual([{ id: expect.any(String), origin: "fact", key: "bad" }]);
        expect(await allKeys(store, { limit: 1 })).toEqual(["last", "first"]);
        expect(await store.inspect()).toMatchObject({ entries: 3, unreadable: 1 });
      }),
    );

    test(
      "is reported by the change feed, which continues; pages of any size agree",
      withDamage(async ({ store }) => {
        const changes = await store.changes({ namespace: ANA, since: 0 });
        expect(changes).toMatchObject({ unreadable: [{ key: "bad" }], more: false });
        expect([...(await follow(store, 0, 1)).values()].map((entry) => entry.key)).toEqual([
          "first",
          "last",
        ]);
      }),
    );

    test(
      "can be deleted, by key and by filter, because deleting never decrypts",
      withDamage(async ({ store }) => {
        expect(await store.delete(refTo("bad"))).toMatchObject({ deleted: 1 });
        expect((await store.list({ namespace: ANA })).unreadable).toEqual([]);
        expect(await store.deleteWhere({ namespace: ANA })).toMatchObject({ deleted: 2 });
      }),
    );

    test(
      "is deleted with its namespace",
      withDamage(async ({ store }) => {
        expect(await store.countWhere({ namespace: ANA })).toBe(3);
        expect(await store.deleteWhere({ namespace: ANA })).toMatchObject({ deleted: 3 });
        expect(await store.inspect()).toMatchObject({ entries: 0, unreadable: 0 });
      }),
    );

    test(
      "is never swept, because its expiry may be forged; it stays hidden, and is reported",
      withRig(open, async ({ store, clock, damage }) => {
        await store.put(fact("bad", "1", { expiresAt: clock.now + 1 }));
        await damage?.(refTo("bad"));
        await letPass(store, clock, KEPT_EXPIRED_MS + HOUR_MS);
        expect(await store.inspect()).toMatchObject({ expired: 1, unreadable: 1 });
        expect(await store.get(refTo("bad"))).toBeUndefined();
        expect(await store.deleteWhere({ namespace: ANA })).toMatchObject({ erased });
        expect(await store.inspect()).toMatchObject({ expired: 0, unreadable: 0 });
      }),
    );

    test(
      "is repaired by putting again, which creates a new entry",
      withDamage(async ({ store, clock }) => {
        const old = (await store.list({ namespace: ANA })).unreadable[0];
        const { entry, replaced } = await store.put(fact("bad", "good"));
        expect(replaced).toBeUndefined();
        expect(entry.id).not.toBe(old?.id);
        expect(entry.createdAt).toBe(clock.now);
        expect(text((await store.get(refTo("bad")))?.value)).toBe("good");
        expect((await store.list({ namespace: ANA })).unreadable).toEqual([]);
      }),
    );
  });
}

async function cursorAtEnd(store: MemoryReader): Promise<{ readonly cursor: number }> {
  const changes = await store.changes({ namespace: ANA, since: 0 });
  if (changes.kind === "start_over") throw new Error("told to start over from 0");
  return changes;
}

function openAgain(rig: StoreRig): Promise<MemoryStore> {
  if (rig.openAgain === undefined) throw new Error("the rig of a persistent store can open again");
  return rig.openAgain();
}

function openReader(rig: StoreRig): Promise<MemoryReader> {
  if (rig.openReader === undefined) throw new Error("the rig of a shared store can open a reader");
  return rig.openReader();
}
