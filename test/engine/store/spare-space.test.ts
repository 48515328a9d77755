/** Forgetting returns space to the file system. A database of an older version must be compacted first. */
import { copyFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compactDatabase, openSqliteStore } from "../../../engine/store/sqlite/open-sqlite.ts";
import { ANA, fact, refTo, text } from "../../contract/rig.ts";
import { DRIVERS, openSqliteRig, type SqliteRig } from "./sqlite-rig.ts";

const SCHEMA_1 = join(import.meta.dirname, "../../data/memory-schema-1.sqlite");
const INCREMENTAL = 2;

// verifies P-forget-full-disk
describe.each(DRIVERS)("with $name,", (driver) => {
  const using = (run: (rig: SqliteRig) => Promise<void>) => async (): Promise<void> => {
    const rig = await openSqliteRig(driver);
    try {
      await run(rig);
    } finally {
      await rig.dispose();
    }
  };

  async function sizeOf({ path }: SqliteRig): Promise<number> {
    return (await stat(path)).size;
  }

  async function fill({ store }: SqliteRig): Promise<void> {
    const value = Buffer.alloc(60_000, "x");
    await store.putMany(Array.from({ length: 120 }, (_, i) => fact(`large/${i}`, "", { value })));
    await store.put(fact("stays", "here"));
  }

  /** A database as version 0.1 created it: freed pages remain in the file. */
  async function makeOld({ path }: SqliteRig): Promise<void> {
    const connection = await driver.open(path, "write");
    connection.exec("PRAGMA auto_vacuum = NONE; VACUUM");
    connection.close();
  }

  test(
    "the file shrinks by the size of forgotten entries, and keeps everything else",
    using(async (rig) => {
      await fill(rig);
      expect(await rig.store.deleteWhere({ namespace: ANA, prefix: "large/" })).toEqual({
        deleted: 120,
        erased: "complete",
      });
      expect(await sizeOf(rig)).toBeLessThan(1_000_000);
      expect(await rig.store.inspect()).toMatchObject({ entries: 1, unreadable: 0, integrity: "ok" });
    }),
  );

  test(
    "a small database of an older version is rewritten at open",
    using(async (rig) => {
      const path = join(rig.folder, "older.sqlite");
      await copyFile(SCHEMA_1, path);
      const store = await openSqliteStore({ ...rig.options, path });
      const { settings, unreadable, integrity } = await store.inspect();
      expect([settings.autoVacuum, unreadable, integrity]).toEqual([INCREMENTAL, 0, "ok"]);
      await store.close();
    }),
  );

  test(
    "a large one is kept until it is compacted",
    using(async (rig) => {
      await fill(rig);
      await rig.store.close();
      await makeOld(rig);
      const store = await openSqliteStore(rig.options);
      expect((await store.inspect()).settings.autoVacuum).toBe(0);
      await store.deleteWhere({ namespace: ANA, prefix: "large/" });
      await store.put(fact("stays", "here"));
      expect(await sizeOf(rig)).toBeGreaterThan(5_000_000);
      await store.close();
      expect(await compactDatabase(rig.options)).toBe(true);
      expect(await sizeOf(rig)).toBeLessThan(1_000_000);
      expect(await compactDatabase(rig.options)).toBe(false);
      const again = await openSqliteStore(rig.options);
      expect(text((await again.get(refTo("stays")))?.value)).toBe("here");
      await again.close();
    }),
  );
});
