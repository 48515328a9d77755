/** A memory database on PostgreSQL at an address: how it is reached, and with which password. */
import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "node:tls";
import { defined, invalidField } from "../../engine/index.ts";
import { openPostgresStore, type PostgresConnection } from "../../engine/postgres.ts";
import { readSecretFile } from "../secret-file.ts";
import { type AddressOptions, readStoreAddress, type StoreAddress } from "./store-address.ts";
import type { StoreServer } from "./store-server.ts";

const PASSWORD_FILE = "HELMDECK_MEMORY_STORE_PASSWORD_FILE";

/** Throws `invalid_input` for an address that is none; whether anybody answers there is seen at the opening. */
export async function postgresServer(text: string, options: AddressOptions): Promise<StoreServer> {
  const address = await readStoreAddress(text, options);
  const { hosts, database, needs, schema, connections, statementTimeoutMs } = address;
  const connection = await connectionTo(address, options.env);
  return {
    name: `postgres://${hosts.map(({ host, port }) => `${encodeURI(host)}:${port}`).join(",")}/${encodeURIComponent(database)}`,
    driver: "pg",
    open: (parts) =>
      openPostgresStore({
        ...{ connection, hosts, needs },
        ...defined({ schema, connections, statementTimeoutMs }),
        ...parts,
      }),
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
