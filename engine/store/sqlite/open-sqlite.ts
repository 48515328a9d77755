/** Opens the database: location, identity, key, settings and schema, in an order that can harm nothing. */

import { access, constants, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { defined } from "../../defined.ts";
import { HelmdeckError } from "../../errors.ts";
import { DEFAULT_QUOTA, type Quota } from "../../rules/quota.ts";
import { Beginnings } from "../beginnings.ts";
import { KEEP_REMOVALS } from "../cursors.ts";
import type { KeyChangingStore } from "../key-change.ts";
import { SealingKeys } from "../key-ring.ts";
import type { MasterKey } from "../master-key.ts";
import type { MemoryReader, MemoryStore, UnixMs } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import { StoreClock } from "../store-clock.ts";
import { announceCheckpoint, setFileTime } from "./checkpoint.ts";
import { findDatabase, placeDatabase, realPathOf } from "./database-file.ts";
import { FileWatch, stat } from "./file-watch.ts";
import { requireOwnFile } from "./require-own-file.ts";
import { resealLegacyRows } from "./reseal.ts";
import { ReserveFile } from "./reserve-file.ts";
import { damaged, migrate, SCHEMA_VERSION, schemaVersionOf } from "./schema.ts";
import type { OpenMode, SqliteDriver } from "./sqlite-driver.ts";
import { explainSqliteError, isBusy, isFull, isSchemaMismatch } from "./sqlite-errors.ts";
import { SqliteReader, type SqliteReaderParts } from "./sqlite-reader.ts";
import { SqliteSession } from "./sqlite-session.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { replacedAtOpen, StoreGuard } from "./store-guard.ts";
import { IDENTITY_SINCE, readStoreRow, type StoreRow, timeSeenIn } from "./store-row.ts";
import { openSealer } from "./stored-keys.ts";
import { canCompactQuickly, compact, enableIncrementalVacuum } from "./vacuum.ts";
import { requireIntactWal } from "./wal-frames.ts";

export interface SqliteReaderOptions {
  readonly path: string;
  readonly key: MasterKey;
  readonly driver: SqliteDriver;
  /** The system's clock, in Unix milliseconds. */
  readonly now?: () => UnixMs;
  /** How long to wait for another process's lock; default 5,000. */
  readonly busyTimeoutMs?: number;
}

export interface SqliteStoreOptions extends SqliteReaderOptions {
  /** The least number of writes for which the change feed remembers removals; default 20,000. */
  readonly keepRemovals?: number;
  /** The most entries to delete in one transaction; larger deletes run in slices. Default 1,000. */
  readonly eraseAtOnce?: number;
  /** A subject's limits, including its sessions; default 100,000 entries and 256 MiB. */
  readonly quota?: Partial<Quota>;
  /** How often this process has opened another database under the same cursors: readers then start over. Default 0. */
  readonly beginnings?: number;
}

const ERASE_AT_ONCE = 1_000;

/**
 * Opens the database, or creates it. Several processes may open it, and create it, at the same time.
 *
 * @throws `key_wrong`, `store_not_ours`, `store_newer`, `store_corrupt`, `store_locked`, `store_full`, `store_readonly`,
 * `store_replaced`, `store_unavailable`; after any of them the file's data is intact.
 */
export function openSqliteStore(options: SqliteStoreOptions): Promise<MemoryStore> {
  return openToWrite(options);
}

/**
 * Opens the database to change its key: with the current key or, during a change, with either. Throws like {@link
 * openSqliteStore}.
 */
export function openSqliteStoreToChangeKey(options: SqliteStoreOptions): Promise<KeyChangingStore> {
  return openToWrite(options);
}

/**
 * Rewrites a database of an older version that keeps freed pages; false when it does not need it. Nobody else can write
 * meanwhile. Throws `store_full` when twice its size is not free; if killed, nothing has changed.
 */
export async function compactDatabase(options: SqliteStoreOptions): Promise<boolean> {
  const store = await openToWrite(options);
  try {
    return await store.compact();
  } finally {
    await store.close();
  }
}

/** On a full disk, the reserve makes room for SQLite's own files, and the rest of it is kept. */
async function openToWrite(options: SqliteStoreOptions): Promise<SqliteStore> {
  try {
    return await openOnce(options);
  } catch (error) {
    if (!isFull(error)) throw error;
    const reserve = new ReserveFile(await realpath(options.path).catch(() => options.path));
    if (!reserve.delete()) throw error;
    const store = await openOnce(options);
    reserve.create({ force: true });
    return store;
  }
}

async function openOnce(options: SqliteStoreOptions): Promise<SqliteStore> {
  const path = await placeDatabase(options.path);
  const watch = new FileWatch(options.path, path);
  const isAlone = !watch.hasLog();
  await lookFirst(path, options, watch);
  return withSession({ path, options, mode: "write" }, async (session) => {
    if (schemaVersionOf(session) > 0) openSealer(session, options.key);
    else enableIncrementalVacuum(session);
    await enterWal(session);
    if (schemaVersionOf(session) < SCHEMA_VERSION) bringUpToDate(session, options.key);
    const sealer = openSealer(session, options.key); // another process may have created the database with another key since we checked
    await resealLegacyRows(session, sealer);
    if (isAlone) compactSmall(session);
    if (isAlone) setFileTime(path, readRow(session).checkpointedAt); // a database without a log is complete
    const store = new SqliteStore({
      ...partsOf({ session, sealer, watch: openedNow(watch, path), options }),
      ...limitsOf(options),
      isReadOnly: false,
    });
    store.keepTime();
    store.resume();
    return store;
  });
}

/**
 * Opens an existing database on read-only storage; every write is refused with `store_readonly`. Throws like {@link
 * openSqliteStore}.
 */
export async function openSqliteStoreToRead(options: SqliteStoreOptions): Promise<MemoryStore> {
  return openToRead(
    options,
    (parts) => new SqliteStore({ ...parts, ...limitsOf(options), isReadOnly: true }),
  );
}

/**
 * Opens an existing database for reading: creates nothing, migrates nothing, deletes nothing. Throws like {@link
 * openSqliteStore}; `store_unavailable` when there is no database yet.
 */
export async function openSqliteReader(options: SqliteReaderOptions): Promise<MemoryReader> {
  return openToRead(options, (parts) => new SqliteReader(parts));
}

/** Throws `store_not_ours` when another program's database is at the path, and `store_unavailable` where it leads nowhere. Changes nothing and needs no key. */
export async function requireOwnDatabase(path: string, driver: SqliteDriver): Promise<void> {
  const file = await realPathOf(path);
  if (file !== undefined && stat(file)?.isFile() === true) await requireOwnFile(file, driver);
}

async function openToRead<T>(options: SqliteStoreOptions, make: (parts: SqliteReaderParts) => T): Promise<T> {
  const path = await findDatabase(options.path);
  const watch = new FileWatch(options.path, path);
  await requireOwnFile(path, options.driver);
  await requireIntactWal(path);
  const mode = await modeToRead(path);
  return withSession({ path, options, mode }, async (session) => {
    requireTables(session);
    const sealer = openSealer(session, options.key);
    const isImmutable = mode !== "read";
    return make(partsOf({ session, sealer, watch: openedNow(watch, path), options, isImmutable }));
  });
}

/**
 * Before opening for writing, checks whose file it is, whether its log is intact, and whether the log belongs to it, since SQLite
 * would checkpoint any log into it.
 */
async function lookFirst(path: string, options: SqliteStoreOptions, watch: FileWatch): Promise<void> {
  await requireOwnFile(path, options.driver);
  if (!watch.hasLog()) return;
  await requireIntactWal(path);
  await withSession({ path, options, mode: "read" }, async (session) => {
    if (schemaVersionOf(session) < IDENTITY_SINCE) return session.connection.close();
    openSealer(session, options.key);
    const row = readRow(session);
    const { driver } = options;
    await new StoreGuard({ session, driver, watch: openedNow(watch, path), row, isNew: true }).verify();
    session.connection.close();
  });
}

interface Opening {
  /** The real path. */
  readonly path: string;
  readonly options: Pick<SqliteReaderOptions, "driver"> & Partial<SqliteReaderOptions>;
  readonly mode: OpenMode;
}

/** Opens the connection, and closes it again if a later step fails. */
export async function withSession<T>(
  { path, options, mode }: Opening,
  setUp: (session: SqliteSession) => Promise<T>,
): Promise<T> {
  try {
    const connection = await options.driver.open(path, mode);
    try {
      const session = new SqliteSession(connection, path, options.busyTimeoutMs);
      connection.exec(settingsFor(mode));
      return await setUp(session);
    } catch (error) {
      connection.close();
      throw error;
    }
  } catch (error) {
    throw isSchemaMismatch(error) ? damaged(path) : explainSqliteError(error, path);
  }
}

/**
 * Rewrites a small database, which takes no noticeable time; freed pages are returned from then on. If somebody is working in it,
 * a later opening does it.
 */
function compactSmall(session: SqliteSession): void {
  if (!canCompactQuickly(session)) return;
  try {
    session.withBusyTimeout(0, () => compact(session));
  } catch {
    // Not needed right now.
  }
}

function bringUpToDate(session: SqliteSession, key: MasterKey): void {
  migrate(session, new SealingKeys(key));
  const time = session.write(() => announceCheckpoint(session, 0));
  setFileTime(session.path, time);
}

/** The connection has read, so all its files exist; checks that they are those examined before. */
function openedNow(watch: FileWatch, path: string): FileWatch {
  if (!watch.isDatabaseSame()) throw replacedAtOpen(path);
  watch.begin();
  return watch;
}

interface Opened {
  readonly session: SqliteSession;
  readonly sealer: Sealer;
  readonly watch: FileWatch;
  readonly options: SqliteStoreOptions;
  readonly isImmutable?: boolean;
}

export function partsOf({ session, sealer, watch, options, isImmutable = false }: Opened): SqliteReaderParts {
  const { driver, now = Date.now, beginnings = 0 } = options;
  const row = schemaVersionOf(session) < IDENTITY_SINCE ? undefined : readRow(session);
  return {
    ...{ session, sealer, driverName: driver.name },
    clock: new StoreClock(now, row && timeSeenIn(row)),
    guard: new StoreGuard({ session, driver, watch, isImmutable, ...defined({ row }) }),
    beginnings: new Beginnings(beginnings),
  };
}

export function limitsOf({
  quota,
  keepRemovals = KEEP_REMOVALS,
  eraseAtOnce = ERASE_AT_ONCE,
}: Pick<SqliteStoreOptions, "quota" | "keepRemovals" | "eraseAtOnce">) {
  return { quota: { ...DEFAULT_QUOTA, ...quota }, keepRemovals, eraseAtOnce };
}

function readRow(session: SqliteSession): StoreRow {
  return session.read(() => readStoreRow(session));
}

/** When neither a log nor its index can be created, SQLite has to work without them. */
async function modeToRead(path: string): Promise<OpenMode> {
  const [canMake, hasLog, hasIndex] = await Promise.all([
    mayWrite(dirname(path)),
    (stat(`${path}-wal`)?.size ?? 0) > 0,
    stat(`${path}-shm`) !== undefined,
  ]);
  if (canMake || (hasLog && hasIndex)) return "read";
  return hasLog ? "unlocked" : "immutable";
}

function mayWrite(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
}

/** None of these changes the file. */
function settingsFor(mode: OpenMode): string {
  const common = `
    PRAGMA trusted_schema = OFF;    -- a hostile file's views and triggers may not call functions with effects
    PRAGMA temp_store = MEMORY;     -- no temporary files
  `;
  if (mode !== "write") return `${common} PRAGMA query_only = ON;`;
  return `${common}
    PRAGMA wal_autocheckpoint = 0;  -- we checkpoint ourselves, see checkpoint.ts
    PRAGMA synchronous = FULL;      -- a commit has been synced when it returns; explicit, since the default may be weaker
    PRAGMA fullfsync = ON;          -- on macOS a plain fsync stops at the drive's cache
    PRAGMA checkpoint_fullfsync = ON;
    PRAGMA secure_delete = ON;      -- deleted content is zeroed in its page
  `;
}

/** Every schema version so far is read the same way; later additions are for writers. */
function requireTables(session: SqliteSession): void {
  if (schemaVersionOf(session) > 0) return;
  throw new HelmdeckError(
    "store_unavailable",
    `The memory database ${session.path} is empty; open it once for writing to set it up.`,
    { details: { path: session.path, schema: 0, nothingStored: true } },
  );
}

/**
 * Switches the file to write-ahead logging, permanently. Only the first switch needs exclusive access, and SQLite does not apply
 * its busy timeout to it, so we wait ourselves.
 */
async function enterWal(session: SqliteSession): Promise<void> {
  const deadline = performance.now() + session.busyTimeoutMs;
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
      "move it to a local file system.",
    { details: { path: session.path } },
  );
}
