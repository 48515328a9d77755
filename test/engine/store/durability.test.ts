/** Every writing connection syncs its log before a commit returns. The tests in test/durability check the effect. */
import { describe, expect, test } from "vitest";
import { openSqliteStore } from "../../../engine/store/sqlite/open-sqlite.ts";
import type { SqliteDriver } from "../../../engine/store/sqlite/sqlite-driver.ts";
import { fact, refTo } from "../../contract/rig.ts";
import { DRIVERS, openSqliteRig } from "./sqlite-rig.ts";

// verifies P-durable-sync
describe.each(DRIVERS)("with $name,", (driver) => {
  test("synchronous is FULL after the first write, and the log is in use", async () => {
    const rig = await openSqliteRig(driver);
    try {
      await rig.store.put(fact("editor", "vim"));
      expect((await rig.store.inspect()).settings).toMatchObject({
        journalMode: "wal",
        synchronous: 2,
        secureDelete: 1,
      });
      const again = await rig.openAgain();
      await again.put(fact("editor", "emacs"));
      expect((await again.inspect()).settings).toMatchObject({ synchronous: 2 });
    } finally {
      await rig.dispose();
    }
  });

  test("a connection that does not sync refuses to write, with the reason", async () => {
    const rig = await openSqliteRig(driver);
    const lax: SqliteDriver = {
      ...driver,
      open: async (path, mode) => {
        const connection = await driver.open(path, mode);
        const exec = (sql: string): void => {
          connection.exec(sql.replace("synchronous = FULL", "synchronous = NORMAL"));
        };
        return { ...connection, exec, prepare: connection.prepare, close: connection.close };
      },
    };
    const store = await openSqliteStore({ ...rig.options, driver: lax });
    try {
      await expect(store.put(fact("editor", "vim"))).rejects.toMatchObject({
        code: "internal",
        message: expect.stringContaining("synchronous is 1"),
      });
      expect(await rig.store.get(refTo("editor"))).toBeUndefined();
    } finally {
      await store.close();
      await rig.dispose();
    }
  });
});
