/** A caller's quota includes sessions and does not affect other callers. */
import { describe, expect, test } from "vitest";
import { namespaceOf } from "../../../engine/store/namespace.ts";
import { openSqliteStore } from "../../../engine/store/sqlite/open-sqlite.ts";
import { ANA, BEN, fact, type StoreRig } from "../../contract/rig.ts";
import { DRIVERS, openSqliteRig, type SqliteRig } from "./sqlite-rig.ts";

const SESSION = namespaceOf("ana", "s1");

const QUOTA = { entries: 3, bytes: 1_000 };
const exceeded = { code: "quota_exceeded", details: { subject: "ana" } };

const onSqlite = DRIVERS.map((driver) => ({
  name: driver.name,
  open: () => openSqliteRig(driver, { quota: QUOTA }),
}));

const running =
  <Rig extends StoreRig>(open: () => Promise<Rig>, run: (rig: Rig) => Promise<void>) =>
  async (): Promise<void> => {
    const rig = await open();
    try {
      await run(rig);
    } finally {
      await rig.dispose();
    }
  };

describe.each(onSqlite)("with $name, a caller with a quota of three entries and 1,000 bytes", ({ open }) => {
  const withQuota = (run: (rig: StoreRig) => Promise<void>) => running<StoreRig>(open, run);

  // verifies P-alone-quota
  test(
    "cannot store a fourth entry, in a session too, and nothing of it is written",
    withQuota(async ({ store }) => {
      await store.putMany([fact("a", "1"), fact("b", "2"), fact("c", "3", { namespace: SESSION })]);
      await expect(store.put(fact("d", "4"))).rejects.toMatchObject(exceeded);
      await expect(store.put(fact("d", "4", { namespace: SESSION }))).rejects.toMatchObject(exceeded);
      expect(await store.countWhere({ namespace: ANA, includeSessions: true })).toBe(3);
      await store.put(fact("theirs", "x", { namespace: BEN }));
    }),
  );

  test(
    "may overwrite existing entries, and store again after forgetting",
    withQuota(async ({ store }) => {
      await store.putMany([fact("a", "1"), fact("b", "2"), fact("c", "3")]);
      await store.put(fact("a", "another value"));
      await store.deleteWhere({ namespace: ANA, key: "b" });
      await store.put(fact("d", "4"));
      await expect(store.put(fact("e", "5"))).rejects.toMatchObject(exceeded);
    }),
  );

  test(
    "cannot store any entry of a batch with too many",
    withQuota(async ({ store }) => {
      const batch = ["a", "b", "c", "d"].map((key) => fact(key, "v"));
      await expect(store.putMany(batch)).rejects.toMatchObject(exceeded);
      expect(await store.countWhere({ namespace: ANA })).toBe(0);
    }),
  );

  test(
    "cannot store values that are too large together, also if one grows",
    withQuota(async ({ store }) => {
      await store.put(fact("a", "x".repeat(500)));
      await expect(store.put(fact("b", "x".repeat(500)))).rejects.toMatchObject(exceeded);
      await store.put(fact("b", "x"));
      await expect(store.put(fact("b", "x".repeat(500)))).rejects.toMatchObject(exceeded);
      expect((await store.get({ namespace: ANA, origin: "fact", key: "b" }))?.value.byteLength).toBe(1);
      await store.put(fact("a", "x"));
      await store.put(fact("b", "x".repeat(500)));
    }),
  );

  test(
    "supersedes nothing by a write that is refused",
    withQuota(async ({ store }) => {
      await store.putMany([fact("a", "x".repeat(500)), fact("b", "y")]);
      const change = await store.changes({ namespace: ANA, since: 0 });
      const refused = store.put(fact("c", "x".repeat(990)), { supersedes: ["b"] });
      await expect(refused).rejects.toMatchObject(exceeded);
      expect(await store.countWhere({ namespace: ANA })).toBe(2);
      expect(await store.changes({ namespace: ANA, since: 0 })).toEqual(change);
    }),
  );

  // verifies P-history-bounded
  test(
    "counts former values, which are dropped first, oldest first",
    withQuota(async ({ store }) => {
      const ref = { namespace: ANA, origin: "fact" as const, key: "a" };
      for (const letter of ["u", "v", "w", "x"]) await store.put(fact("a", letter.repeat(200)));
      const kept = (await store.history(ref)).map(({ value }) => String.fromCharCode(value[0] ?? 0));
      expect(kept).toEqual(["w", "v"]);
      await store.put(fact("b", "x".repeat(500)));
      expect(await store.history(ref)).toEqual([]);
    }),
  );
});

describe.each(onSqlite)("with $name, such a caller", ({ open }) => {
  const withQuota = (run: (rig: SqliteRig) => Promise<void>) => running(open, run);

  test(
    "that exceeds a lowered quota may still forget, and overwrite without growth",
    withQuota(async ({ store, options }) => {
      await store.putMany([fact("a", "1"), fact("b", "22"), fact("c", "3")]);
      const lowered = await openSqliteStore({ ...options, quota: { entries: 1, bytes: 10 } });
      await lowered.put(fact("a", "1"));
      await lowered.put(fact("b", "2"));
      await expect(lowered.put(fact("b", "longer"))).rejects.toMatchObject(exceeded);
      await expect(lowered.put(fact("d", "4"))).rejects.toMatchObject(exceeded);
      expect(await lowered.deleteWhere({ namespace: ANA })).toMatchObject({ deleted: 3 });
      await lowered.close();
    }),
  );

  test(
    "has a usage that matches its rows after any operation",
    withQuota(async (rig) => {
      const { store } = rig;
      await store.putMany([fact("a", "1"), fact("b", "2"), fact("c", "3", { namespace: SESSION })]);
      await store.put(fact("a", "longer than before"));
      await store.put(fact("b", "replaced"));
      await store.deleteWhere({ namespace: ANA, key: "b" });
      await store.put(fact("f", "1"));
      await store.put(fact("a", "b"), { supersedes: ["f"] });
      await store.undo({ namespace: ANA, origin: "fact", key: "a" });
      await store.deleteWhere({ namespace: ANA, key: "f" });
      await store.put(fact("c", "x", { namespace: SESSION }));
      await store.put(fact("d", "x", { expiresAt: rig.clock.now + 1 }));
      await store.close();
      const connection = await rig.options.driver.open(rig.path, "read");
      const counted = connection.prepare("SELECT owner, entries, bytes FROM usage").all();
      const actual = connection
        .prepare(
          `SELECT 'ana' AS owner, (SELECT count(*) FROM entries) AS entries, sum(length(sealed)) AS bytes
           FROM (SELECT sealed FROM entries UNION ALL SELECT sealed FROM history)`,
        )
        .all();
      expect(connection.prepare("SELECT count(*) AS n FROM history").get()).toEqual({ n: 2 });
      connection.close();
      expect(counted).toEqual(actual);
      const again = await openSqliteStore({ ...rig.options, quota: { entries: 1_000 } });
      await again.put(fact("e", "the operator raised it"));
      await again.close();
    }),
  );
});
