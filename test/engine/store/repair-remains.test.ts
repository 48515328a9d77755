/** Damage may bring back older versions of rows, and deleted rows. Repair accepts neither. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSqliteStore } from "../../../engine/store/sqlite/open-sqlite.ts";
import { repairDatabase } from "../../../engine/store/sqlite/repair.ts";
import { allKeys, fact, refTo, text } from "../../contract/rig.ts";
import { DRIVERS, openSqliteRig, type SqliteRig } from "./sqlite-rig.ts";

// verifies P-durable-damage
describe.each(DRIVERS)("with $name, repair", (driver) => {
  const rigged = (run: (rig: SqliteRig) => Promise<void>) => async (): Promise<void> => {
    const rig = await openSqliteRig(driver);
    try {
      await run(rig);
    } finally {
      await rig.dispose();
    }
  };

  async function exec(rig: SqliteRig, sql: string): Promise<void> {
    const connection = await driver.open(rig.path, "write");
    connection.exec(sql);
    connection.close();
  }

  /** Copies every current row to a table without constraints, like an old page that damage brings back. */
  const keepRows = (rig: SqliteRig) => exec(rig, "CREATE TABLE kept AS SELECT * FROM entries");

  async function bringBack(rig: SqliteRig): Promise<void> {
    const connection = await driver.open(rig.path, "write");
    const columns = connection.prepare("SELECT name FROM pragma_table_info('entries')").all();
    const names = columns.map(({ name }) => `"${name}"${name === "seq" ? " INTEGER PRIMARY KEY" : ""}`);
    connection.exec(
      `PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON;
       CREATE TABLE loose (${names.join(", ")});
       INSERT INTO loose SELECT * FROM entries;
       INSERT INTO loose SELECT * FROM kept WHERE seq NOT IN (SELECT seq FROM entries);
       DROP TABLE entries; DROP TABLE kept;
       ALTER TABLE loose RENAME TO entries;`,
    );
    connection.close();
  }

  async function repaired(rig: SqliteRig) {
    const to = join(rig.folder, "new.sqlite");
    const { path, key } = rig.options;
    await repairDatabase({ path, key, driver, to });
    return openSqliteStore({ ...rig.options, path: to });
  }

  test(
    "keeps the later version of an entry that exists twice",
    rigged(async (rig) => {
      await rig.store.put(fact("editor", "nano"));
      await rig.store.put(fact("shell", "zsh"));
      await keepRows(rig);
      await rig.store.put(fact("editor", "vim"));
      await rig.store.close();
      await bringBack(rig);
      const store = await repaired(rig);
      expect(text((await store.get(refTo("editor")))?.value)).toBe("vim");
      expect([...(await allKeys(store))].sort()).toEqual(["editor", "shell"]);
      await store.close();
    }),
  );

  test(
    "omits deleted entries, and keeps later ones with the same key",
    rigged(async (rig) => {
      await rig.store.put(fact("deleted", "d"));
      await rig.store.put(fact("again", "before"));
      await rig.store.put(fact("stays", "s"));
      await keepRows(rig);
      await rig.store.delete(refTo("deleted"));
      await rig.store.delete(refTo("again"));
      await rig.store.put(fact("again", "after"));
      await rig.store.close();
      await bringBack(rig);
      const store = await repaired(rig);
      expect([...(await allKeys(store))].sort()).toEqual(["again", "stays"]);
      expect(text((await store.get(refTo("again")))?.value)).toBe("after");
      await store.close();
    }),
  );
});
