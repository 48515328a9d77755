/** A SQLite store in a temporary folder, with a fake clock and access to its file. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type MasterKey, parseKey } from "../../../engine/store/master-key.ts";
import type { EntryRef, MemoryReader } from "../../../engine/store/memory-store.ts";
import { betterSqliteDriver } from "../../../engine/store/sqlite/better-sqlite-driver.ts";
import { nodeSqliteDriver } from "../../../engine/store/sqlite/node-sqlite-driver.ts";
import {
  openSqliteReader,
  openSqliteStore,
  type SqliteStoreOptions,
} from "../../../engine/store/sqlite/open-sqlite.ts";
import type { SqliteDriver } from "../../../engine/store/sqlite/sqlite-driver.ts";
import { type RigOptions, START, type StoreRig } from "../../contract/rig.ts";

export const DRIVERS: readonly SqliteDriver[] = [betterSqliteDriver, nodeSqliteDriver];

export const KEY: MasterKey = parseKey("00112233445566778899aabbccddeeff".repeat(2), "test key");
export const OTHER_KEY: MasterKey = parseKey("ff".repeat(32), "other test key");

export interface SqliteRig extends StoreRig {
  readonly folder: string;
  readonly path: string;
  /** The options for opening the store again. */
  readonly options: SqliteStoreOptions;
  readonly openAgain: NonNullable<StoreRig["openAgain"]>;
  readonly openReader: NonNullable<StoreRig["openReader"]>;
  readonly damage: NonNullable<StoreRig["damage"]>;
  /** Runs SQL with the same library, like an attacker who has the file but no key. */
  tamper(sql: string, ...values: readonly (string | number | null)[]): Promise<void>;
}

export async function openSqliteRig(driver: SqliteDriver, more: RigOptions = {}): Promise<SqliteRig> {
  const folder = await makeTempFolder();
  const path = join(folder, "memory.sqlite");
  const clock = { now: START };
  const options = { path, key: KEY, driver, now: () => clock.now, busyTimeoutMs: 2_000, ...more };
  const opened: MemoryReader[] = [];
  const keep = async <T extends MemoryReader>(opening: Promise<T>): Promise<T> => {
    const store = await opening;
    opened.push(store);
    return store;
  };
  const tamper: SqliteRig["tamper"] = async (sql, ...values) => {
    const connection = await driver.open(path, "write");
    try {
      connection.prepare(sql).run(...values);
    } finally {
      connection.close();
    }
  };
  return {
    store: await keep(openSqliteStore(options)),
    clock,
    folder,
    path,
    options,
    tamper,
    openAgain: () => keep(openSqliteStore(options)),
    openReader: () => keep(openSqliteReader(options)),
    damage: (ref: EntryRef) =>
      tamper(
        "UPDATE entries SET sealed = zeroblob(length(sealed)) WHERE namespace = ? AND origin = ? AND key = ?",
        ref.namespace,
        ref.origin,
        ref.key,
      ),
    dispose: async () => {
      for (const store of opened) await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function makeTempFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "helmdeck-memory-test-"));
}
