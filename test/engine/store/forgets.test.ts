/** Large forgets: other work continues meanwhile, and another process finishes the work of a killed one. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSqliteStore } from "../../../engine/store/sqlite/open-sqlite.ts";
import { ANA, allKeys, BEN, DAY_MS, fact, refTo } from "../../contract/rig.ts";
import { scanFiles } from "./scanning.ts";
import { DRIVERS, openSqliteRig, type SqliteRig } from "./sqlite-rig.ts";

/** Many slices of few entries. */
const MANY = 400;
/** So many that others get their turns before the end, also on a fast machine. */
const VERY_MANY = 4_000;
const SLICE = { eraseAtOnce: 4 };
const ALL_MEANT = { namespace: ANA, prefix: "many/" };

describe.each(DRIVERS)("with $name,", (driver) => {
  const withMany =
    (run: (rig: SqliteRig) => Promise<void>, count = MANY) =>
    async (): Promise<void> => {
      const rig = await openSqliteRig(driver, SLICE);
      try {
        await rig.store.putMany(Array.from({ length: count }, (_, i) => fact(`many/${i}`, `value ${i}`)));
        await rig.store.put(fact("stays", "here"));
        await run(rig);
      } finally {
        await rig.dispose();
      }
    };

  async function rowsIn(rig: SqliteRig): Promise<number> {
    const connection = await driver.open(rig.path, "read");
    const counted = connection.prepare("SELECT count(*) AS n FROM entries").get();
    connection.close();
    return Number(counted?.n);
  }

  async function aCiphertext(rig: SqliteRig, key: string): Promise<Uint8Array> {
    const connection = await driver.open(rig.path, "read");
    const row = connection.prepare("SELECT sealed FROM entries WHERE key = ?").get(key);
    connection.close();
    return row?.sealed instanceof Uint8Array ? row.sealed.slice(-16) : new Uint8Array();
  }

  // verifies P-quiet-long-work
  test(
    "other callers read and write during a forget, in this process and through another connection",
    withMany(async (rig) => {
      const other = await rig.openAgain();
      let isOver = false;
      const going = rig.store.deleteWhere(ALL_MEANT).finally(() => {
        isOver = true;
      });
      const rowsAfterWrites: number[] = [];
      while (!isOver) {
        await other.put(fact("bens", "v", { namespace: BEN }));
        await rig.store.get(refTo("stays"));
        rowsAfterWrites.push(await rowsIn(rig));
        await new Promise((resolve) => setImmediate(resolve));
      }
      // Some rows are deleted and others are not yet: the write did not wait for the end.
      expect(rowsAfterWrites.some((rows) => rows > VERY_MANY / 100 && rows < VERY_MANY)).toBe(true);
      expect(await going).toEqual({ deleted: VERY_MANY, erased: "complete" });
    }, VERY_MANY),
  );

  // verifies P-disk-forgotten
  test(
    "the entries of an interrupted forget stay hidden, and the next process that opens the store for writing finishes it",
    withMany(async (rig) => {
      const bytes = await aCiphertext(rig, `many/${MANY - 1}`);
      const going = rig.store.deleteWhere(ALL_MEANT).catch((error: unknown) => error);
      await rig.store.close();
      expect(await going).toMatchObject({ code: "store_unavailable" });
      expect(await rowsIn(rig)).toBeGreaterThan(MANY / 2);

      const reader = await rig.openReader();
      expect(await allKeys(reader)).toEqual(["stays"]);
      await reader.close();
      const store = await openSqliteStore(rig.options);
      expect(await allKeys(store)).toEqual(["stays"]);
      await expect.poll(() => rowsIn(rig)).toBe(1);
      await store.deleteExpired();
      const { hits } = await scanFiles(
        [rig.folder],
        [
          { name: "ciphertext", bytes },
          { name: "prefix", bytes: Buffer.from("many/") },
        ],
      );
      expect(hits).toEqual([]);
      await store.close();
    }),
  );

  test(
    "a sweep also finishes an interrupted forget, and reports it only then",
    withMany(async (rig) => {
      const again = await rig.openAgain();
      const going = rig.store.deleteWhere(ALL_MEANT).catch(() => undefined);
      await rig.store.close();
      await going;
      expect(await again.deleteExpired()).toEqual({ deleted: 0, erased: "complete" });
      expect(await rowsIn(rig)).toBe(1);
    }),
  );

  // verifies P-condition-judged
  test(
    "an interrupted forget of what was shown leaves what was stored since, also in the process that finishes it",
    withMany(async (rig) => {
      const upTo = await rig.store.revision(ANA, { includeSessions: true });
      await rig.store.put(fact("many/new", "v"));
      await rig.store.put(fact("many/0", "changed"));
      const left = ["many/0", "many/new", "stays"];
      const going = rig.store.deleteWhere({ ...ALL_MEANT, upTo }).catch(() => undefined);
      await rig.store.close();
      await going;
      const reader = await rig.openReader();
      expect([...(await allKeys(reader))].sort()).toEqual(left);
      await reader.close();
      const store = await openSqliteStore(rig.options);
      await expect.poll(() => rowsIn(rig)).toBe(left.length);
      expect([...(await allKeys(store))].sort()).toEqual(left);
      await store.close();
    }),
  );

  test("correcting the clock does not restore entries that are being forgotten", async () => {
    const rig = await openSqliteRig(driver, SLICE);
    const { clock } = rig;
    const right = clock.now + 90 * DAY_MS;
    clock.now = 5_000; // before the program's build date, so certainly wrong
    const store = await openSqliteStore({ ...rig.options, path: join(rig.folder, "early.sqlite") });
    try {
      await store.putMany(Array.from({ length: MANY }, (_, i) => fact(`many/${i}`, `value ${i}`)));
      await store.put(fact("early", "here"));
      const going = store.deleteWhere(ALL_MEANT);
      clock.now = right;
      await store.put(fact("stays", "here"));
      expect((await store.get(refTo("early")))?.updatedAt).toBeGreaterThan(right - DAY_MS);
      expect([...(await allKeys(store))].sort()).toEqual(["early", "stays"]);
      await going;
      expect([...(await allKeys(store))].sort()).toEqual(["early", "stays"]);
    } finally {
      await store.close();
      await rig.dispose();
    }
  });
});
