/** Opening the database: reachable, ours, of a schema that is known, under a role that the walls hold for, and with its key. */
import { HelmdeckError } from "../../errors.ts";
import { Beginnings } from "../beginnings.ts";
import { KEEP_REMOVALS } from "../cursors.ts";
import type { MasterKey } from "../master-key.ts";
import type { MemoryReader, MemoryStore, UnixMs } from "../memory-store.ts";
import { DEFAULT_QUOTA, type Quota } from "../quota.ts";
import { Sealer } from "../sealing.ts";
import { StoreClock } from "../store-clock.ts";
import { decodeTimeSeen } from "../time-seen.ts";
import type { Connection } from "./connection.ts";
import { Database, type DatabaseOptions } from "./database.ts";
import { DatabaseClock } from "./database-clock.ts";
import { isForbidden } from "./postgres-errors.ts";
import { PostgresReader, type PostgresReaderParts } from "./postgres-reader.ts";
import { PostgresStore } from "./postgres-store.ts";
import { type MigrateOptions, migrate, requireKnown, SCHEMA_VERSION, schemaStateOf } from "./schema.ts";
import { makeStoreRow, openRing, readStoreRow, type StoreRow } from "./store-row.ts";
import { Wakes } from "./wakes.ts";

export interface PostgresReaderOptions extends DatabaseOptions {
  readonly key: MasterKey;
  /** In place of the server's clock, by which all engines go. */
  readonly now?: () => UnixMs;
  /** How often this process has opened another database under the same cursors: readers then begin anew. Default 0. */
  readonly beginnings?: number;
}

export interface PostgresStoreOptions extends PostgresReaderOptions {
  /** How many removals of a subject the change feed remembers, at least; default 20,000. */
  readonly keepRemovals?: number;
  /** What one subject may hold, sessions included; default 100,000 entries and 256 MiB. */
  readonly quota?: Partial<Quota>;
}

const OLDEST_SERVER = 14;

/**
 * Opens the store, under a role for which it was prepared; a role that may make tables prepares it first.
 *
 * @throws `key_wrong`, and `store_not_ours`, `store_newer`, `store_corrupt`, `store_locked`, `store_full`, `store_readonly`,
 * `store_unavailable`; none of them takes anything away that was there.
 */
export function openPostgresStore(options: PostgresStoreOptions): Promise<ServedStore> {
  return openToWrite(options);
}

/** A store that may be on a standby, and tells of what others wrote. */
type ServedStore = MemoryStore & Pick<PostgresStore, "isWritable" | "watch">;

/** A store whose key can be changed. */
type KeyChangingStore = MemoryStore &
  Pick<PostgresStore, "beginKeyChange" | "sealAnew" | "exchangeKeys" | "finishKeyChange">;

/** Opens the store to change its key: with the key in use, or where a change has begun, with either. Throws as {@link openPostgresStore}. */
export function openPostgresStoreToChangeKey(options: PostgresStoreOptions): Promise<KeyChangingStore> {
  return openToWrite(options);
}

function openToWrite(options: PostgresStoreOptions): Promise<PostgresStore> {
  return withDatabase(options, async (database) => {
    const row = await readOrMakeRow(database, options.key);
    const store = new PostgresStore({
      ...partsOf(database, row, options),
      wakes: new Wakes(database),
      keepRemovals: options.keepRemovals ?? KEEP_REMOVALS,
      quota: { ...DEFAULT_QUOTA, ...options.quota },
    });
    await store.keepTime().catch(() => undefined); // the next write does it; a standby never
    return store;
  });
}

/** Opens an existing store to read: makes nothing, migrates nothing, deletes nothing. Throws as {@link openPostgresStore}. */
export async function openPostgresReader(options: PostgresReaderOptions): Promise<MemoryReader> {
  return withDatabase(options, async (database) => {
    const row = await database.perform(async (connection) => {
      await requireUsable(connection);
      return readStoreRow(connection);
    });
    if (row === undefined) throw nothingStored(database.name);
    return new PostgresReader(partsOf(database, row, options));
  });
}

