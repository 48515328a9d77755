/** Opening the database: place, identity, key, settings and schema, in the order in which nothing can be harmed. */
import { timingSafeEqual } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { HelmdeckError } from "../../errors.ts";
import type { MemoryReader, MemoryStore, UnixMs } from "../contract.ts";
import { KEEP_REMOVALS } from "../cursors.ts";
import type { MasterKey } from "../master-key.ts";
import { Sealer } from "../sealing.ts";
import type { SqliteDriver } from "./driver.ts";
import { explainSqliteError, isBusy, isSchemaMismatch } from "./errors.ts";
import { findDatabase, placeDatabase } from "./place.ts";
import { SqliteReader } from "./reader.ts";
import { damaged, migrate, SCHEMA_VERSION, schemaVersionOf } from "./schema.ts";
import { SqliteSession } from "./session.ts";
import { SqliteStore } from "./store.ts";

export interface SqliteReaderOptions {
  readonly path: string;
  readonly key: MasterKey;
  readonly driver: SqliteDriver;
  /** The clock that decides what has expired, in Unix milliseconds. */
  readonly now?: () => UnixMs;
  /** How long to wait for another process's lock; default 5,000. */
  readonly busyTimeoutMs?: number;
}

export interface SqliteStoreOptions extends SqliteReaderOptions {
  /** How many writes back the change feed remembers removals, at least; default 20,000. */
  readonly keepRemovals?: number;
}

const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens the database, making it if there is none. Several processes may have it open, and may make it at the same moment.
 *
 * @throws `key_wrong`, and `store_not_ours`, `store_newer`, `store_corrupt`, `store_locked`, `store_full`, `store_readonly`,
 * `store_unavailable`; none of them takes anything away that was in the file.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<MemoryStore> {
  const busyTimeoutMs = options.busyTimeoutMs ?? BUSY_TIMEOUT_MS;
  const path = await placeDatabase(options.path);
  return openAt(path, options, "write", async (session, sealer) => {
    if (schemaVersionOf(session) > 0) requireKey(session, sealer);
    await enterWal(session, busyTimeoutMs);
    if (schemaVersionOf(session) < SCHEMA_VERSION) migrate(session, sealer.keyCheck);
    requireKey(session, sealer); // another process may have made the database, with another key, since we looked
    return new SqliteStore({
      ...partsOf(session, sealer, options),
      busyTimeoutMs,
      keepRemovals: options.keepRemovals ?? KEEP_REMOVALS,
    });
  });
}

/**
 * Opens an existing database to read: makes nothing, migrates nothing, deletes nothing. Throws as {@link openSqliteStore};
 * `store_unavailable` when there is no database yet.
 */
export async function openSqliteReader(options: SqliteReaderOptions): Promise<MemoryReader> {
  const path = await findDatabase(options.path);
  return openAt(path, options, "read", async (session, sealer) => {
    requireTables(session);
    requireKey(session, sealer);
    return new SqliteReader(partsOf(session, sealer, options));
  });
}

/** Opens the connection, and closes it again if anything after that fails. */
async function openAt<T>(
  path: string,
  options: SqliteReaderOptions,
  mode: "read" | "write",
  setUp: (session: SqliteSession, sealer: Sealer) => Promise<T>,
): Promise<T> {
  try {
    const connection = await options.driver.open(path, mode);
    try {
      connection.exec(settingsFor(mode, options.busyTimeoutMs ?? BUSY_TIMEOUT_MS));
      return await setUp(new SqliteSession(connection, path), new Sealer(options.key));
    } catch (error) {
      connection.close();
      throw error;
    }
  } catch (error) {
    throw isSchemaMismatch(error) ? damaged(path) : explainSqliteError(error, path);
  }
}

function partsOf(session: SqliteSession, sealer: Sealer, { now, driver }: SqliteReaderOptions) {
  return { session, sealer, now: now ?? Date.now, driverName: driver.name };
}

/** None of these changes the file. */
function settingsFor(mode: "read" | "write", busyTimeoutMs: number): string {
  const common = `
    PRAGMA busy_timeout = ${Math.trunc(busyTimeoutMs)};
    PRAGMA trusted_schema = OFF;    -- a hostile file's views and triggers may not call functions with effects
    PRAGMA temp_store = MEMORY;     -- no temporary files
  `;
  if (mode === "read") return `${common} PRAGMA query_only = ON;`;
  return `${common}
    PRAGMA synchronous = FULL;      -- a commit has been synced when it returns; said aloud, since the default may be less
    PRAGMA fullfsync = ON;          -- on macOS a plain fsync stops at the drive's cache
    PRAGMA checkpoint_fullfsync = ON;
    PRAGMA secure_delete = ON;      -- deleted content is zeroed in its page
  `;
}

/** A key that does not belong to this database: nothing is read, and nothing is ever written under it. */
function requireKey(session: SqliteSession, sealer: Sealer): void {
  const stored = session.statement("SELECT key_check FROM store").get()?.key_check;
  if (!(stored instanceof Uint8Array)) throw damaged(session.path);
  if (stored.byteLength === sealer.keyCheck.byteLength && timingSafeEqual(stored, sealer.keyCheck)) return;
  throw new HelmdeckError(
    "key_wrong",
    `The memory database ${session.path} was made with another key, and nothing was read or written under this one. ` +
      "Find the key that belongs to it: another key file, or an environment variable that overrides it.",
    { details: { path: session.path } },
  );
}

/** Every schema so far is read the same way: what later ones added is for writers. */
function requireTables(session: SqliteSession): void {
  if (schemaVersionOf(session) > 0) return;
  throw new HelmdeckError(
    "store_unavailable",
    `The memory database ${session.path} is empty; open it once to write, and it will be set up.`,
    { details: { path: session.path, schema: 0, nothingStored: true } },
  );
}

/**
 * Switches the file to write-ahead logging, which stays with the file. Only the first switch needs the file alone, and
 * SQLite does not wait for that as it waits for locks: so we do.
 */
async function enterWal(session: SqliteSession, busyTimeoutMs: number): Promise<void> {
  const deadline = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      return requireWal(session, session.pragma("journal_mode = WAL"));
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
      await delay(RETRY_MS);
    }
  }
}

const RETRY_MS = 10;

function requireWal(session: SqliteSession, mode: unknown): void {
  if (mode === "wal") return;
  throw new HelmdeckError(
    "store_unavailable",
    `The memory database ${session.path} cannot use a write-ahead log (journal mode ${String(mode)}); ` +
      "put it on a local file system.",
    { details: { path: session.path } },
  );
}
