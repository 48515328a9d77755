/** A database that is moved, deleted, restored or overwritten while it is open: no write is acknowledged and then lost. */
import { execFile, execFileSync } from "node:child_process";
import { renameSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, symlink, unlink, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import type { MemoryReader, MemoryStore } from "../../../engine/store/memory-store.ts";
import { openSqliteReader, openSqliteStore } from "../../../engine/store/sqlite/open-sqlite.ts";
import type { SqliteDriver } from "../../../engine/store/sqlite/sqlite-driver.ts";
import { ANA, allKeys, fact, refTo } from "../../contract/rig.ts";
import { childPath, spawnChild } from "./processes.ts";
import { DRIVERS, openSqliteRig, type SqliteRig } from "./sqlite-rig.ts";

const run = promisify(execFile);
/** Uses another process, because closing a copied file would release SQLite's locks on it. */
const copyFile = (from: string, to: string) => run("cp", [from, to]);

const CALLS: Readonly<Record<string, (store: MemoryStore) => Promise<unknown>>> = {
  put: (store) => store.put(fact("late", "x")),
  putMany: (store) => store.putMany([fact("late", "x")]),
  delete: (store) => store.delete(refTo("first")),
  deleteWhere: (store) => store.deleteWhere({ namespace: ANA }),
  deleteExpired: (store) => store.deleteExpired(),
  putVectors: (store) => store.deleteOtherVectors({ namespace: ANA, space: "s", ids: [] }),
  get: (store) => store.get(refTo("first")),
  list: (store) => store.list({ namespace: ANA }),
  countWhere: (store) => store.countWhere({ namespace: ANA }),
  changes: (store) => store.changes({ namespace: ANA, since: 0 }),
  revision: (store) => store.revision(ANA),
  namespaces: (store) => store.namespaces(),
  inspect: (store) => store.inspect(),
};

// verifies P-durable-replaced
describe.each(DRIVERS)("with $name,", (driver) => {
  const using = (work: (rig: SqliteRig) => Promise<void>) => async (): Promise<void> => {
    const rig = await openSqliteRig(driver);
    try {
      await rig.store.put(fact("first", "1"));
      await work(rig);
    } finally {
      await rig.dispose();
    }
  };

  /** A copy of the file while no process has the database open. */
  async function backUp(rig: SqliteRig): Promise<string> {
    await rig.store.close();
    const backup = `${rig.path}.backup`;
    await copyFile(rig.path, backup);
    return backup;
  }

  async function refused(store: MemoryReader, code: string, now?: string): Promise<void> {
    for (const [name, call] of Object.entries(CALLS)) {
      if (!(name in store)) continue;
      const details = now === undefined ? {} : { details: { now } };
      await expect(call(store as MemoryStore), name).rejects.toMatchObject({ code, ...details });
    }
  }

  async function keysAt(path: string, rig: SqliteRig): Promise<readonly string[]> {
    const reader = await openSqliteReader({ ...rig.options, path });
    const keys = [...(await allKeys(reader))].sort();
    expect((await reader.inspect()).integrity).toBe("ok");
    await reader.close();
    return keys;
  }

  describe("a database that is moved away", () => {
    test(
      "keeps all acknowledged writes, and refuses everything else",
      using(async (rig) => {
        const elsewhere = join(rig.folder, "elsewhere.sqlite");
        await rename(rig.path, elsewhere);
        await refused(rig.store, "store_replaced", "moved");
        expect(await keysAt(elsewhere, rig)).toEqual(["first"]);
        await rig.store.close();
        await rename(elsewhere, rig.path);
        const again = await rig.openAgain();
        expect(await allKeys(again)).toEqual(["first"]);
        await again.put(fact("second", "2"));
      }),
    );

    test(
      "with its folder is complete at the new location",
      using(async (rig) => {
        const moved = `${rig.folder}-moved`;
        await rename(rig.folder, moved);
        await refused(rig.store, "store_replaced", "moved");
        await rig.store.close();
        expect(await keysAt(join(moved, "memory.sqlite"), rig)).toEqual(["first"]);
        await rename(moved, rig.folder);
      }),
    );

    test(
      "and moved back is not used by processes that had it open until they reopen it",
      using(async (rig) => {
        await rename(rig.path, `${rig.path}.away`);
        await refused(rig.store, "store_replaced");
        await rename(`${rig.path}.away`, rig.path);
        await refused(rig.store, "store_replaced");
        expect(await allKeys(await rig.openAgain())).toEqual(["first"]);
      }),
    );

    test(
      "by its link refuses everything, and its target is not moved",
      using(async (rig) => {
        const link = join(rig.folder, "link.sqlite");
        await symlink(rig.path, link);
        const store = await openSqliteStore({ ...rig.options, path: link });
        await store.put(fact("second", "2"));
        const other = join(rig.folder, "other.sqlite");
        await (await openSqliteStore({ ...rig.options, path: other })).close();
        await unlink(link);
        await symlink(other, link);
        await refused(store, "store_replaced", "other");
        await store.close();
        expect([...(await allKeys(rig.store))].sort()).toEqual(["first", "second"]);
        expect(await keysAt(other, rig)).toEqual([]);
      }),
    );
  });

  describe("a deleted database", () => {
    const endings: Readonly<Record<string, readonly string[]>> = {
      "with its log": ["", "-wal", "-shm"],
      "without its log": [""],
    };
    for (const [how, parts] of Object.entries(endings)) {
      test(
        `${how} refuses everything, and can be replaced by a new one`,
        using(async (rig) => {
          for (const part of parts) await rm(`${rig.path}${part}`);
          await refused(rig.store, "store_replaced", "deleted");
          await rig.store.close();
          const again = await rig.openAgain();
          expect(await allKeys(again)).toEqual([]);
          await again.put(fact("second", "2"));
          await again.close();
          expect(await keysAt(rig.path, rig)).toEqual(["second"]);
        }),
      );
    }
  });

  describe("a removed log", () => {
    for (const parts of [["-wal"], ["-shm"], ["-wal", "-shm"]]) {
      test(
        `(${parts.join(" and ")}) ends the store, and acknowledged writes are saved to the database`,
        using(async (rig) => {
          for (const part of parts) await rm(`${rig.path}${part}`);
          await refused(rig.store, "store_replaced", "log");
          await rig.store.close();
          expect(await keysAt(rig.path, rig)).toEqual(["first"]);
        }),
      );
    }

    test(
      "that another process has started again loses no data that can be saved",
      using(async (rig) => {
        await rig.store.deleteWhere({ namespace: ANA, key: "none" });
        for (const part of ["-wal", "-shm"]) await rm(`${rig.path}${part}`);
        const child = spawnChild(childPath("open-and-put.ts"), [driver.name, rig.path]);
        const { code } = await child.result();
        await refused(rig.store, "store_replaced", "log");
        await rig.store.close();
        const keys = await keysAt(rig.path, rig); // fails if the file is damaged
        if (code === undefined) expect(keys).toHaveLength(1);
      }),
    );
  });

  describe("a restored backup", () => {
    const ways: Readonly<Record<string, (backup: string, path: string) => Promise<unknown>>> = {
      "by renaming": (backup, path) => rename(backup, path),
      "by deleting and copying": async (backup, path) => {
        await rm(path);
        await copyFile(backup, path);
      },
    };
    for (const [way, restore] of Object.entries(ways)) {
      test(
        `${way} is used at the next opening, intact and without data of the former log`,
        using(async (rig) => {
          const backup = await backUp(rig);
          const store = await rig.openAgain();
          await store.putMany(Array.from({ length: 50 }, (_, i) => fact(`after/${i}`, "x".repeat(300))));
          await restore(backup, rig.path);
          await refused(store, "store_replaced", "other");
          await store.close();
          const again = await rig.openAgain();
          expect(await allKeys(again)).toEqual(["first"]);
          await again.put(fact("second", "2"));
          await again.close();
          expect(await keysAt(rig.path, rig)).toEqual(["first", "second"]);
        }),
      );
    }

    test(
      "is detected if it was restored between the check and the end of a write",
      using(async (rig) => {
        await rig.store.close();
        const away = `${rig.path}.away`;
        let isArmed = false;
        const moving: SqliteDriver = {
          ...driver,
          open: async (path, mode) => {
            const connection = await driver.open(path, mode);
            return {
              exec: (sql) => connection.exec(sql),
              get inTransaction() {
                return connection.inTransaction;
              },
              close: () => connection.close(),
              prepare: (sql) => {
                const statement = connection.prepare(sql);
                if (sql !== "COMMIT") return statement;
                return {
                  ...{ get: statement.get, all: statement.all },
                  run: () => {
                    if (isArmed) renameSync(rig.path, away);
                    isArmed = false;
                    statement.run();
                  },
                };
              },
            };
          },
        };
        const store = await openSqliteStore({ ...rig.options, driver: moving });
        isArmed = true;
        await expect(store.put(fact("second", "2"))).rejects.toMatchObject({ code: "store_replaced" });
        await store.close();
      }),
    );

    test(
      "with the same store id and another generation counts as another database",
      using(async (rig) => {
        await rig.tamper("UPDATE store SET generation = generation + 1");
        await expect(rig.store.put(fact("late", "x"))).rejects.toMatchObject({ code: "store_replaced" });
        await refused(rig.store, "store_replaced", "other");
        await (await rig.openAgain()).put(fact("second", "2"));
      }),
    );
  });

  describe("a backup that is copied over the open file", () => {
    /** Fifty facts in a backup, and fifty more that were written later and moved from the log into the database. */
    async function overwritten(rig: SqliteRig, hasLog: boolean): Promise<MemoryStore> {
      await rig.store.putMany(Array.from({ length: 50 }, (_, i) => fact(`before/${i}`, "x".repeat(300))));
      const backup = await backUp(rig);
      const store = await rig.openAgain();
      await store.putMany(Array.from({ length: 50 }, (_, i) => fact(`after/${i}`, "x".repeat(300))));
      await store.delete(refTo("first")); // checkpoints the log
      if (hasLog) await store.put(fact("in the log", "x"));
      await copyFile(backup, rig.path);
      return store;
    }

    test(
      "is store_corrupt at once and permanently, also for processes that open it with the log",
      using(async (rig) => {
        const store = await overwritten(rig, true);
        await refused(store, "store_corrupt");
        await expect(rig.openAgain()).rejects.toMatchObject({ code: "store_corrupt" });
        await store.close();
        await expect(rig.openAgain()).rejects.toMatchObject({ code: "store_corrupt" });
        // The steps of docs/errors.md.
        for (const part of ["-wal", "-shm"]) await rm(`${rig.path}${part}`);
        expect(await allKeys(await rig.openAgain(), { limit: 1_000 })).toHaveLength(51);
      }),
    );

    test(
      "is also store_corrupt if the log is empty; the backup is not damaged",
      using(async (rig) => {
        const store = await overwritten(rig, false);
        await refused(store, "store_corrupt");
        await store.close();
        expect(await keysAt(rig.path, rig)).toHaveLength(51);
      }),
    );

    test(
      "does not get the log of a process that ends without another call",
      using(async (rig) => {
        const store = await overwritten(rig, true);
        await store.close();
        const [backup, now] = await Promise.all([readFile(`${rig.path}.backup`), readFile(rig.path)]);
        expect(now.equals(backup)).toBe(true);
        for (const part of ["-wal", "-shm"]) await rm(`${rig.path}${part}`);
        expect(await allKeys(await rig.openAgain(), { limit: 1_000 })).toHaveLength(51);
      }),
    );

    test(
      "is store_corrupt also if it was copied there during the check of a touched file",
      using(async (rig) => {
        const backup = await backUp(rig);
        let isChecking = false;
        const late: SqliteDriver = {
          ...driver,
          isWhole: (path) => {
            isChecking = true;
            return driver.isWhole(path);
          },
          open: async (path, mode) => {
            const { exec, prepare, close } = await driver.open(path, mode);
            const closeLate = () => {
              close();
              if (isChecking) execFileSync("cp", [backup, path]);
              isChecking = false;
            };
            return { exec, prepare, close: closeLate, inTransaction: false };
          },
        };
        const store = await openSqliteStore({ ...rig.options, driver: late });
        await store.putMany(Array.from({ length: 50 }, (_, i) => fact(`after/${i}`, "x".repeat(300))));
        await store.delete(refTo("first")); // checkpoints the log
        await utimes(rig.path, 1, 1);
        await store.get(refTo("after/1")).catch(() => undefined);
        await expect(store.put(fact("late", "x"))).rejects.toMatchObject({ code: "store_corrupt" });
        await store.close();
      }),
    );

    test(
      "and then replaced by a valid file is used at the next opening",
      using(async (rig) => {
        const store = await overwritten(rig, true);
        await refused(store, "store_corrupt");
        await copyFile(`${rig.path}.backup`, `${rig.path}.good`);
        await rename(`${rig.path}.good`, rig.path);
        await refused(store, "store_replaced", "other");
      }),
    );
  });

  /** The log of a killed process, in a separate folder. */
  async function leftLog(rig: SqliteRig): Promise<string> {
    const folder = join(rig.folder, "left");
    await mkdir(folder);
    await copyFile(`${rig.path}-wal`, join(folder, "memory.sqlite-wal"));
    return join(folder, "memory.sqlite");
  }

  test(
    "a log that a killed process left is not checkpointed into a restored database: store_corrupt, and no byte changes",
    using(async (rig) => {
      await rig.store.putMany(Array.from({ length: 50 }, (_, i) => fact(`before/${i}`, "x".repeat(300))));
      const backup = await backUp(rig);
      const store = await rig.openAgain();
      await store.putMany(Array.from({ length: 50 }, (_, i) => fact(`after/${i}`, "x".repeat(300))));
      await store.delete(refTo("first"));
      await store.put(fact("in the log", "x"));
      const path = await leftLog(rig);
      await copyFile(backup, path);
      const before = await bytesOf(dirname(path));
      await expect(openSqliteStore({ ...rig.options, path })).rejects.toMatchObject({
        code: "store_corrupt",
      });
      const { [`${path}-shm`]: _, ...after } = await bytesOf(dirname(path));
      expect(after).toEqual(before);
    }),
  );

  describe("harmless events", () => {
    test(
      "the whole file is checked while others write",
      using(async (rig) => {
        const other = await driver.open(rig.path, "write");
        const busy: SqliteDriver = {
          ...driver,
          isWhole: (path) => {
            other.exec(
              "BEGIN; UPDATE store SET newest_seq = newest_seq + 1;" +
                "INSERT INTO removals SELECT newest_seq, 'ben', 'mem_gone' FROM store; COMMIT",
            );
            return driver.isWhole(path);
          },
        };
        const store = await openSqliteStore({ ...rig.options, driver: busy });
        await store.get(refTo("first"));
        await utimes(rig.path, 1, 1); // makes the store check the file
        expect(await store.get(refTo("first"))).toBeDefined();
        await store.close();
        other.close();
      }),
    );

    test(
      "the whole file is checked by another thread, which drops no lock of this one",
      using(async (rig) => {
        const here: string[] = [];
        const listening: SqliteDriver = {
          ...driver,
          open: async (path, mode) => {
            const connection = await driver.open(path, mode);
            const prepare: typeof connection.prepare = (sql) => {
              here.push(sql);
              return connection.prepare(sql);
            };
            const { exec, close } = connection;
            return { exec, prepare, close, inTransaction: false };
          },
        };
        const store = await openSqliteStore({ ...rig.options, driver: listening });
        const holder = await driver.open(rig.path, "write");
        holder.exec("BEGIN IMMEDIATE");
        await utimes(rig.path, 1, 1); // makes the store check the file
        expect(await store.get(refTo("first"))).toBeDefined();
        expect(here.filter((sql) => sql.includes("integrity_check"))).toEqual([]);
        const other = `new (require("node:sqlite").DatabaseSync)(process.argv[1]).exec("BEGIN IMMEDIATE")`;
        await expect(run(process.execPath, ["-e", other, rig.path])).rejects.toThrow("database is locked");
        holder.close();
        await store.close();
      }),
    );

    test(
      "accepted: a file that was touched",
      using(async (rig) => {
        await utimes(rig.path, 1, 1);
        await rig.store.put(fact("second", "2"));
        expect([...(await allKeys(rig.store))].sort()).toEqual(["first", "second"]);
      }),
    );

    test(
      "accepted: another program that checkpointed the log",
      using(async (rig) => {
        const other = await driver.open(rig.path, "write");
        other.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
        other.close();
        await rig.store.put(fact("second", "2"));
        expect([...(await allKeys(rig.store))].sort()).toEqual(["first", "second"]);
      }),
    );

    test(
      "accepted: processes that write, delete and sweep at the same time",
      using(async (rig) => {
        const other = await rig.openAgain();
        for (let i = 0; i < 20; i++) {
          await Promise.all([rig.store.put(fact(`a/${i}`, "x")), other.put(fact(`b/${i}`, "x"))]);
          await Promise.all([other.delete(refTo(`a/${i - 1}`)), rig.store.deleteExpired()]);
        }
        expect(await allKeys(rig.store)).toHaveLength(22);
      }),
    );

    test(
      "accepted: a backup that is restored while no process has the database open",
      using(async (rig) => {
        const backup = await backUp(rig);
        await (await rig.openAgain()).close();
        await copyFile(backup, rig.path);
        const again = await rig.openAgain();
        await again.put(fact("second", "2"));
        expect([...(await allKeys(again))].sort()).toEqual(["first", "second"]);
      }),
    );

    test(
      "accepted: many small writes are checkpointed in between, and the log is reused",
      using(async (rig) => {
        for (let i = 0; i < 300; i++) await rig.store.put(fact(`small/${i % 10}`, `${i}`));
        const { size } = await stat(`${rig.path}-wal`);
        for (let i = 0; i < 300; i++) await rig.store.put(fact(`small/${i % 10}`, `${i}`));
        expect((await stat(`${rig.path}-wal`)).size).toBeLessThan(1.5 * size);
        expect(await rig.store.inspect()).toMatchObject({ integrity: "ok", entries: 11 });
      }),
    );

    test(
      "accepted: a long log is checkpointed in between",
      using(async (rig) => {
        for (let i = 0; i < 24; i++)
          await rig.store.put(fact(`big/${i}`, "", { value: Buffer.alloc(500_000, i) }));
        expect((await stat(rig.path)).size).toBeGreaterThan(3_000_000);
        expect((await stat(`${rig.path}-wal`)).size).toBeLessThan(10_000_000);
        expect(await rig.store.inspect()).toMatchObject({ integrity: "ok", entries: 25 });
      }),
    );
  });

  test(
    "a missing database whose log still holds data is not re-created",
    using(async (rig) => {
      const path = await leftLog(rig);
      const opening = openSqliteStore({ ...rig.options, path });
      await expect(opening).rejects.toMatchObject({ code: "store_corrupt" });
      expect(await readdir(dirname(path))).toEqual(["memory.sqlite-wal"]);
      await copyFile(rig.path, path);
      expect(await keysAt(path, rig)).toEqual(["first"]);
    }),
  );
});

async function bytesOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const files = await readdir(folder);
  const contents = files.map(async (name): Promise<[string, string]> => {
    const file = join(folder, name);
    return [file, (await readFile(file)).toString("base64")];
  });
  return Object.fromEntries(await Promise.all(contents));
}
