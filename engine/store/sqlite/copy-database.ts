/**
 * A copy of a database, taken while others use it, and put in the place of another one that nobody uses.
 *
 * Who attacks: mishap. A database that is copied by other means while it is in use is half of two moments; one that is exchanged
 * while somebody has it open goes on growing where nobody looks. What stops them: SQLite itself makes the copy, of one moment; and
 * it is asked for the file alone (a log that others use cannot be left) before anything is put in its place.
 */
import { HelmdeckError } from "../../errors.ts";
import { placeOnce } from "../private-file.ts";
import { findDatabase } from "./database-file.ts";
import { requireSoundLog } from "./log-damage.ts";
import { requireOurs } from "./look.ts";
import type { SqliteConnection, SqliteDriver } from "./sqlite-driver.ts";
import { explainSqliteError, isBusy } from "./sqlite-errors.ts";
import { SqliteSession } from "./sqlite-session.ts";

/** Writes one moment of the database into a new file, 0600, without what was deleted from it. */
export async function copyDatabase(path: string, into: string, driver: SqliteDriver): Promise<void> {
  const file = await findDatabase(path);
  await requireOurs(file, driver);
  await requireSoundLog(file);
  if (!(await placeOnce(into, new Uint8Array(0)))) throw taken(into); // SQLite would make it for whom the umask allows
  await withConnection({ file, driver, mode: "read" }, (connection) => {
    connection.exec("PRAGMA busy_timeout = 5000; PRAGMA temp_store = MEMORY;");
    connection.prepare("VACUUM INTO ?").run(into);
  });
}

/** In a file that nobody else knows of yet. */
export async function setGeneration(file: string, generation: number, driver: SqliteDriver): Promise<void> {
  await withConnection({ file, driver, mode: "write" }, (connection) => {
    connection.exec("PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;");
    connection.prepare("UPDATE store SET generation = ?").run(generation);
  });
}

/**
 * Does the work while the database is locked against everybody, its log folded in and gone. Throws `store_locked` when somebody
 * has it open.
 */
export async function whileAlone<T>(file: string, driver: SqliteDriver, work: () => Promise<T>): Promise<T> {
  await requireSoundLog(file); // it would be folded in, as far as it is whole, and be gone
  const connection = await driver.open(file, "write");
  try {
    holdAlone(connection, file);
    return await work();
  } catch (error) {
    throw isBusy(error) ? inUse(file, error) : explainSqliteError(error, file);
  } finally {
    connection.close();
  }
}

/** For whoever is just closing it. */
const ALONE_PATIENCE_MS = 1_000;

/** Locks the database until the connection closes, in a transaction that has begun. Throws `store_locked`, or SQLite's own error. */
export function holdAlone(connection: SqliteConnection, file: string): SqliteSession {
  connection.exec("PRAGMA trusted_schema = OFF; PRAGMA synchronous = FULL;");
  const session = new SqliteSession(connection, file, ALONE_PATIENCE_MS);
  if (session.pragma("journal_mode = DELETE") !== "delete") throw inUse(file);
  connection.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;");
  // Somebody may have come in between.
  if (session.pragma("journal_mode") !== "delete") throw inUse(file);
  return session;
}

async function withConnection(
  {
    file,
    driver,
    mode,
  }: { readonly file: string; readonly driver: SqliteDriver; readonly mode: "read" | "write" },
  work: (connection: SqliteConnection) => void,
): Promise<void> {
  try {
    const connection = await driver.open(file, mode);
    try {
      work(connection);
    } finally {
      connection.close();
    }
  } catch (error) {
    throw explainSqliteError(error, file);
  }
}

function taken(path: string): HelmdeckError {
  return new HelmdeckError("invalid_input", `${path} already exists and was not changed.`, {
    details: { path },
  });
}

export function inUse(path: string, cause?: unknown): HelmdeckError {
  return new HelmdeckError(
    "store_locked",
    `The memory database ${path} is in use, and nothing was changed. Stop what has it open (the OpenClaw gateway, ` +
      "helmdeck-memory serve or mcp, an open shell), and try again.",
    { details: { path }, cause },
  );
}
