/** Absent memory gives an empty answer at once. A memory that cannot be trusted gives an error. */
import { chmod, copyFile, mkdir, rm, truncate, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { askEverything, projectFact, SeamHome } from "./fixtures.ts";
import { fingerprintOf } from "./hashes.ts";

async function filledHome(): Promise<SeamHome> {
  const home = await SeamHome.make();
  await home.store([projectFact("decisions", "db", "one file database")]);
  return home;
}

/** Each case leaves no memory. The pattern is the message that a person should read on stderr. */
const ABSENT: readonly (readonly [string, (home: SeamHome) => Promise<unknown>, RegExp])[] = [
  [
    "the database does not exist",
    (home) => rm(dirname(home.databasePath), { recursive: true }),
    /does not exist; nothing has been stored yet/,
  ],
  ["the key does not exist", (home) => rm(home.keyPath), /key file .* is missing/],
  [
    "neither the database nor the key exists",
    async (home) => {
      await rm(dirname(home.databasePath), { recursive: true });
      await rm(home.keyPath);
    },
    /^Memory is absent: .*no key and no database yet/,
  ],
  [
    "the database is an empty file",
    async (home) => {
      await rm(dirname(home.databasePath), { recursive: true });
      await mkdir(dirname(home.databasePath));
      await writeFile(home.databasePath, "");
    },
    /is empty/,
  ],
];

// verifies P-look-changes-nothing
describe("absent memory", () => {
  test.each(ABSENT)(
    "because %s gives nothing, reports why, and creates nothing",
    async (_how, remove, why) => {
      const home = await filledHome();
      await remove(home);
      const before = await fingerprintOf(home.folder);
      expect(await home.seam().recallHere({ phase: "work" })).toBe("");
      expect(home.notes).toEqual([expect.stringMatching(why)]);
      expect(await home.seam().offerSaveHere({}, { body: "b" })).toEqual([]);
      expect(home.notes).toEqual([expect.stringMatching(why)]);
      expect(await home.seam().statePath({}, "plan")).toMatch(/repo\/\.harness\/PLAN\.md$/);
      await askEverything(home.seam(), home.repo);
      expect(await fingerprintOf(home.folder)).toEqual(before);
    },
  );

  test("because another process locks the database gives nothing without waiting", async () => {
    const home = await filledHome();
    // Uses the same library, because two copies of SQLite in one process do not see each other's locks.
    const holder = await betterSqliteDriver.open(home.databasePath, "write");
    try {
      holder.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; DELETE FROM removals");
      const started = performance.now();
      expect(await home.seam().recallHere({ phase: "work" })).toBe("");
      expect(await home.seam().offerSaveHere({}, { body: "b" })).toEqual([]);
      expect(home.notes.join("\n")).toMatch(/locked by another process/);
      // SQLite's own timeout would take five seconds for each.
      expect(performance.now() - started).toBeLessThan(5_000);
    } finally {
      holder.close();
    }
  });

  test("is not reported while a writer is in a transaction: recall still works", async () => {
    const home = await filledHome();
    const writer = await betterSqliteDriver.open(home.databasePath, "write");
    try {
      writer.exec("BEGIN IMMEDIATE; DELETE FROM entries");
      expect(await home.seam().recallHere({ phase: "work" })).toContain("one file database");
    } finally {
      writer.close();
    }
  });
});

/** Each case leaves a memory that must not count as empty. */
const BROKEN: readonly (readonly [string, string, (home: SeamHome) => Promise<unknown>])[] = [
  [
    "the key belongs to another database",
    "key_wrong",
    (home) => writeFile(home.keyPath, `${"ab".repeat(32)}\n`),
  ],
  ["the key file holds no key", "key_malformed", (home) => writeFile(home.keyPath, "secret")],
  ["other accounts can read the key", "key_unreadable", (home) => chmod(home.keyPath, 0o644)],
  [
    "the database is another program's file",
    "store_not_ours",
    (home) => writeFile(home.databasePath, "x".repeat(9_000)),
  ],
  ["the database was truncated", "store_corrupt", (home) => truncate(home.databasePath, 5_000)],
  [
    "the database is empty, but its log has data",
    "store_corrupt",
    async (home) => {
      await copyFile(home.databasePath, `${home.databasePath}-wal`);
      await truncate(home.databasePath, 0);
    },
  ],
];

describe("a memory that cannot be trusted", () => {
  test.each(BROKEN)("because %s gives the error %s", async (_how, code, damage) => {
    const home = await filledHome();
    await damage(home);
    await expect(home.seam().recallHere({ phase: "work" })).rejects.toMatchObject({ code });
    await expect(home.seam().offerSaveHere({}, { body: "b" })).rejects.toMatchObject({ code });
    expect(await home.seam().statePath({}, "plan")).toMatch(/PLAN\.md$/);
  });

  test("because of single rows returns the other rows, and reports their number", async () => {
    const home = await filledHome();
    await home.store([projectFact("decisions", "bad", "will not open")]);
    const database = new DatabaseSync(home.databasePath);
    database.exec("UPDATE entries SET sealed = zeroblob(length(sealed)) WHERE key LIKE '%/bad'");
    database.close();
    const text = await home.seam().recallHere({ phase: "work" });
    expect(text).toContain("one file database");
    expect(text).not.toContain("will not open");
    expect(home.notes).toEqual([expect.stringContaining("1 entries of this project cannot be opened")]);
  });
});
