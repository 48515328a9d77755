/** A PostgreSQL store in its own schema, with a fake clock and access to its tables. */

import type { MasterKey } from "../../../../engine/store/master-key.ts";
import type { EntryRef, MemoryReader } from "../../../../engine/store/memory-store.ts";
import type { PostgresConnection } from "../../../../engine/store/postgres/database.ts";
import {
  openPostgresReader,
  openPostgresStore,
  type PostgresStoreOptions,
  preparePostgres,
} from "../../../../engine/store/postgres/open-postgres.ts";
import { type RigOptions, START, type StoreRig } from "../../../contract/rig.ts";
import type { PostgresServer } from "../../../postgres/server.ts";
import { KEY } from "../sqlite-rig.ts";

/** This role may create tables. */
export const OWNER = "keeper";
/** The role of the engines. */
export const ENGINE = "engine";

export interface PostgresRig extends StoreRig {
  readonly schema: string;
  /** The options for opening the store again. */
  readonly options: PostgresStoreOptions;
  readonly openAgain: NonNullable<StoreRig["openAgain"]>;
  readonly openReader: NonNullable<StoreRig["openReader"]>;
  /** Runs SQL as the superuser, who has full access to the database but no key. */
  tamper(sql: string, ...values: readonly unknown[]): Promise<void>;
}

export async function makeRoles(server: PostgresServer): Promise<void> {
  await server.query(`CREATE ROLE ${OWNER} LOGIN`);
  await server.query(`CREATE ROLE ${ENGINE} LOGIN`);
  await server.query(`GRANT CREATE ON DATABASE postgres TO ${OWNER}`);
}

let made = 0;

/** An empty schema, prepared for the engines' role. */
async function makeSchema(server: PostgresServer): Promise<string> {
  made += 1;
  const schema = `memory_${made}`;
  const connection: PostgresConnection = { connectionString: server.url({ user: OWNER }) };
  await preparePostgres({ connection, schema, engineRoles: [ENGINE] });
  return schema;
}

export async function openPostgresRig(
  server: PostgresServer,
  { eraseAtOnce: _, ...more }: RigOptions & { readonly key?: MasterKey } = {},
): Promise<PostgresRig> {
  const schema = await makeSchema(server);
  const clock = { now: START };
  const options = {
    connection: { connectionString: server.url({ user: ENGINE }) },
    schema,
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
    await server.query(sql, values);
  };
  return {
    store: await keep(openPostgresStore(options)),
    clock,
    schema,
    options,
    tamper,
    openAgain: () => keep(openPostgresStore(options)),
    openReader: () => keep(openPostgresReader(options)),
    damage: ({ namespace, origin, key }: EntryRef) =>
      tamper(
        `UPDATE ${schema}.entries SET sealed = decode(repeat('00', octet_length(sealed)), 'hex')
         WHERE namespace = $1 AND origin = $2 AND key = $3`,
        ...[Buffer.from(namespace), origin, Buffer.from(key)],
      ),
    dispose: async () => {
      for (const store of opened) await store.close();
      await server.query(`DROP SCHEMA ${schema} CASCADE`);
    },
  };
}
