/** Failures to open: each gives one clear error with a code and a remedy, and leaves the file unchanged. */
import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ErrorCode } from "../../../engine/errors.ts";
import type { MemoryStore } from "../../../engine/store/memory-store.ts";
import {
  openSqliteReader,
  openSqliteStore,
  type SqliteStoreOptions,
} from "../../../engine/store/sqlite/open-sqlite.ts";
import type { SqliteDriver } from "../../../engine/store/sqlite/sqlite-driver.ts";
import { allKeys, fact, refTo, START, text } from "../../contract/rig.ts";
import { handToUnprivileged, whyNotUnprivileged } from "../../run/unprivileged.ts";
import { childPath, spawnChild, spawnUnprivileged } from "./processes.ts";
import { DRIVERS, KEY, makeTempFolder, OTHER_KEY } from "./sqlite-rig.ts";

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await makeTempFolder();
  path = join(folder, "memory.sqlite");
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe.each(DRIVERS)("with $name,", (driver) => {
  const optionsFor = (more: Partial<SqliteStoreOptions> = {}): SqliteStoreOptions => ({
    path,
    key: KEY,
    driver,
    busyTimeoutMs: 50,
    ...more,
  });

  /** Creates a store with one fact, and closes it. */
  async function makeStore(): Promise<void> {
    const store = await openSqliteStore(optionsFor());
    await store.put(fact("editor", "vim"));
    await store.close();
  }

  /** Opening for writing and for reading fails with this code and a remedy, and leaves every file unchanged. */
  async function expectRefused(code: ErrorCode, more: Partial<SqliteStoreOptions> = {}): Promise<void> {
    const before = await snapshot(folder);
    for (const open of [openSqliteStore, openSqliteReader]) {
      await expect(open(optionsFor(more))).rejects.toMatchObject({
        name: "HelmdeckError",
        code,
        message: expect.stringMatching(/\..+\.$|; .+\.$|: .+\.$/s),
      });
      expect(await openDescriptors(folder)).toEqual([]);
    }
    expect(await snapshot(folder)).toEqual(before);
  }

  async function runSql(...statements: readonly string[]): Promise<void> {
    if (!(await exists(path))) await writeFile(path, "");
    const connection = await driver.open(path, "write");
    for (const sql of statements) connection.exec(sql);
    connection.close();
  }

  describe("a location for the database", () => {
    test("is private: folders 0700, every file 0600", async () => {
      const deep = join(folder, "a", "b", "memory.sqlite");
      const store = await openSqliteStore(optionsFor({ path: deep }));
      await store.put(fact("editor", "vim"));
      expect(await modeOf(join(folder, "a"))).toBe(0o700);
      expect(await modeOf(join(folder, "a", "b"))).toBe(0o700);
      const files = (await readdir(join(folder, "a", "b"))).sort();
      expect(files).toEqual(["memory.sqlite", "memory.sqlite-shm", "memory.sqlite-wal"]);
      for (const file of files)
        expect([file, await modeOf(join(folder, "a", "b", file))]).toEqual([file, 0o600]);
      await store.close();
      expect(await readdir(join(folder, "a", "b"))).toEqual(["memory.sqlite"]);
    });

    test("stays private with a permissive umask", async () => {
      const before = process.umask(0);
      try {
        await makeStore();
      } finally {
        process.umask(before);
      }
      expect(await modeOf(path)).toBe(0o600);
    });

    test("may have unusual characters in its name", async () => {
      for (const name of ["file:x?mode=memory", "a b'c\"%#?.sqlite", ":memory:", "日本語.sqlite", "-"]) {
        const odd = join(folder, name);
        const store = await openSqliteStore(optionsFor({ path: odd }));
        await store.put(fact("editor", "vim"));
        await store.close();
        expect((await stat(odd)).size).toBeGreaterThan(0);
        await rm(odd);
      }
      expect(await readdir(folder)).toEqual([]);
    });

    test("may be a link to the file; the log is then beside the file", async () => {
      await mkdir(join(folder, "disk"));
      const real = join(folder, "disk", "real.sqlite");
      await writeFile(real, "");
      await symlink(real, path);
      const store = await openSqliteStore(optionsFor());
      await store.put(fact("editor", "vim"));
      expect((await readdir(join(folder, "disk"))).sort()).toEqual([
        "real.sqlite",
        "real.sqlite-shm",
        "real.sqlite-wal",
      ]);
      await store.close();
      expect((await lstat(path)).isSymbolicLink()).toBe(true);
    });

    test("that is a folder is refused", async () => {
      await mkdir(path);
      await expectRefused("store_unavailable");
    });

    test("that is a named pipe is refused at once", async () => {
      await promisify(execFile)("mkfifo", [path]);
      await expectRefused("store_unavailable");
    });

    test("that is a dangling link is refused, and nothing is created at its target", async () => {
      await symlink(join(folder, "gone"), path);
      await expectRefused("store_unavailable");
    });

    test("that is a link to itself is refused", async () => {
      await symlink(path, path);
      await expectRefused("store_unavailable");
    });

    test("below a file is refused", async () => {
      await writeFile(path, "a file");
      await expectRefused("store_unavailable", { path: join(path, "memory.sqlite") });
    });

    test("that no file system supports is refused", async () => {
      await expectRefused("store_unavailable", { path: join(folder, "nul\0inside") });
      await expectRefused("store_unavailable", { path: join(folder, "x".repeat(300)) });
    });
  });

  /** SQLite's journal for a database that had no pages yet: the rollback empties the file. */
  function journalOfNothing(): Uint8Array {
    const journal = Buffer.alloc(512);
    journal.write("d9d505f920a163d7", "hex");
    journal.writeUInt32BE(512, 20); // the sector size; the journal has no pages, and the database had none
    journal.writeUInt32BE(4_096, 24); // the page size
    return journal;
  }

  test("a first page torn by a power cut is rolled back by the journal beside it", async () => {
    await writeFile(path, Buffer.alloc(4_096, "torn"));
    await writeFile(`${path}-journal`, journalOfNothing());
    await makeStore();
    const store = await openSqliteStore(optionsFor());
    expect(text((await store.get(refTo("editor")))?.value)).toBe("vim");
    await store.close();
  });

  describe("another program's file", () => {
    test.each([
      ["text", "just some notes that somebody keeps\n".repeat(200)],
      ["a few bytes", "x"],
      ["another format", `SQLite format 2\0${"\0".repeat(5_000)}`],
    ])("%s is not changed", async (_what, content) => {
      await writeFile(path, content);
      await expectRefused("store_not_ours");
    });

    test("a database with tables is not changed", async () => {
      await runSql("CREATE TABLE memory_entries (id TEXT)", "INSERT INTO memory_entries VALUES ('theirs')");
      await expectRefused("store_not_ours");
    });

    test("a database in WAL mode is not changed", async () => {
      await runSql("PRAGMA journal_mode = WAL", "CREATE TABLE theirs (id TEXT)");
      await expectRefused("store_not_ours");
    });

    test("a database with another program's mark is not changed, although it is empty", async () => {
      await runSql("PRAGMA application_id = 252006674", "CREATE TABLE t (a)", "DROP TABLE t");
      await expectRefused("store_not_ours");
    });

    test("a database with a foreign schema version is not changed, although it is empty", async () => {
      await runSql("PRAGMA user_version = 3", "CREATE TABLE t (a)", "DROP TABLE t");
      await expectRefused("store_not_ours");
    });
  });

  describe("a memory database", () => {
    // verifies P-upgrade-opens
    test("from a newer program is store_newer", async () => {
      await makeStore();
      await runSql("PRAGMA user_version = 99");
      await expectRefused("store_newer");
    });

    test("under another key is key_wrong, and opens again under its own", async () => {
      await makeStore();
      await expectRefused("key_wrong", { key: OTHER_KEY });
      const store = await openSqliteStore(optionsFor());
      expect(text((await store.get(refTo("editor")))?.value)).toBe("vim");
      await store.close();
    });

    test("without entries still detects a wrong key", async () => {
      await (await openSqliteStore(optionsFor())).close();
      await expectRefused("key_wrong", { key: OTHER_KEY });
    });

    test.each([
      ["a page", (size: number) => size - 4_096],
      ["a half", (size: number) => size / 2],
      ["all but the first page", () => 4_096],
      ["all but the header", () => 100],
    ])("truncated by %s is store_corrupt", async (_what, sizeAfter) => {
      await makeStore();
      await truncate(path, sizeAfter((await stat(path)).size));
      await expectRefused("store_corrupt");
    });

    test("emptied, with its log still present, is store_corrupt, and the log is kept", async () => {
      const store = await openSqliteStore(optionsFor());
      await store.put(fact("editor", "vim"));
      const log = join(folder, "log");
      // Uses another process: reading the files in this one would release the store's locks.
      await promisify(execFile)("cp", [`${path}-wal`, log]);
      await store.close();
      await rename(log, `${path}-wal`);
      await truncate(path, 0);
      await expectRefused("store_corrupt");
    });

    test("without its tables is store_corrupt", async () => {
      await makeStore();
      await runSql("DROP TABLE store");
      await expectRefused("store_corrupt");
    });

    test("without the store's own row is store_corrupt", async () => {
      await makeStore();
      await runSql("DELETE FROM store");
      await expectRefused("store_corrupt");
    });

    test("with its mark but no schema is store_corrupt", async () => {
      await makeStore();
      await runSql("PRAGMA user_version = 0");
      await expectRefused("store_corrupt");
    });

    test("overwritten in the middle fails at the damaged page, and inspect reports it", async () => {
      const store = await openSqliteStore(optionsFor());
      await store.putMany(Array.from({ length: 500 }, (_, i) => fact(`k${i}`, "x".repeat(500))));
      await store.close();
      const content = await readFile(path);
      content.fill(0xff, 40 * 4_096, 60 * 4_096);
      await writeFile(path, content);
      const reader = await openSqliteReader(optionsFor());
      await expect(reader.list({ namespace: refTo("k").namespace, limit: 1_000 })).rejects.toMatchObject({
        code: "store_corrupt",
      });
      expect(await reader.inspect()).toMatchObject({ integrity: "damaged" });
      await reader.close();
    });
  });

  describe("permission", () => {
    /** Runs the child script as an account that file modes restrict. */
    const put = async (): Promise<unknown> => {
      const child = await spawnUnprivileged("open-and-put.ts", [driver.name, path]);
      return (await child.result()).code;
    };
    beforeEach((context) => context.skip(whyNotUnprivileged !== undefined, whyNotUnprivileged));

    test("to write in the folder is missing: store_readonly, nothing created", async () => {
      handToUnprivileged(folder);
      await chmod(folder, 0o555);
      expect(await put()).toBe("store_readonly");
      expect(await readdir(folder)).toEqual([]);
    });

    test("to write in the folder was removed: store_readonly", async () => {
      await makeStore();
      handToUnprivileged(folder);
      await chmod(folder, 0o555);
      expect(await put()).toBe("store_readonly");
      expect(await readdir(folder)).toEqual(["memory.sqlite"]);
    });

    test("to write the file was removed: store_readonly", async () => {
      await makeStore();
      handToUnprivileged(folder);
      await chmod(path, 0o400);
      expect(await put()).toBe("store_readonly");
    });

    test("to search the folder is missing: store_unavailable", async () => {
      await makeStore();
      handToUnprivileged(folder);
      await chmod(folder, 0o000);
      expect(await put()).toBe("store_unavailable");
    });
  });

  describe("a locked database", () => {
    const hold = async (...statements: readonly string[]) => {
      const child = spawnChild(childPath("hold-lock.ts"), [driver.name, path, ...statements]);
      await child.next();
      return async () => {
        child.process.stdin?.end();
        await child.ended();
      };
    };

    test("that is being created by a process that does not finish is store_locked", async () => {
      await writeFile(path, "");
      const release = await hold("BEGIN EXCLUSIVE");
      await expect(openSqliteStore(optionsFor())).rejects.toMatchObject({ code: "store_locked" });
      await release();
      await makeStore();
    });

    test("that another process locks exclusively is store_locked", async () => {
      await makeStore();
      const release = await hold(
        "PRAGMA locking_mode = EXCLUSIVE",
        "BEGIN EXCLUSIVE",
        "UPDATE store SET prunes = prunes",
      );
      await expect(openSqliteStore(optionsFor())).rejects.toMatchObject({ code: "store_locked" });
      await expect(openSqliteReader(optionsFor())).rejects.toMatchObject({ code: "store_locked" });
      await release();
      await makeStore();
    });

    test("with an active writer opens and reads; a write waits, is store_locked, and then works", async () => {
      await makeStore();
      const release = await hold("BEGIN EXCLUSIVE");
      const store = await openSqliteStore(optionsFor());
      expect(text((await store.get(refTo("editor")))?.value)).toBe("vim");
      for (const write of WRITES) await expect(write(store)).rejects.toMatchObject({ code: "store_locked" });
      await release();
      for (const write of WRITES) await write(store);
      await store.close();
    });
  });

  // verifies P-durable-full-disk
  describe("a full disk", () => {
    test("is store_full; that write is rolled back, earlier ones are intact", async () => {
      const store = await openSqliteStore(optionsFor({ driver: withPageLimit(driver, 60) }));
      const batch = Array.from({ length: 200 }, (_, i) => fact(`batch${i}`, "x".repeat(2_000)));
      await store.put(fact("before", "v"));
      await expect(store.putMany(batch)).rejects.toMatchObject({ code: "store_full" });
      expect(await allKeys(store)).toEqual(["before"]);
      const stored = await fillUp(store);
      expect(stored).toBeGreaterThan(0);
      expect(await store.inspect()).toMatchObject({ entries: 1 + stored, unreadable: 0, integrity: "ok" });
      await store.delete(refTo("k0"));
      await store.put(fact("after", "room again"));
      await store.close();
    });

    test("at open is store_full", async () => {
      await expect(openSqliteStore(optionsFor({ driver: withPageLimit(driver, 2) }))).rejects.toMatchObject({
        code: "store_full",
      });
      await makeStore();
    });

    /** The result of a child on a separate small file system; undefined if the test may not mount one. */
    async function onSmallDisk(child: string, size: string, ...more: readonly string[]) {
      const mounted = [
        ...["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"],
        `mount -t tmpfs -o size=${size} tmpfs "${folder}" && exec "$@"`,
        "sh",
      ];
      const works = await promisify(execFile)(mounted[0] ?? "", [...mounted.slice(1), "true"]).then(
        () => true,
        () => false,
      );
      return works
        ? spawnChild(childPath(child), [driver.name, folder, ...more], { under: mounted }).result()
        : undefined;
    }

    test.runIf(process.platform === "linux")(
      "that is really full, on a separate small file system",
      async (context) => {
        const seen = await onSmallDisk("fill-disk.ts", "1m");
        if (seen === undefined) return context.skip("this machine lets nobody mount");
        const { stored } = seen;
        expect(seen).toMatchObject({ full: "store_full", readable: stored, integrity: "ok", unreadable: 0 });
        expect(Number(stored)).toBeGreaterThan(10);
        expect(seen.entries).toBe(Number(stored) + 1);
      },
    );

    // The library makes no difference to what is freed, so one shows it after an import too.
    const filledBy = driver === DRIVERS[0] ? ["stores", "import"] : ["stores"];
    // verifies P-forget-full-disk
    test.runIf(process.platform === "linux").for(filledBy)(
      "can be freed after %s: forgetting works without a free byte, and frees its space",
      async (by, context) => {
        const seen = await onSmallDisk("forget-on-full-disk.ts", "48m", by);
        if (seen === undefined) return context.skip("this machine lets nobody mount");
        expect(seen).toMatchObject({ full: "store_full", freeWhenFull: 0, integrity: "ok", unreadable: 0 });
        expect(seen.reserve).toBe("600 8388608 true");
        expect(seen.few).toMatchObject({ deleted: 1 });
        expect(seen.all).toMatchObject({ erased: "complete" });
        expect(seen.freeAfter).toBeGreaterThan(25_000_000);
        expect(seen).toMatchObject({ entries: 1, reserveAgain: seen.reserve });
      },
    );
  });

  describe("a reader", () => {
    test("creates nothing if there is no database", async () => {
      const missing = join(folder, "no", "such", "place", "memory.sqlite");
      await expect(openSqliteReader(optionsFor({ path: missing }))).rejects.toMatchObject({
        code: "store_unavailable",
      });
      expect(await readdir(folder)).toEqual([]);
    });

    test("does not initialize an empty file", async () => {
      await writeFile(path, "");
      await expect(openSqliteReader(optionsFor())).rejects.toMatchObject({ code: "store_unavailable" });
      expect((await stat(path)).size).toBe(0);
    });

    test("cannot write, whatever its connection is used for", async () => {
      await makeStore();
      const connection = await driver.open(path, "read");
      expect(() => connection.exec("DELETE FROM entries")).toThrow();
      connection.close();
    });

    test("does not sweep: expired entries stay until a writer opens the database", async () => {
      const store = await openSqliteStore(optionsFor({ now: () => START }));
      await store.put(fact("editor", "vim", { expiresAt: START + 1 }));
      await store.close();
      const reader = await openSqliteReader(optionsFor({ now: () => START + 1 }));
      expect(await reader.get(refTo("editor"))).toBeUndefined();
      expect(await reader.inspect()).toMatchObject({ entries: 0, expired: 1 });
      await reader.close();
    });
  });
});