/** Makes the tables, or brings them up to date, and lets engines' roles use them: for a role that may make tables. */
export async function preparePostgres(options: DatabaseOptions & MigrateOptions): Promise<void> {
  await withDatabase(options, async (database) => {
    await database.perform((connection) => migrate(connection, options));
    await database.close();
  });
}

async function withDatabase<T>(
  options: DatabaseOptions,
  setUp: (database: Database) => Promise<T>,
): Promise<T> {
  const database = new Database(options);
  try {
    return await setUp(database);
  } catch (error) {
    await database.close();
    throw error;
  }
}

function readOrMakeRow(database: Database, key: MasterKey): Promise<StoreRow> {
  return database.perform(async (connection) => {
    await requireWalls(connection);
    const { version } = await schemaStateOf(connection);
    if (version < SCHEMA_VERSION) await prepareFirst(connection);
    await requireUsable(connection);
    const known = await readStoreRow(connection);
    if (known !== undefined) return known;
    await connection.transaction("write", () => makeStoreRow(connection, key));
    const made = await readStoreRow(connection);
    if (made === undefined) throw nothingStored(database.name);
    return made;
  });
}

async function prepareFirst(connection: Connection): Promise<void> {
  try {
    await migrate(connection);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new HelmdeckError(
      "store_unavailable",
      `The memory database ${connection.name} is not prepared for this program, and this role may not do it. ` +
        "Let the role that owns the schema prepare it, and then start engines.",
      { details: { schema: connection.schema } },
    );
  }
}

async function requireUsable(connection: Connection): Promise<void> {
  await requireWalls(connection);
  const state = await schemaStateOf(connection);
  requireKnown(connection, state);
  if (state.version < SCHEMA_VERSION) throw nothingStored(connection.name);
}

/** Row-level security does not hold for these roles, so nothing is served under them. */
export async function requireWalls(connection: Connection): Promise<void> {
  const [role] = await connection.query(
    "SELECT (rolsuper OR rolbypassrls)::int AS passes, current_setting('server_version_num')::int AS version FROM pg_roles WHERE rolname = current_user",
  );
  if (Number(role?.version) < OLDEST_SERVER * 10_000) throw tooOld(connection.name);
  if (role?.passes !== 1) return;
  throw new HelmdeckError(
    "store_unavailable",
    `The memory database ${connection.name} is not opened by a superuser, or a role with BYPASSRLS: the walls between subjects do ` +
      "not hold for it. Give engines a role of their own.",
    { details: { role: "superuser" } },
  );
}

function partsOf(
  database: Database,
  row: StoreRow,
  { key, now, beginnings = 0 }: PostgresReaderOptions,
): PostgresReaderParts & { readonly databaseClock: DatabaseClock } {
  const databaseClock = new DatabaseClock();
  databaseClock.set(row.clock);
  const seen = row.timeSeen === undefined ? undefined : decodeTimeSeen(row.timeSeen);
  const keyWatch = { unknown: 0 };
  const onUnknown = (): void => {
    keyWatch.unknown += 1;
  };
  const begun = new Beginnings(beginnings);
  database.onTakeover = () => begun.renew();
  return {
    database,
    databaseClock,
    keyWatch,
    identity: row.identity,
    sealer: new Sealer({ ring: openRing(key, row, database.name), onUnknown }),
    clock: new StoreClock(now ?? (() => databaseClock.now()), seen),
    beginnings: begun,
  };
}

function nothingStored(name: string): HelmdeckError {
  return new HelmdeckError(
    "store_unavailable",
    `The memory database ${name} is empty or not up to date; open it once to write, and it will be set up.`,
    { details: { nothingStored: true } },
  );
}

function tooOld(name: string): HelmdeckError {
  return new HelmdeckError(
    "store_unavailable",
    `The memory database ${name} is on a server older than PostgreSQL ${OLDEST_SERVER}. Upgrade the server.`,
  );
}
