/** Opening the database: place, identity, key, settings and schema, in the order in which nothing can be harmed. */

import { access, constants, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { defined } from "../../defined.ts";
import { HelmdeckError } from "../../errors.ts";
import { Beginnings } from "../beginnings.ts";
import { KEEP_REMOVALS } from "../cursors.ts";
import { SealingKeys } from "../key-ring.ts";
import type { MasterKey } from "../master-key.ts";
import type { MemoryReader, MemoryStore, UnixMs } from "../memory-store.ts";
import { DEFAULT_QUOTA, type Quota } from "../quota.ts";
import type { Sealer } from "../sealing.ts";
import { StoreClock } from "../store-clock.ts";
import { findDatabase, placeDatabase } from "./database-file.ts";
import { FileWatch, stat } from "./file-watch.ts";
import { announceFold, bearTime } from "./fold-log.ts";
import { exchangedAtOpen, StoreGuard } from "./guard.ts";
import { requireSoundLog } from "./log-damage.ts";
import { requireOurs } from "./look.ts";
import { sealLegacyRowsAnew } from "./reseal.ts";
import { Reserve } from "./reserve.ts";
import { damaged, migrate, SCHEMA_VERSION, schemaVersionOf } from "./schema.ts";
import { compact, giveBackFromNowOn, isCompactedQuickly } from "./spare-pages.ts";
import type { OpenMode, SqliteDriver } from "./sqlite-driver.ts";
import { explainSqliteError, isBusy, isFull, isSchemaMismatch } from "./sqlite-errors.ts";
import { SqliteReader, type SqliteReaderParts } from "./sqlite-reader.ts";
import { SqliteSession } from "./sqlite-session.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { IDENTITY_SINCE, readStoreRow, type StoreRow, timeSeenIn } from "./store-row.ts";
import { openSealer } from "./stored-keys.ts";

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
  /** How many writes back the change feed remembers removals, at least; default 20,000. */
  readonly keepRemovals?: number;
  /** How many entries a delete takes in one transaction; more of them go in slices. Default 1,000. */
  readonly eraseAtOnce?: number;
  /** What one subject may hold, sessions included; default 100,000 entries and 256 MiB. */
  readonly quota?: Partial<Quota>;
  /** How often this process has opened another database under the same cursors: readers then begin anew. Default 0. */
  readonly beginnings?: number;
}

const ERASE_AT_ONCE = 1_000;

/**
 * Opens the database, making it if there is none. Several processes may have it open, and may make it at the same moment.
 *
 * @throws `key_wrong`, and `store_not_ours`, `store_newer`, `store_corrupt`, `store_locked`, `store_full`, `store_readonly`,
 * `store_replaced`, `store_unavailable`; none of them takes anything away that was in the file.
 */
export function openSqliteStore(options: SqliteStoreOptions): Promise<MemoryStore> {
  return openToWrite(options);
}

/** A store whose key can be changed. */
type KeyChangingStore = MemoryStore &
  Pick<SqliteStore, "beginKeyChange" | "sealAnew" | "exchangeKeys" | "finishKeyChange">;

/** Opens the database to change its key: with the key in use, or where a change has begun, with either. Throws as {@link openSqliteStore}. */
export function openSqliteStoreToChangeKey(options: SqliteStoreOptions): Promise<KeyChangingStore> {
  return openToWrite(options);
}

/**
 * Writes a database anew that keeps freed pages, as those of older programs do; false when it does not. Nobody else can write meanwhile.
 * Throws `store_full` where twice its size is not free; killed, nothing has happened.
 */
export async function compactDatabase(options: SqliteStoreOptions): Promise<boolean> {
  const store = await openToWrite(options);
  try {
    return await store.compact();
  } finally {
    await store.close();
  }
}

/** On a full disk what is in reserve makes room for SQLite's own files, and as much as is left of it is kept. */
async function openToWrite(options: SqliteStoreOptions): Promise<SqliteStore> {
  try {
    return await openOnce(options);
  } catch (error) {
    if (!isFull(error)) throw error;
    const reserve = new Reserve(await realpath(options.path).catch(() => options.path));
    if (!reserve.giveUp()) throw error;
    const store = await openOnce(options);
    reserve.make({ takeBack: true });
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
    else giveBackFromNowOn(session);
    await enterWal(session);
    if (schemaVersionOf(session) < SCHEMA_VERSION) bringUpToDate(session, options.key);
    const sealer = openSealer(session, options.key); // another process may have made the database, with another key, since we looked
    await sealLegacyRowsAnew(session, sealer);
    if (isAlone) compactSmall(session);
    if (isAlone) bearTime(path, readRow(session).foldedAt); // whatever stands in a database without a log is the store
    const store = new SqliteStore({
      ...partsOf({ session, sealer, watch: openedNow(watch, path), options }),
      ...{ isReadOnly: false, quota: quotaOf(options) },
      keepRemovals: options.keepRemovals ?? KEEP_REMOVALS,
      eraseAtOnce: options.eraseAtOnce ?? ERASE_AT_ONCE,
    });
    store.keepTime();
    store.resume();
    return store;
  });
}

