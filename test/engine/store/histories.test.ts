/** Histories in a real file: erased completely, checked in slices, and kept when the key changes and in copies and repairs. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { MemoryStore } from "../../../engine/store/memory-store.ts";
import { openSqliteStore, openSqliteStoreToChangeKey } from "../../../engine/store/sqlite/open-sqlite.ts";
import { repairDatabase, verifyDatabase } from "../../../engine/store/sqlite/repair.ts";
import type { SqliteDriver, SqliteStatement } from "../../../engine/store/sqlite/sqlite-driver.ts";
import { ANA, fact, refTo, text } from "../../contract/rig.ts";
import { type Needle, scanFiles } from "./scanning.ts";
import { DRIVERS, OTHER_KEY, openSqliteRig, type SqliteRig } from "./sqlite-rig.ts";

async function shown(store: MemoryStore, key: string): Promise<readonly string[]> {
  return (await store.history(refTo(key))).map((former) => `${former.key}: ${text(former.value)}`);
}

function needleOf(bytes: Uint8Array): Needle {
  return { name: Buffer.from(bytes).toString("hex"), bytes };
}

/** Stores this number of facts twice, with different values. */
async function replaceMany(store: MemoryStore, count: number): Promise<void> {
  const facts = Array.from({ length: count }, (_, i) => fact(`many/${i}`, `first ${i}`));
  await store.putMany(facts);
  await store.putMany(facts.map((one) => ({ ...one, value: Buffer.from(`second ${one.key}`) })));
}

