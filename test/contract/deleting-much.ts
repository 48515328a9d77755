/** Contract: a long delete hides all its entries from all readers at once, and none that were written since. */
import { describe, expect, test } from "vitest";
import type { MemoryReader } from "../../engine/store/memory-store.ts";
import { type Namespace, namespaceOf } from "../../engine/store/namespace.ts";
import { ANA, allKeys, fact, type OpenRig, refTo, withRig } from "./rig.ts";
import { madeOf } from "./vectors.ts";

/** Some hundred slices. */
const MANY = 600;
const LITTLE = { eraseAtOnce: 2 };

export function describeDeletingMuch(open: OpenRig, { isOnServer }: { readonly isOnServer: boolean }): void {
  describe("deleting much", () => {
    const many = Array.from({ length: MANY }, (_, i) => fact(`many/${i}`, `value ${i}`));

    async function expectHidden(reader: MemoryReader, id: string): Promise<void> {
      expect(await reader.get(refTo("many/2"))).toBeUndefined();
      expect(await allKeys(reader)).toEqual(["stays"]);
      expect(await allKeys(reader, { prefix: "many/" })).toEqual([]);
      expect((await reader.listMeta({ namespace: ANA })).entries.map(({ key }) => key)).toEqual(["stays"]);
      expect(await reader.countWhere({ namespace: ANA })).toBe(1);
      expect(await reader.countWhere({ namespace: ANA, includeSessions: true, prefix: "many/" })).toBe(0);
      expect(await reader.namespaces()).toEqual([{ namespace: ANA, count: 1 }]);
      expect(await reader.categories(ANA)).toEqual([{ origin: "fact", category: "user_facts", count: 1 }]);
      const all = await reader.changes({ namespace: ANA, since: 0, limit: 10_000 });
      expect(all.kind === "changes" && all.upserts.map((entry) => entry.id)).toEqual([id]);
    }

    test(
      "hides entries from every reader before they are erased, and returns when they are",
      withRig(
        open,
        async (rig) => {
          const { store } = rig;
          await store.putMany(many);
          const made = await madeOf(store, fact("many/with vectors", "v"));
          await store.putVectors(ANA, "model", [made]);
          const { entry } = await store.put(fact("stays", "here"));
          const before = await store.changes({ namespace: ANA, since: 0, limit: 10_000 });
          const revision = await store.revision(ANA);
          const reader = (await rig.openReader?.()) ?? store;

          const going = store.deleteWhere({ namespace: ANA, prefix: "many/" });
          if (isOnServer) await going; // a server shows all entries until then; see the store's own test
          for (const one of [store, reader]) {
            await expectHidden(one, entry.id);
            expect(await one.revision(ANA)).toBeGreaterThan(revision);
          }
          expect(await store.vectors({ namespace: ANA, space: "model", ids: [made.id] })).toEqual([]);
          expect(await store.putVectors(ANA, "other", [made])).toEqual([]);
          expect(await store.delete(refTo("many/5"))).toMatchObject({ deleted: 0 });
          if (before.kind !== "changes") throw new Error("read from the beginning");
          const since = await reader.changes({ namespace: ANA, since: before.cursor, limit: 10_000 });
          const removed = since.kind === "changes" ? since.removed.length : MANY + 1;
          expect(removed).toBe(MANY + 1);
          expect(await going).toMatchObject({ deleted: MANY + 1 });
          await expectHidden(store, entry.id);
        },
        LITTLE,
      ),
    );

    test(
      "keeps what is written meanwhile, even with the same keys",
      withRig(
        open,
        async ({ store }) => {
          await store.putMany(many);
          const going = store.deleteWhere({ namespace: ANA, origins: ["fact"] });
          const { replaced } = await store.put(fact(`many/${MANY - 1}`, "anew"));
          expect(replaced).toBeUndefined();
          await store.put(fact("other", "new"));
          expect([...(await allKeys(store))].sort()).toEqual([`many/${MANY - 1}`, "other"]);
          await going;
          expect([...(await allKeys(store))].sort()).toEqual([`many/${MANY - 1}`, "other"]);
        },
        LITTLE,
      ),
    );

    test(
      "makes that memory's readers start over once, and no others",
      withRig(
        open,
        async ({ store }) => {
          const other = fact("theirs", "v", { namespace: namespaceOf("ben") });
          await store.putMany([...many.slice(0, 20), fact("stays", "here"), other]);
          const cursors = await Promise.all([ANA, other.namespace].map((one) => cursorOf(store, one)));
          await store.deleteWhere({ namespace: ANA, prefix: "many/" });
          for (const [i, namespace] of [ANA, other.namespace].entries()) {
            const told = await store.changes({ namespace, since: cursors[i] ?? 0, limit: 10_000 });
            if (namespace === other.namespace) expect(told).toMatchObject({ upserts: [], removed: [] });
            const cursor = await cursorOf(store, namespace);
            expect(await store.changes({ namespace, since: cursor })).toMatchObject({
              upserts: [],
              removed: [],
            });
          }
        },
        LITTLE,
      ),
    );
  });
}

async function cursorOf(store: MemoryReader, namespace: Namespace): Promise<number> {
  const all = await store.changes({ namespace, since: 0, limit: 10_000 });
  if (all.kind !== "changes") throw new Error("read from the beginning");
  return all.cursor;
}
