/**
 * One installer at a time: two that change one configuration and one journal would each undo half of what the other did.
 *
 * The lock is SQLite's on a small file, so the kernel lets go of it when its holder ends, however that ends: there is no stale
 * lock to tell from a live one by a process id that may be somebody else's by now. The id in the file is for the message.
 */
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { HelmdeckError } from "../app/index.ts";

export type InstallerLock =
  | { readonly isAcquired: true; readonly release: () => void }
  /** Undefined: it has only just begun. */
  | { readonly isAcquired: false; readonly holder: number | undefined };

/** Readers of the file hold it for a moment. */
const PATIENCE_MS = 1_000;
const SQLITE_BUSY = 5;
/** Out of the garbage collector's reach, which closes what it takes, and so would let go. */
const held = new Set<DatabaseSync>();

/** Beside the journal, and not in its folder, which goes with it. */
export function installerLockFile(journalFolder: string): string {
  return join(dirname(journalFolder), "install.lock");
}

/** Throws `store_unavailable` where the file cannot be made. */
export function acquireInstallerLock(file: string): InstallerLock {
  const database = opened(file);
  try {
    // The id is written for others to read; then the lock that lets them read is kept.
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
    closeSync(openSync(file, "a", 0o600)); // private before SQLite opens it
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
    return undefined; // it is being written
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
}

function unusable(file: string, cause: unknown): HelmdeckError {
  return new HelmdeckError(
    "store_unavailable",
    `${file} cannot be used as this program's lock; see that this account may write there, or move the file away.`,
    { cause },
  );
}