describe.each(DRIVERS)("histories with $name", (driver) => {
  const withRig = (run: (rig: SqliteRig) => Promise<void>) => async (): Promise<void> => {
    const rig = await openSqliteRig(driver);
    try {
      await run(rig);
    } finally {
      await rig.dispose();
    }
  };

  const rowsIn = async ({ path }: SqliteRig): Promise<unknown> => {
    const connection = await driver.open(path, "read");
    const rows = connection.prepare("SELECT count(*) AS n FROM history").get()?.n;
    connection.close();
    return rows;
  };

  // verifies P-history-erased
  test(
    "leave no byte of forgotten, pruned or undone values",
    withRig(async (rig) => {
      const { store, path } = rig;
      const sealed = async (): Promise<readonly Needle[]> => {
        const connection = await driver.open(path, "read");
        const rows = connection
          .prepare("SELECT sealed FROM history UNION ALL SELECT sealed FROM entries")
          .all();
        connection.close();
        // Skips the header, which all envelopes share.
        return rows.map(({ sealed }) => Buffer.from(sealed as Uint8Array).subarray(24, 40)).map(needleOf); // a blob column
      };
      const found = async (needles: readonly Needle[]) =>
        (await scanFiles([rig.folder], needles)).hits.length;
      await store.put(fact("tea", "green".repeat(40)));
      await store.put(fact("tea", "black".repeat(40)));
      await store.put(fact("morning", "coffee".repeat(40)), { supersedes: ["tea"] });
      const before = await sealed();
      expect(before).toHaveLength(3);
      expect(await found(before)).toBeGreaterThanOrEqual(3);
      await store.undo(refTo("morning"));
      const between = await sealed();
      expect(between).toHaveLength(2);
      expect(await found(before)).toBe(0);
      await store.deleteWhere({ namespace: ANA, origins: ["fact"], key: "tea" });
      expect(await found([...before, ...between])).toBe(0);
      expect(await rowsIn(rig)).toBe(0);
    }),
  );

  // verifies P-history-erased
  test(
    "are all checked if there are many, including later writes",
    withRig(async (rig) => {
      const { store, options } = rig;
      await replaceMany(store, 900);
      await store.put(fact("secret", "to be forgotten"));
      await store.put(fact("keeper", "of it"), { supersedes: ["secret"] });
      await store.put(fact("secret", "again"));
      // Writes like another process, between the last slice and the transaction that deletes the entry.
      const write = () => {
        void store.put(fact("many/0", "in a hurry"), { supersedes: ["secret"] });
        void store.putMany([]); // what waits is written at once
      };
      const other = await openSqliteStore({ ...options, driver: whenLookedThrough(driver, write) });
      const forgetting = other.deleteWhere({ namespace: ANA, origins: ["fact"], key: "secret" });
      expect(await forgetting).toMatchObject({ erased: expect.any(String), former: 2 });
      await other.close();
      expect(await shown(store, "keeper")).toEqual([]);
      expect(await shown(store, "many/0")).toEqual(["many/0: second many/0", "many/0: first 0"]);
      expect(await rowsIn(rig)).toBe(901);
    }),
  );

  test(
    "without entries of a scope need only one transaction, and readers keep their position",
    withRig(async ({ store }) => {
      await store.put(fact("tea", "green"));
      await store.put(fact("tea", "black"));
      await store.put(fact("milk", "none"));
      const changes = await store.changes({ namespace: ANA, since: 0 });
      const since = changes.kind === "changes" ? changes.cursor : 0;
      await store.delete(refTo("milk"));
      expect(await store.changes({ namespace: ANA, since })).toMatchObject({ kind: "changes", upserts: [] });
    }),
  );

  // verifies P-key-change
  test(
    "open only under the changed key, including values replaced during the change",
    withRig(async (rig) => {
      const { store, path, options } = rig;
      for (const value of ["green", "black"]) await store.put(fact("tea", value));
      for (const value of ["whole", "half"]) await store.put(fact("milk", value));
      await store.close();
      const newKey = OTHER_KEY;
      const changing = await openSqliteStoreToChangeKey({ path, driver, key: options.key });
      await changing.beginKeyChange(newKey);
      await changing.put(fact("tea", "white"));
      await changing.put(fact("tea", "oolong"));
      await changing.reseal();
      await changing.finishKeyChange();
      await changing.close();
      const again = await openSqliteStore({ ...options, key: newKey });
      expect(await shown(again, "tea")).toEqual(["tea: white", "tea: black", "tea: green"]);
      expect(await shown(again, "milk")).toEqual(["milk: whole"]);
      expect(await again.inspect()).toMatchObject({ entries: 2, unreadable: 0 });
      await again.close();
    }),
  );

  test(
    "are named if one does not open, and are copied to a repaired database",
    withRig(async (rig) => {
      const { store, path, options } = rig;
      for (const value of ["green", "black", "white"]) await store.put(fact("tea", value));
      await store.close();
      const connection = await driver.open(path, "write");
      connection.exec(
        "UPDATE history SET sealed = zeroblob(80) WHERE number = (SELECT min(number) FROM history)",
      );
      connection.close();
      const damaged = await openSqliteStore(options);
      expect(await shown(damaged, "tea")).toEqual(["tea: black"]);
      expect(await damaged.inspect()).toMatchObject({ entries: 1, unreadable: 1 });
      await damaged.close();
      const { key } = options;
      expect(await verifyDatabase({ path, key, driver })).toMatchObject({ history: 1, unreadable: 1 });
      const to = join(path, "..", "repaired.sqlite");
      await repairDatabase({ path, key, driver, to });
      const repaired = await openSqliteStore({ ...options, path: to });
      expect(await shown(repaired, "tea")).toEqual(["tea: black"]);
      await repaired.undo(refTo("tea"));
      expect(text((await repaired.get(refTo("tea")))?.value)).toBe("black");
      await repaired.close();
    }),
  );
});

/** Calls back once, after the transaction that checks the last slice of many histories. */
function whenLookedThrough(driver: SqliteDriver, callback: () => void): SqliteDriver {
  let isLast = false;
  let callOnce = callback;
  const watched = (sql: string, statement: SqliteStatement): SqliteStatement => ({
    get: (...values) => statement.get(...values),
    all: (...values) => {
      const rows = statement.all(...values);
      if (sql.includes("FROM history LEFT JOIN")) isLast = rows.length < 200;
      return rows;
    },
    run: (...values) => {
      const done = statement.run(...values);
      if (sql === "COMMIT" && isLast) {
        callOnce();
        callOnce = () => {};
      }
      return done;
    },
  });
  return {
    ...driver,
    open: async (path, mode) => {
      const connection = await driver.open(path, mode);
      return {
        exec: (sql) => connection.exec(sql),
        prepare: (sql) => watched(sql, connection.prepare(sql)),
        close: () => connection.close(),
        get inTransaction() {
          return connection.inTransaction;
        },
      };
    },
  };
}
