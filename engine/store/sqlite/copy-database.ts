/**
 * Copies a database while others use it, and replaces one that nobody uses.
 *
 * The danger is an accident: a file copy of a database in use mixes two moments, and a process with a replaced database open
 * would keep writing where nobody looks. So SQLite itself makes the copy, of one moment, and a database is only replaced while we
 * hold it exclusively (SQLite refuses to leave WAL mode while others use the log).
 */
import { HelmdeckError } from "../../errors.ts";
import { placeOnce } from "../../private-file.ts";
import { findDatabase } from "./database-file.ts";
import { dropSnapshots } from "./index-snapshots.ts";
import { requireOwnFile } from "./require-own-file.ts";
import type { SqliteConnection, SqliteDriver } from "./sqlite-driver.ts";
import { explainSqliteError, isBusy } from "./sqlite-errors.ts";
import { SqliteSession } from "./sqlite-session.ts";
import { requireIntactWal } from "./wal-frames.ts";

/** Writes a snapshot of the database into a new file, 0600, without deleted content. */
export async function copyDatabase(path: string, into: string, driver: SqliteDriver): Promise<void> {
  const file = await findDatabase(path);
  await requireOwnFile(file, driver);
  await requireIntactWal(file);
  if (!(await placeOnce(into, new Uint8Array(0)))) throw taken(into); // SQLite would create it with the umask's mode
  await withConnection({ file, driver, mode: "read" }, (connection) => {
    connection.exec("PRAGMA busy_timeout = 5000; PRAGMA temp_store = MEMORY;");
    connection.prepare("VACUUM INTO ?").run(into);
  });
  await withConnection({ file: into, driver, mode: "write" }, dropSnapshots);
}

/** For a file that nobody else knows of yet. */
export async function setGeneration(file: string, generation: number, driver: SqliteDriver): Promise<void> {
  await withConnection({ file, driver, mode: "write" }, (connection) => {
    connection.exec("PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;");
    connection.prepare("UPDATE store SET generation = ?").run(generation);
  });
}

/**
 * Runs the work while the database is locked exclusively, its log checkpointed and removed. Throws `store_locked` when somebody
 * has it open.
 */
export async function whileAlone<T>(file: string, driver: SqliteDriver, work: () => Promise<T>): Promise<T> {
  await requireIntactWal(file); // otherwise the intact part would be checkpointed and the rest lost
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

/** For a process that is about to close it. */
const ALONE_PATIENCE_MS = 1_000;

/**
 * Locks the database exclusively, in an open transaction, until the connection closes. Throws `store_locked`, or SQLite's own
 * error.
 */
export function holdAlone(connection: SqliteConnection, file: string): SqliteSession {
  connection.exec("PRAGMA trusted_schema = OFF; PRAGMA synchronous = FULL;");
  const session = new SqliteSession(connection, file, ALONE_PATIENCE_MS);
  if (session.pragma("journal_mode = DELETE") !== "delete") throw inUse(file);
  connection.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;");
  // Another process may have opened it in between.
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
    `The memory database ${path} is in use, and nothing was changed. Stop every process that has it open (the OpenClaw gateway, ` +
      "helmdeck-memory serve or mcp, an open shell), and try again.",
    { details: { path }, cause },
  );
}