test("better-sqlite3 would trim the path and open another file, so such a path is refused", async () => {
  const [driver] = DRIVERS;
  if (driver === undefined) throw new Error("two drivers");
  const opening = openSqliteStore({ path: `${path} `, key: KEY, driver });
  await expect(opening).rejects.toMatchObject({ code: "store_unavailable" });
});

const WRITES: readonly ((store: MemoryStore) => Promise<unknown>)[] = [
  (store) => store.put(fact("b", "2")),
  (store) => store.putMany([fact("b", "2")]),
  (store) => store.delete(refTo("a")),
  (store) => store.deleteWhere({ namespace: refTo("a").namespace, key: "a" }),
  (store) => store.deleteExpired(),
];

/** Simulates a disk with room for this number of the database's pages. */
function withPageLimit(driver: SqliteDriver, pages: number): SqliteDriver {
  return {
    ...driver,
    open: async (file, mode) => {
      const connection = await driver.open(file, mode);
      connection.exec(`PRAGMA max_page_count = ${pages}`);
      return connection;
    },
  };
}

/** Puts entries until one does not fit; returns the number stored. */
async function fillUp(store: MemoryStore): Promise<number> {
  for (let stored = 0; ; stored++) {
    const error: unknown = await store.put(fact(`k${stored}`, "x".repeat(2_000))).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error === undefined) continue;
    expect(error).toMatchObject({ code: "store_full" });
    return stored;
  }
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

async function modeOf(file: string): Promise<number> {
  return (await stat(file)).mode & 0o777;
}

/**
 * A hash of every file in a folder, except an empty log and a log's index, which a read-only opening may leave. Call this only
 * while no process has the files open: reading releases SQLite's locks.
 */
async function snapshot(root: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files: Record<string, string> = {};
  for (const entry of entries) {
    const file = join(entry.parentPath, entry.name);
    const content = entry.isFile() ? await readFile(file) : "not a file";
    if (file.endsWith("-shm") || (file.endsWith("-wal") && content.length === 0)) continue;
    files[file] = hash("sha256", content);
  }
  return files;
}

/** Files in a folder that this process still has open. Only Linux lists these. */
async function openDescriptors(root: string): Promise<readonly string[]> {
  if (process.platform !== "linux") return [];
  const links = await Promise.all(
    (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")),
  );
  return links.filter((link) => link.startsWith(root));
}