/**
 * Opens an existing database of which nothing can be written, neither the file nor a log beside it: every write is refused with
 * `store_readonly`. Throws as {@link openSqliteStore}.
 */
export async function openSqliteStoreToRead(options: SqliteStoreOptions): Promise<MemoryStore> {
  return openToRead(options, (parts) => {
    const quota = quotaOf(options);
    const limits = { quota, keepRemovals: KEEP_REMOVALS, eraseAtOnce: ERASE_AT_ONCE };
    return new SqliteStore({ ...parts, ...limits, isReadOnly: true });
  });
}

/**
 * Opens an existing database to read: makes nothing, migrates nothing, deletes nothing. Throws as {@link openSqliteStore};
 * `store_unavailable` when there is no database yet.
 */
export async function openSqliteReader(options: SqliteReaderOptions): Promise<MemoryReader> {
  return openToRead(options, (parts) => new SqliteReader(parts));
}

/** Throws `store_not_ours` when somebody else's database is at the path. Changes nothing, and asks for no key. */
export async function requireOwnDatabase(path: string, driver: SqliteDriver): Promise<void> {
  const file = await realpath(path).catch(() => undefined);
  if (file !== undefined && stat(file)?.isFile() === true) await requireOurs(file, driver);
}

async function openToRead<T>(options: SqliteStoreOptions, make: (parts: SqliteReaderParts) => T): Promise<T> {
  const path = await findDatabase(options.path);
  const watch = new FileWatch(options.path, path);
  await requireOurs(path, options.driver);
  await requireSoundLog(path);
  const mode = await modeToRead(path);
  return withSession({ path, options, mode }, async (session) => {
    requireTables(session);
    const sealer = openSealer(session, options.key);
    const isStill = mode !== "read";
    return make(partsOf({ session, sealer, watch: openedNow(watch, path), options, isStill }));
  });
}

/**
 * Before anything is opened to write: whose the file is, whether the log beside it is whole, and whether it fits the file, since
 * SQLite would fold into whatever it finds.
 */
async function lookFirst(path: string, options: SqliteStoreOptions, watch: FileWatch): Promise<void> {
  await requireOurs(path, options.driver);
  if (!watch.hasLog()) return;
  await requireSoundLog(path);
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

/** Opens the connection, and closes it again if anything after that fails. */
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

/** Where nobody would notice: then freed pages return from now on. Whoever is at work here keeps it as it is until another opening. */
function compactSmall(session: SqliteSession): void {
  if (!isCompactedQuickly(session)) return;
  try {
    session.patiently(0, () => compact(session));
  } catch {
    // It was not needed for anything now.
  }
}

function bringUpToDate(session: SqliteSession, key: MasterKey): void {
  migrate(session, new SealingKeys(key));
  const time = session.write(() => announceFold(session, 0));
  bearTime(session.path, time);
}

/** The connection has read, so all its files are there and stay; and they are those that were looked at before. */
function openedNow(watch: FileWatch, path: string): FileWatch {
  if (!watch.isDatabaseSame()) throw exchangedAtOpen(path);
  watch.begin();
  return watch;
}

interface Opened {
  readonly session: SqliteSession;
  readonly sealer: Sealer;
  readonly watch: FileWatch;
  readonly options: SqliteStoreOptions;
  readonly isStill?: boolean;
}

function partsOf({ session, sealer, watch, options, isStill = false }: Opened): SqliteReaderParts {
  const { driver, now = Date.now, beginnings = 0 } = options;
  const row = schemaVersionOf(session) < IDENTITY_SINCE ? undefined : readRow(session);
  return {
    ...{ session, sealer, driverName: driver.name },
    clock: new StoreClock(now, row && timeSeenIn(row)),
    guard: new StoreGuard({ session, driver, watch, isStill, ...defined({ row }) }),
    beginnings: new Beginnings(beginnings),
  };
}

function quotaOf({ quota }: SqliteStoreOptions): Quota {
  return { ...DEFAULT_QUOTA, ...quota };
}

function readRow(session: SqliteSession): StoreRow {
  return session.read(() => readStoreRow(session));
}

/** Where neither a log nor its index can be made, SQLite has to do without. */
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
    PRAGMA wal_autocheckpoint = 0;  -- the log is folded by ourselves alone, see fold.ts
    PRAGMA synchronous = FULL;      -- a commit has been synced when it returns; said aloud, since the default may be less
    PRAGMA fullfsync = ON;          -- on macOS a plain fsync stops at the drive's cache
    PRAGMA checkpoint_fullfsync = ON;
    PRAGMA secure_delete = ON;      -- deleted content is zeroed in its page
  `;
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
async function enterWal(session: SqliteSession): Promise<void> {
  const deadline = performance.now() + session.patienceMs;
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
