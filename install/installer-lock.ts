/**
 * Allows one installer at a time, because two would overwrite each other's changes to the configuration and the journal.
 *
 * It uses SQLite's lock on a small file, so the kernel releases it when the process ends, in whatever way. So there are no
 * stale locks, and no guessing from reused process ids. The id in the file is only for the message.
 */
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { HelmdeckError } from "../engine/errors.ts";

export type InstallerLock =
  | { readonly isAcquired: true; readonly release: () => void }
  /** Undefined: it has only just begun. */
  | { readonly isAcquired: false; readonly holder: number | undefined };

/** Readers of the file hold the lock briefly. */
const PATIENCE_MS = 1_000;
const SQLITE_BUSY = 5;
/** Kept referenced: the garbage collector would close the database and so release the lock. */
const held = new Set<DatabaseSync>();

/** Next to the journal's folder, which is deleted with the journal. */
export function installerLockFile(journalFolder: string): string {
  return join(dirname(journalFolder), "install.lock");
}

/** Throws `store_unavailable` if the file cannot be created. */
export function acquireInstallerLock(file: string): InstallerLock {
  const database = opened(file);
  try {
    // Writes the id for other processes, then keeps a lock that still lets them read it.
    database.exec(`BEGIN EXCLUSIVE; PRAGMA user_version = ${process.pid}; COMMIT; BEGIN IMMEDIATE`);
    held.add(database);
    return { isAcquired: true, release: () => letGo(database) };
  } catch (error) {
    const holder = isBusy(error) ? holderIn(database) : undefined;
    database.close();
    if (isBusy(error)) return { isAcquired: false, holder };
    throw unusable(file, error);
  }
}

function opened(file: string): DatabaseSync {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, "a", 0o600)); // 0600 before SQLite opens it
    return new DatabaseSync(file, { timeout: PATIENCE_MS });
  } catch (error) {
    throw unusable(file, error);
  }
}

function letGo(database: DatabaseSync): void {
  held.delete(database);
  database.close();
}

function holderIn(database: DatabaseSync): number | undefined {
  try {
    const holder = database.prepare("PRAGMA user_version").get()?.user_version;
    return typeof holder === "number" && holder > 0 ? holder : undefined;
  } catch {
    return undefined; // being written at the moment
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
}

function unusable(file: string, cause: unknown): HelmdeckError {
  return new HelmdeckError(
    "store_unavailable",
    `${file} cannot be used as the installer's lock file. Make it writable for this account, or move it away.`,
    { cause },
  );
}
