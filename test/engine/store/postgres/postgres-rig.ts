/** A PostgreSQL store in a database of its own, with a fake clock and a hand inside its tables. */
import type { EntryRef, MasterKey, MemoryReader } from "../../../../engine/index.ts";
import {
  openPostgresReader,
  openPostgresStore,
  type PostgresStoreOptions,
  preparePostgres,
} from "../../../../engine/postgres.ts";
import { type RigOptions, START, type StoreRig } from "../../../contract/rig.ts";
import type { PostgresServer } from "../../../postgres/server.ts";
import { KEY } from "../sqlite-rig.ts";

/** May make tables. */
export const OWNER = "keeper";
/** What engines run under. */
export const ENGINE = "engine";

export interface PostgresRig extends StoreRig {
  readonly database: string;
  /** What the store was opened with, to open it once more. */
  readonly options: PostgresStoreOptions;
  readonly openAgain: NonNullable<StoreRig["openAgain"]>;
  readonly openReader: NonNullable<StoreRig["openReader"]>;
  /** Runs SQL as the superuser, who has the database but no key. */
  tamper(sql: string, ...values: readonly unknown[]): Promise<void>;
}

export async function makeRoles(server: PostgresServer): Promise<void> {
  await server.query(`CREATE ROLE ${OWNER} LOGIN`);
  await server.query(`CREATE ROLE ${ENGINE} LOGIN`);
}

let made = 0;

/** An empty database that is prepared for the engines' role. */
export async function makeDatabase(server: PostgresServer): Promise<string> {
  made += 1;
  const database = `memory_${made}`;
  await server.query(`CREATE DATABASE ${database} OWNER ${OWNER}`);
  await preparePostgres({
    connection: { connectionString: server.url({ user: OWNER, database }) },
    engineRoles: [ENGINE],
  });
  return database;
}

export async function openPostgresRig(
  server: PostgresServer,
  { eraseAtOnce: _, ...more }: RigOptions & { readonly key?: MasterKey } = {},
): Promise<PostgresRig> {
  const database = await makeDatabase(server);
  const clock = { now: START };
  const options = {
    connection: { connectionString: server.url({ user: ENGINE, database }) },
    key: KEY,
    now: () => clock.now,
    busyTimeoutMs: 2_000,
    connections: 4,
    ...more,
  };
  const opened: MemoryReader[] = [];
  const keep = async <T extends MemoryReader>(opening: Promise<T>): Promise<T> => {
    const store = await opening;
    opened.push(store);
    return store;
  };
  const tamper: PostgresRig["tamper"] = async (sql, ...values) => {
    await server.query(sql, values, { database });
  };
  return {
    store: await keep(openPostgresStore(options)),
    clock,
    database,
    options,
    tamper,
    openAgain: () => keep(openPostgresStore(options)),
    openReader: () => keep(openPostgresReader(options)),
    damage: ({ namespace, origin, key }: EntryRef) =>
      tamper(
        `UPDATE helmdeck_memory.entries SET sealed = decode(repeat('00', octet_length(sealed)), 'hex')
         WHERE namespace = $1 AND origin = $2 AND key = $3`,
        ...[Buffer.from(namespace), origin, Buffer.from(key)],
      ),
    dispose: async () => {
      for (const store of opened) await store.close();
      await server.query(`DROP DATABASE ${database}`);
    },
  };
}
