/**
 * Opens the database: checks that it is reachable, ours, of a known schema, under a role bound by row-level security, and that
 * the key is right.
 */
import { defined } from "../../defined.ts";
import { HelmdeckError, invalidField } from "../../errors.ts";
import { DEFAULT_QUOTA, type Quota } from "../../rules/quota.ts";
import { Beginnings } from "../beginnings.ts";
import { KEEP_REMOVALS } from "../cursors.ts";
import type { KeyChangingStore } from "../key-change.ts";
import type { MasterKey } from "../master-key.ts";
import type { MemoryReader, MemoryStore, StoreFacts, UnixMs } from "../memory-store.ts";
import { Sealer } from "../sealing.ts";
import { StoreClock } from "../store-clock.ts";
import { decodeTimeSeen } from "../time-seen.ts";
import { ChangeNotifications } from "./change-notifications.ts";
import type { Connection } from "./connection.ts";
import { Database, type DatabaseOptions } from "./database.ts";
import { type VerifiedRows, type VerifyHooks, verifyRows } from "./inspect-store.ts";
import { isForbidden } from "./postgres-errors.ts";
import { PostgresReader, type PostgresReaderParts } from "./postgres-reader.ts";
import { PostgresStore } from "./postgres-store.ts";
import {
  type MigrateOptions,
  migrate,
  requireKnown,
  SCHEMA_VERSION,
  type SchemaState,
  schemaStateOf,
} from "./schema.ts";
import { makeStoreRow, openRing, readStoreRow, type StoreRow } from "./store-row.ts";

export interface PostgresReaderOptions extends DatabaseOptions {
  readonly key: MasterKey;
  /** Replaces the server's clock, which all engines share. */
  readonly now?: () => UnixMs;
  /** How often this process has opened another database under the same cursors: readers then start over. Default 0. */
  readonly beginnings?: number;
}

export interface PostgresStoreOptions extends PostgresReaderOptions {
  /** The least number of a subject's removals that the change feed remembers; default 20,000. */
  readonly keepRemovals?: number;
  /** A subject's limits, including its sessions; default 100,000 entries and 256 MiB. */
  readonly quota?: Partial<Quota>;
}

const OLDEST_SERVER = 14;

/**
 * Opens the store under a role for which it was prepared; a role that may create tables prepares it first.
 *
 * @throws `key_wrong`, `store_not_ours`, `store_newer`, `store_corrupt`, `store_locked`, `store_full`, `store_readonly`,
 * `store_unavailable`; after any of them the data is intact.
 */
export function openPostgresStore(options: PostgresStoreOptions): Promise<ServedStore> {
  return openToWrite(options);
}

/** A store that may be on a standby, and notifies of other engines' writes. */
type ServedStore = MemoryStore & Pick<PostgresStore, "isWritable" | "watch">;

/**
 * Opens the store to change its key: with the current key or, during a change, with either. Throws like {@link
 * openPostgresStore}.
 */
export function openPostgresStoreToChangeKey(options: PostgresStoreOptions): Promise<KeyChangingStore> {
  return openToWrite(options);
}

function openToWrite(options: PostgresStoreOptions): Promise<PostgresStore> {
  return withDatabase(options, async (database) => {
    const row = await readOrMakeRow(database, options.key);
    const store = new PostgresStore({
      ...partsOf(database, row, options),
      notifications: new ChangeNotifications(database),
      keepRemovals: options.keepRemovals ?? KEEP_REMOVALS,
      quota: { ...DEFAULT_QUOTA, ...options.quota },
    });
    await store.keepTime().catch(() => undefined); // the next write does it; a standby never
    return store;
  });
}

/**
 * Opens an existing store for reading: creates nothing, migrates nothing, deletes nothing. Throws like {@link openPostgresStore}.
 */
export async function openPostgresReader(options: PostgresReaderOptions): Promise<MemoryReader> {
  return withDatabase(options, async (database) => {
    const { row } = await database.perform(findStore);
    return new PostgresReader(partsOf(database, row, options));
  });
}

/** Opens every row, and changes nothing. Throws like {@link openPostgresStore}. */
export function verifyPostgres(options: PostgresReaderOptions, hooks: VerifyHooks): Promise<VerifiedRows> {
  return withDatabase(options, async (database) => {
    const { row } = await database.perform(findStore);
    const verified = await verifyRows(partsOf(database, row, options), hooks);
    await database.close();
    return verified;
  });
}

