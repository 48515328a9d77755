/** This version opens, upgrades, exports, imports and uninstalls an installation of version 0.1.0 (test/data/0.1.0). */
import { chmod, copyFile, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { openMemory } from "../../app/open-memory.ts";
import type { StorageLocation } from "../../app/storage-location.ts";
import { exportLines } from "../../app/transfer/export-lines.ts";
import { readKeyFile } from "../../engine/store/key-file.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { nodeSqliteDriver } from "../../engine/store/sqlite/node-sqlite-driver.ts";
import { openSqliteStore } from "../../engine/store/sqlite/open-sqlite.ts";
import type { SqliteDriver } from "../../engine/store/sqlite/sqlite-driver.ts";
import { withEarlierChoices } from "../../install/earlier-choices.ts";
import { Journal } from "../../install/journal.ts";
import { makePlan } from "../../install/plan/make-plan.ts";
import { parseConfig } from "../../plugin/config.ts";
import { openTestMemory, tempPlace } from "../app/fixtures/memories.ts";
import { given, options, withJournal } from "../install/fixtures.ts";
import { importLines } from "../transfer/import-lines.ts";

const MADE = join(import.meta.dirname, "../data/0.1.0");
const NOW = Date.parse("2026-11-22T13:00:00Z");
const ROWS = 8;
const MAIN = namespaceOf("main");
const DRIVERS = [betterSqliteDriver, nodeSqliteDriver];

async function placed(): Promise<StorageLocation> {
  const place = await tempPlace();
  await mkdir(dirname(place.databasePath), { recursive: true });
  await copyFile(join(MADE, "memory.sqlite"), place.databasePath);
  await copyFile(join(MADE, "helmdeck-memory.key"), place.keyPath);
  await chmod(place.keyPath, 0o600); // git does not store this mode
  return place;
}

const open = (place: StorageLocation, driver = betterSqliteDriver) =>
  openTestMemory({ ...place, driver, now: () => NOW });

async function exported(memory: OpenMemory): Promise<readonly Line[]> {
  const lines: Line[] = [];
  for await (const line of exportLines({ memory, subject: "main", onProblem: () => {} })) {
    lines.push(JSON.parse(line));
  }
  return lines.sort(byKey);
}

async function exportOf010(): Promise<readonly Line[]> {
  const text = await readFile(join(MADE, "export.jsonl"), "utf8");
  const lines: readonly Line[] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  return lines.toSorted(byKey);
}

interface Line {
  readonly key: string;
}

function byKey(a: Line, b: Line): number {
  return a.key < b.key ? -1 : 1;
}

/** The file's schema version and number of rows, read with SQLite alone. */
async function lookAt({ databasePath }: StorageLocation) {
  const connection = await nodeSqliteDriver.open(databasePath, "write");
  try {
    return {
      schema: connection.prepare("PRAGMA user_version").get()?.user_version,
      sound: connection.prepare("PRAGMA integrity_check").get()?.integrity_check,
      rows: connection.prepare("SELECT count(*) AS n FROM entries").get()?.n,
    };
  } finally {
    connection.close();
  }
}

// verifies P-upgrade-opens
describe("a database of 0.1.0", () => {
  test.each(DRIVERS)("is brought up to date through $name with everything in it", async (driver) => {
    const place = await placed();
    expect(await lookAt(place)).toEqual({ schema: 2, sound: "ok", rows: ROWS });
    const memory = await open(place, driver);
    expect((await memory.getFact("main", { key: "über/naïve 🔑" }))?.value).toBe("ünïcode keys and välues");
    expect(await memory.getFact("main", { key: "editor" })).toMatchObject({ category: "preferences" });
    expect((await memory.getFact("work", { key: "other" }))?.value).toBe("what another agent knows");
    expect(await memory.getFact("main", { key: "expired/ticket" })).toBeUndefined();
    expect((await memory.search("main", { query: "harbour" })).results[0]).toMatchObject({ key: "long/one" });
    expect((await memory.doctor()).store).toMatchObject({ schemaVersion: 5, unreadable: 0, integrity: "ok" });
    expect(await memory.store.vectorSpaces()).toEqual(["ollama/nomic-embed-text"]);
    const { entries } = await memory.store.list({ namespace: MAIN, origin: "fact" });
    const ids = entries.map(({ id }) => id);
    const kept = await memory.store.vectors({ namespace: MAIN, space: "ollama/nomic-embed-text", ids });
    expect(kept.map(({ vectors }) => [...vectors])).toEqual(new Array(3).fill([1, 2, 3, 4]));
    await memory.storeFact("main", { key: "today", value: "x" });
    await memory.close();
    expect(await lookAt(place)).toEqual({ schema: 5, sound: "ok", rows: ROWS + 1 });
  });

  test("is exported as 0.1.0 exported it", async () => {
    expect(await exported(await open(await placed()))).toMatchObject(await exportOf010());
  });

  test("that fails to be brought up to date at any step is the old one or the new one, and opens", async () => {
    let failures = 0;
    for (let step = 1; ; step += 1) {
      const place = await placed();
      const failing = failingAt(step);
      const key = await readKeyFile(place.keyPath);
      const opening = openSqliteStore({
        path: place.databasePath,
        key,
        driver: failing.driver,
        now: () => NOW,
      });
      const error = await opening.then(
        (store) => store.close(),
        (thrown: unknown) => thrown,
      );
      if (!failing.hasFailed()) break;
      if (error !== undefined) failures += 1;
      const { schema, ...rest } = await lookAt(place);
      expect({ step, ...rest }).toEqual({ step, sound: "ok", rows: ROWS });
      expect([2, 5]).toContain(schema);
      const memory = await open(place);
      expect((await memory.doctor()).store).toMatchObject({ schemaVersion: 5, unreadable: 0 });
      await memory.close();
    }
    expect(failures).toBeGreaterThan(15);
  });

  test("is left to a newer version that brings it up to date meanwhile: nothing acknowledged is lost", async () => {
    const place = await placed();
    const memory = await open(place);
    await memory.storeFact("main", { key: "acknowledged", value: "kept" });
    const newer = await betterSqliteDriver.open(place.databasePath, "write");
    newer.exec(
      "BEGIN IMMEDIATE; PRAGMA user_version = 6; ALTER TABLE store RENAME COLUMN newest_seq TO next; COMMIT",
    );
    await expect(memory.storeFact("main", { key: "late", value: "x" })).rejects.toMatchObject({
      code: "store_newer",
    });
    expect(newer.prepare("SELECT count(*) AS n FROM entries WHERE key = 'acknowledged'").get()).toEqual({
      n: 1,
    });
    expect(newer.prepare("SELECT count(*) AS n FROM entries WHERE key = 'late'").get()).toEqual({ n: 0 });
    newer.close();
    await expect(openMemory({ ...place, env: {}, driver: betterSqliteDriver })).rejects.toMatchObject({
      code: "store_newer",
    });
  });
});

// verifies P-upgrade-opens
describe("beside it,", () => {
  test("an export of 0.1.0 is imported", async () => {
    const memory = await openTestMemory({ now: () => NOW });
    const input = (async function* () {
      yield await readFile(join(MADE, "export.jsonl"));
    })();
    const counts = await importLines({ memory, subject: "main", input });
    expect(counts).toMatchObject({ stored: 4, audit: 1, refusedCount: 0 });
    expect(await exported(memory)).toMatchObject(await exportOf010());
  });

  // verifies P-install-undone
  test("what its installer did is taken back from its journal", async () => {
    const journal = await Journal.read(join(MADE, "install"));
    expect((await journal.readCopy())?.toString()).toContain('"provider": "none"');
    const facts = withJournal(JSON.parse(JSON.stringify(journal.entries)));
    const { steps, unmet } = makePlan(facts, options("--uninstall"));
    const kinds = steps.map(({ kind }) => kind);
    expect(unmet).toEqual([]);
    for (const kind of ["uninstall-plugin", "stop-sidecar", "remove-network", "forget-journal"]) {
      expect(kinds).toContain(kind);
    }
  });

  // verifies P-install-kept
  test("what its installer was told is kept by a run without options", async () => {
    const { entries } = await Journal.read(join(MADE, "install"));
    const { embeddings, model, kept } = withEarlierChoices(given("--yes"), entries, {});
    expect({ embeddings, model, kept }).toEqual({
      embeddings: { kind: "sidecar" },
      model: "nomic-embed-text",
      kept: [],
    });
  });

  test("the plugin's configuration means what it meant", async () => {
    const { plugins } = JSON.parse(await readFile(join(MADE, "openclaw.json"), "utf8"));
    expect(parseConfig(plugins.entries["helmdeck-memory"].config)).toMatchObject({
      searchByDefault: true,
      promptHints: true,
      subjects: new Map([["work", "office"]]),
      allow: new Set(["groups"]),
      auditServers: ["helmdeck"],
      embeddings: {
        settings: { provider: "ollama", url: "http://127.0.0.1:11434", model: "nomic-embed-text" },
      },
    });
  });
});

/** Counts the statements that may write, over all connections. The one with this number fails, and all later ones. */
function failingAt(step: number): { readonly driver: SqliteDriver; readonly hasFailed: () => boolean } {
  let done = 0;
  const count = () => {
    done += 1;
    if (done >= step) throw new Error("the process is killed here");
  };
  const driver: SqliteDriver = {
    ...nodeSqliteDriver,
    open: async (path, mode) => {
      const connection = await nodeSqliteDriver.open(path, mode);
      return {
        close: () => connection.close(),
        get inTransaction() {
          return connection.inTransaction;
        },
        exec: (sql) => {
          for (const statement of mode === "write" ? statementsOf(sql) : [sql]) {
            count();
            connection.exec(statement);
          }
        },
        prepare: (sql) => {
          const statement = connection.prepare(sql);
          return {
            run: (...values) => {
              if (sql !== "ROLLBACK") count();
              statement.run(...values);
            },
            get: (...values) => statement.get(...values),
            all: (...values) => statement.all(...values),
          };
        },
      };
    },
  };
  return { driver, hasFailed: () => done >= step };
}

/** Splits SQL into statements and keeps triggers intact. */
function statementsOf(sql: string): readonly string[] {
  const parts = sql.replaceAll(/--[^\n]*/g, "").split(";");
  const statements: string[] = [];
  let open = "";
  for (const part of parts) {
    open = open === "" ? part : `${open};${part}`;
    if (/CREATE TRIGGER/.test(open) && !/END\s*$/.test(open)) continue;
    if (open.trim() !== "") statements.push(open);
    open = "";
  }
  return statements;
}
