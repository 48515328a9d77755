/** Connects to a memory database on PostgreSQL: address, TLS and password. */
import type { ConnectionOptions } from "node:tls";
import { defined } from "../../engine/defined.ts";
import { invalidField } from "../../engine/errors.ts";
import { readGivenFile } from "../../engine/given-file.ts";
import type { PostgresConnection } from "../../engine/store/postgres/database.ts";
import {
  openPostgresReader,
  openPostgresStore,
  openPostgresStoreToChangeKey,
  type PostgresStoreOptions,
  readPostgresFacts,
  verifyPostgres,
} from "../../engine/store/postgres/open-postgres.ts";
import { readSecretFile } from "../secret-file.ts";
import { type AddressOptions, readStoreAddress, type StoreAddress } from "./store-address.ts";
import type { StoreServer } from "./store-server.ts";

const PASSWORD_FILE = "HELMDECK_MEMORY_STORE_PASSWORD_FILE";

/** The connection options that an address determines. */
export type PostgresReached = Pick<PostgresStoreOptions, "connection" | "hosts" | "needs" | "schema">;

/** Throws `invalid_input` for an invalid address. Does not connect yet. */
export async function postgresServer(text: string, options: AddressOptions): Promise<StoreServer> {
  const { address, name, reached } = await reachPostgres(text, options);
  const { connections, statementTimeoutMs } = address;
  const opening = { ...reached, ...defined({ connections, statementTimeoutMs }) };
  return {
    name,
    driver: "pg",
    open: (parts) => openPostgresStore({ ...opening, ...parts }),
    openReader: (key) => openPostgresReader({ ...opening, key }),
    openToChangeKey: (key) => openPostgresStoreToChangeKey({ ...opening, key }),
    look: (key) => readPostgresFacts({ ...opening, key }),
    verify: (key, hooks) => verifyPostgres({ ...opening, key }, hooks),
  };
}

/**
 * For callers that open the database in another way. `name`: for people, without user and password. Throws like {@link
 * postgresServer}.
 */
export async function reachPostgres(
  text: string,
  options: AddressOptions,
): Promise<{ readonly address: StoreAddress; readonly name: string; readonly reached: PostgresReached }> {
  const address = await readStoreAddress(text, options);
  const { hosts, database, needs, schema } = address;
  const connection = await connectionTo(address, options.env);
  return {
    address,
    name: `postgres://${hosts.map(({ host, port }) => `${encodeURI(host)}:${port}`).join(",")}/${encodeURIComponent(database)}`,
    reached: { connection, hosts, needs, ...defined({ schema }) },
  };
}

/** The password's file is read for each connection. Without one, pg looks for PGPASSWORD and, until its version 9, ~/.pgpass. */
async function connectionTo(
  { database, user, password, ...tls }: StoreAddress,
  env: AddressOptions["env"],
): Promise<PostgresConnection> {
  const file = env[PASSWORD_FILE];
  const ofFile = file && (async () => Buffer.from(await readSecretFile(file)).toString());
  return { database, ...defined({ user, password: ofFile || password }), ssl: await sslOf(tls) };
}

async function sslOf({
  tls,
  rootCertificate,
}: Pick<StoreAddress, "tls" | "rootCertificate">): Promise<false | ConnectionOptions> {
  if (tls === "none") return false;
  const ca = rootCertificate === undefined ? undefined : await certificatesIn(rootCertificate);
  return {
    rejectUnauthorized: true,
    ...defined({ ca }),
    ...(tls === "verify-ca" && { checkServerIdentity: () => undefined }),
  };
}

async function certificatesIn(path: string): Promise<string> {
  const read = await readGivenFile(path);
  if ("text" in read) return read.text;
  throw invalidField("sslrootcert", `names ${path}, which ${read.problem}`);
}