/** Creates nothing. Throws like {@link openPostgresStore}. */
export function readPostgresFacts(options: PostgresReaderOptions): Promise<StoreFacts> {
  return withDatabase(options, async (database) => {
    const facts = await database.perform(async (connection) => {
      const { version, row } = await findStore(connection);
      const { current, former } = openRing(options.key, row, connection.name);
      const [counted] = await connection.transaction("read", () =>
        connection.acrossSubjects().query("SELECT count(*) AS n FROM entries"),
      );
      const keys = { current: current.id, ...defined({ former: former?.id }) };
      return { ...row.identity, schemaVersion: version, entries: Number(counted?.n), keys };
    });
    await database.close();
    return facts;
  });
}

/** Creates or migrates the tables, and grants engines' roles access: for a role that may create tables. */
export async function preparePostgres(options: DatabaseOptions & MigrateOptions): Promise<void> {
  await withDatabase(options, async (database) => {
    await database.perform(async (connection) => {
      await requireRowSecurity(connection);
      await requireEngineRoles(connection, options.engineRoles ?? []);
      await migrate(connection, options);
    });
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
    await requireRowSecurity(connection);
    const { version } = await schemaStateOf(connection);
    if (version < SCHEMA_VERSION) await prepareFirst(connection);
    await requireUsable(connection);
    const known = await readStoreRow(connection);
    if (known !== undefined) return known;
    await connection.transaction("write", () => makeStoreRow(connection, key));
    return (await findStore(connection)).row;
  });
}

async function prepareFirst(connection: Connection): Promise<void> {
  try {
    await migrate(connection);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new HelmdeckError(
      "store_unavailable",
      `The memory database ${connection.name} is not prepared for this program, and this role is not allowed to do it. ` +
        "Prepare it with the role that owns the schema, then start the engines.",
      { details: { schema: connection.schema } },
    );
  }
}

async function requireUsable(connection: Connection): Promise<SchemaState> {
  await requireRowSecurity(connection);
  const state = await schemaStateOf(connection);
  requireKnown(connection, state);
  if (state.version < SCHEMA_VERSION) throw nothingStored(connection.name);
  return state;
}

async function findStore(
  connection: Connection,
): Promise<{ readonly version: number; readonly row: StoreRow }> {
  const { version } = await requireUsable(connection);
  const row = await readStoreRow(connection);
  if (row === undefined) throw nothingStored(connection.name);
  return { version, row };
}

/** Row-level security does not apply to these roles, so they are refused. */
export async function requireRowSecurity(connection: Connection): Promise<void> {
  const [role] = await connection.query(
    "SELECT (rolsuper OR rolbypassrls)::int AS passes, current_setting('server_version_num')::int AS version FROM pg_roles WHERE rolname = current_user",
  );
  if (Number(role?.version) < OLDEST_SERVER * 10_000) throw tooOld(connection.name);
  if (role?.passes !== 1) return;
  throw new HelmdeckError(
    "store_unavailable",
    `The memory database ${connection.name} cannot be opened by a superuser or a role with BYPASSRLS, because row-level security does ` +
      "not apply to it. Use a role without these rights.",
    { details: { role: "superuser" } },
  );
}

/** Engines could not open the store under these roles. Checked before anything is created for them. */
export async function requireEngineRoles(connection: Connection, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const [role] = await connection.query(
      "SELECT (rolsuper OR rolbypassrls)::int AS passes FROM pg_roles WHERE rolname = ?",
      [name],
    );
    if (role === undefined)
      throw unfitRole(name, "does not exist on the server; create it with CREATE ROLE … LOGIN");
    if (role.passes === 1)
      throw unfitRole(name, "is a superuser or has BYPASSRLS; name one without these rights");
  }
}

function unfitRole(name: string, rule: string): HelmdeckError {
  return invalidField("engine_role", rule, { named: `The role ${name}` });
}

function partsOf(
  database: Database,
  row: StoreRow,
  { key, now, beginnings = 0 }: PostgresReaderOptions,
): PostgresReaderParts {
  database.clock.set(row.clock);
  const seen = row.timeSeen === undefined ? undefined : decodeTimeSeen(row.timeSeen);
  const keyWatch = { unknown: 0 };
  const onUnknown = (): void => {
    keyWatch.unknown += 1;
  };
  const begun = new Beginnings(beginnings);
  database.onTakeover(() => begun.renew());
  return {
    database,
    keyWatch,
    identity: row.identity,
    sealer: new Sealer({ ring: openRing(key, row, database.name), onUnknown }),
    clock: new StoreClock(now ?? (() => database.clock.now()), seen),
    beginnings: begun,
  };
}

function nothingStored(name: string): HelmdeckError {
  return new HelmdeckError(
    "store_unavailable",
    `The memory database ${name} is empty or outdated; open it once for writing to set it up.`,
    { details: { nothingStored: true } },
  );
}

function tooOld(name: string): HelmdeckError {
  return new HelmdeckError(
    "store_unavailable",
    `The memory database ${name} is on a server older than PostgreSQL ${OLDEST_SERVER}. Upgrade the server.`,
  );
}
