/** Opens a database and its key below one folder, each in its own, and creates them if they are missing. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { unlessMissing } from "../../engine/private-file.ts";
import { loadOrMakeKey } from "../../engine/store/find-key.ts";
import type { MemoryStore } from "../../engine/store/memory-store.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { nodeSqliteDriver } from "../../engine/store/sqlite/node-sqlite-driver.ts";
import { openSqliteStore } from "../../engine/store/sqlite/open-sqlite.ts";
import type { SqliteDriver } from "../../engine/store/sqlite/sqlite-driver.ts";

export const DRIVERS: readonly SqliteDriver[] = [betterSqliteDriver, nodeSqliteDriver];

const MEMORY_FILE_SYSTEM = "/dev/shm";

function databaseIn(folder: string): string {
  return join(folder, "data", "memory.sqlite");
}

/** The key has a folder of its own: creating the database's folder syncs the folder above, which would hide a missing sync. */
function keyIn(folder: string): string {
  return join(folder, "key", "memory.key");
}

/** Every file and folder that an opening creates or writes, except drafts. */
export function filesIn(folder: string): readonly string[] {
  const database = databaseIn(folder);
  const beside = ["-wal", "-shm", "-journal"].map((ending) => `${database}${ending}`);
  const key = keyIn(folder);
  return [folder, dirname(key), key, dirname(database), database, ...beside];
}

export async function openIn(folder: string, driver: SqliteDriver): Promise<MemoryStore> {
  const path = databaseIn(folder);
  const { key } = await loadOrMakeKey({ env: {}, keyPath: keyIn(folder), databasePath: path });
  return openSqliteStore({ path, key, driver });
}

export function driverNamed(name: string | undefined): SqliteDriver {
  const driver = DRIVERS.find((known) => known.name === name);
  if (driver === undefined) throw new Error(`no driver ${name}`);
  return driver;
}

/** A folder in memory if the system offers one, because the tests create thousands of databases, each with syncs. */
export function makeQuickFolder(): Promise<string> {
  const make = (parent: string) => mkdtemp(join(parent, "helmdeck-memory-test-"));
  return unlessMissing(make(MEMORY_FILE_SYSTEM), undefined).then((made) => made ?? make(tmpdir()));
}

export function childOf(name: string): string {
  return fileURLToPath(new URL(`./children/${name}.ts`, import.meta.url));
}
