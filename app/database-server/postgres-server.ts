/** A memory database on PostgreSQL at an address: how it is reached, and with which password. */
import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "node:tls";
import { defined, invalidField } from "../../engine/index.ts";
import {
  openPostgresStore,
  type PostgresConnection,
  type PostgresStoreOptions,
} from "../../engine/postgres.ts";
import { readSecretFile } from "../secret-file.ts";
import { type AddressOptions, readStoreAddress, type StoreAddress } from "./store-address.ts";
import type { StoreServer } from "./store-server.ts";

const PASSWORD_FILE = "HELMDECK_MEMORY_STORE_PASSWORD_FILE";

/** What the client needs to know of an address. */
export type PostgresReached = Pick<PostgresStoreOptions, "connection" | "hosts" | "needs" | "schema">;

/** Throws `invalid_input` for an address that is none; whether anybody answers there is seen at the opening. */
export async function postgresServer(text: string, options: AddressOptions): Promise<StoreServer> {
  const { address, name, reached } = await reachPostgres(text, options);
  const { connections, statementTimeoutMs } = address;
  return {
    name,
    driver: "pg",
    open: (parts) =>
      openPostgresStore({ ...reached, ...defined({ connections, statementTimeoutMs }), ...parts }),
  };
}

/** For whoever opens it in another way. `name`: for people, without user and password. Throws as {@link postgresServer}. */
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

/** Without a password here the client looks where libpq does: PGPASSWORD, PGPASSFILE, ~/.pgpass. */
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
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw invalidField("sslrootcert", `names a file that cannot be read: ${path}`, { cause });
  }
}
