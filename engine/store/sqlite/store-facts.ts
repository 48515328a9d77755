/** A database's identity and keys, read through a separate connection that changes nothing. */
import { defined } from "../../defined.ts";
import { HelmdeckError } from "../../errors.ts";
import type { MasterKey } from "../master-key.ts";
import type { StoreFacts } from "../memory-store.ts";
import { findDatabase } from "./database-file.ts";
import { requireOwnFile } from "./require-own-file.ts";
import { schemaVersionOf } from "./schema.ts";
import type { SqliteDriver } from "./sqlite-driver.ts";
import { explainSqliteError } from "./sqlite-errors.ts";
import { SqliteSession } from "./sqlite-session.ts";
import { IDENTITY_SINCE, identityNamed, readStoreRow } from "./store-row.ts";
import { openSealer } from "./stored-keys.ts";

export interface StorePlace {
  readonly path: string;
  readonly driver: SqliteDriver;
  readonly key?: MasterKey;
}

/** Throws like `openSqliteReader`; `key_wrong` when the given key does not open it. */
export async function readStoreFacts({ path, driver, key }: StorePlace): Promise<StoreFacts> {
  const file = await findDatabase(path);
  await requireOwnFile(file, driver);
  const connection = await driver.open(file, "read").catch((error: unknown) => {
    throw explainSqliteError(error, file);
  });
  try {
    return factsOf(new SqliteSession(connection, file), key);
  } catch (error) {
    throw explainSqliteError(error, file);
  } finally {
    connection.close();
  }
}

function factsOf(session: SqliteSession, key: MasterKey | undefined): StoreFacts {
  const schemaVersion = schemaVersionOf(session);
  if (schemaVersion === 0) throw nothingStored(session.path);
  const ring = key && openSealer(session, key).ring;
  return session.read(() => ({
    ...(schemaVersion < IDENTITY_SINCE ? { generation: 1 } : identityNamed(readStoreRow(session).identity)),
    schemaVersion,
    entries: Number(session.statement("SELECT count(*) AS n FROM entries").get()?.n),
    ...(ring && { keys: { current: ring.current.id, ...defined({ former: ring.former?.id }) } }),
  }));
}

function nothingStored(path: string): HelmdeckError {
  return new HelmdeckError(
    "store_unavailable",
    `The memory database ${path} is empty: nothing has been stored yet.`,
    { details: { path, nothingStored: true } },
  );
}
