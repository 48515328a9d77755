/** The seam writes nothing: no row, and no byte of database, repository or home. test/seam/absence.test.ts does the same without a memory. */
import { execFile } from "node:child_process";
import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { afterEach, describe, expect, test, vi } from "vitest";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { nodeSqliteDriver } from "../../engine/store/sqlite/node-sqlite-driver.ts";
import { SqliteReader } from "../../engine/store/sqlite/sqlite-reader.ts";
import { SqliteStore } from "../../engine/store/sqlite/sqlite-store.ts";
import { PHASES } from "../../seam/index.ts";
import { askReader } from "../../seam/seam.ts";
import { askEverything, projectFact, SeamHome } from "./fixtures.ts";
import { fingerprintOf } from "./hashes.ts";

const run = promisify(execFile);
const SCHEMA_1 = join(import.meta.dirname, "../data/memory-schema-1.sqlite");

afterEach(() => vi.restoreAllMocks());

/** Every method of a store that a reader does not have: the methods that write. */
function trapWriteMethods(): readonly string[] {
  const reading = new Set(Object.getOwnPropertyNames(SqliteReader.prototype));
  const own = Object.entries(Object.getOwnPropertyDescriptors(SqliteStore.prototype));
  const writing = own
    .filter(([name, { get }]) => get === undefined && !reading.has(name))
    .map(([name]) => name);
  for (const name of writing) {
    // The trap never returns, so one method's type is enough.
    vi.spyOn(SqliteStore.prototype, name as "put").mockImplementation(() => {
      throw new Error(`the seam reached ${name}`);
    });
  }
  return writing;
}

function rowsOf(path: string): readonly unknown[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const tables = ["entries", "removals", "store"].map((table) =>
      database.prepare(`SELECT * FROM ${table}`).all(),
    );
    return [...tables, database.prepare("PRAGMA user_version").get()];
  } finally {
    database.close();
  }
}

async function filledHome(): Promise<SeamHome> {
  const home = await SeamHome.make();
  await home.store([
    { key: "house/style", category: "always", value: "small functions" },
    projectFact("decisions", "db", "one file database"),
    projectFact("decisions", "gone", "to be forgotten"),
  ]);
  await home.write(".harness/active-plan", "foo");
  await home.write(".harness/PLAN-foo.md", "# Foo");
  await run("git", ["init", "-q"], { cwd: home.repo });
  return home;
}

// verifies P-look-changes-nothing
describe("with memory present", () => {
  test.each(["better-sqlite3", "node:sqlite"])(
    "no write method is called and no byte changes, with %s",
    async (name) => {
      const home = await filledHome();
      const before = { files: await fingerprintOf(home.folder), rows: rowsOf(home.databasePath) };
      const trapped = trapWriteMethods();
      expect(trapped).toEqual(
        expect.arrayContaining(["put", "putMany", "delete", "deleteWhere", "deleteExpired"]),
      );
      const memory = name === "node:sqlite" ? { ...home.place, driver: nodeSqliteDriver } : home.place;
      const answers = await askEverything(home.seam({ memory }), home.repo);
      expect(answers.filter(({ status }) => status === "rejected")).toHaveLength(PHASES.length);
      expect(JSON.stringify(answers)).toContain("one file database");
      expect(JSON.stringify(answers)).not.toContain("the seam reached");
      expect(rowsOf(home.databasePath)).toEqual(before.rows);
      expect(await fingerprintOf(home.folder)).toEqual(before.files);
    },
  );

  test("expired entries stay in the file, and the log of a killed process stays unchanged", async () => {
    const home = await filledHome();
    // A connection that ends without closing leaves its log behind, like a killed process.
    const child = join(import.meta.dirname, "children", "leave-log.ts");
    await expect(run(process.execPath, [child, home.databasePath, home.keyPath])).rejects.toMatchObject({
      signal: "SIGKILL",
    });
    const before = await fingerprintOf(home.folder);
    expect(Object.keys(before)).toContain(join("home", "memory", "memory.sqlite-wal"));
    const later = { ...home.place, now: () => Date.parse("2036-01-01T00:00:00Z") };
    expect(await home.seam({ memory: later }).recallHere({ phase: "work" })).toBe("");
    expect(await home.seam().recallHere({ phase: "work" })).toContain("only in the log");
    await askEverything(home.seam(), home.repo);
    expect(await fingerprintOf(home.folder)).toEqual(before);
  });

  test("a database of a newer version gives an error and is not changed", async () => {
    const home = await filledHome();
    const database = new DatabaseSync(home.databasePath);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA user_version = 99");
    database.close();
    const before = await fingerprintOf(home.folder);
    await expect(home.seam().recallHere()).rejects.toMatchObject({ code: "store_newer" });
    expect(await fingerprintOf(home.folder)).toEqual(before);
  });
});

test("a database of an older version is read and not migrated", async () => {
  const home = await SeamHome.make();
  await mkdir(dirname(home.databasePath), { recursive: true });
  await copyFile(SCHEMA_1, home.databasePath);
  // The test key of this data; see test/data/README.md.
  const env = { ...home.place.env, HELMDECK_MEMORY_KEY: "00112233445566778899aabbccddeeff".repeat(2) };
  const memory = { ...home.place, env };
  const before = await fingerprintOf(home.folder);
  const asked = await askReader(memory, (reader) =>
    reader.list({ namespace: namespaceOf("ben"), origin: "fact", category: "user_facts", limit: 10 }),
  );
  expect(asked).toMatchObject({
    kind: "answered",
    answer: { entries: [{ key: "editor", value: new Uint8Array(Buffer.from("emacs")) }], unreadable: [] },
  });
  expect(await home.seam({ memory }).recallHere({ phase: "work" })).toBe("");
  expect(home.notes).toEqual([expect.stringMatching(/^Memory has nothing for the phase work/)]);
  expect(await fingerprintOf(home.folder)).toEqual(before);
  expect(
    new DatabaseSync(home.databasePath, { readOnly: true }).prepare("PRAGMA user_version").get(),
  ).toEqual({
    user_version: 1,
  });
});
