/** Translates SQLite's error codes, of both drivers, into errors for people. */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { type ErrorCode, HelmdeckError } from "../../errors.ts";

/** The primary result codes that are distinguished here. */
const NAMES: Readonly<Record<number, string>> = {
  1: "ERROR",
  3: "PERM",
  5: "BUSY",
  6: "LOCKED",
  7: "NOMEM",
  8: "READONLY",
  10: "IOERR",
  11: "CORRUPT",
  13: "FULL",
  14: "CANTOPEN",
  15: "PROTOCOL",
  19: "CONSTRAINT",
  23: "AUTH",
  26: "NOTADB",
};

/** The extended disk error codes that are distinguished here. */
const DISK_NAMES: Readonly<Record<number, string>> = {
  [10 | (4 << 8)]: "IOERR_FSYNC",
  [10 | (5 << 8)]: "IOERR_DIR_FSYNC",
  // The log's index could not grow; SQLite does not give a reason.
  [10 | (19 << 8)]: "IOERR_SHMSIZE",
};
/** More than SQLite allocates at once. */
const MIN_FREE_BYTES = 1024 * 1024;

interface Meaning {
  readonly code: ErrorCode;
  readonly says: string;
}

const CORRUPT: Meaning = {
  code: "store_corrupt",
  says: "is damaged (truncated or overwritten). Keep it, and restore a backup; `doctor` shows more",
};
const LOCKED: Meaning = {
  code: "store_locked",
  says: "is locked by another process. Try again; if the error persists, check which process has it open",
};
const FULL: Meaning = {
  code: "store_full",
  says: "cannot grow: the disk is full. This write was rolled back; earlier ones are intact. Free some space",
};
const IOERR: Meaning = {
  code: "store_unavailable",
  says: "could not be read or written: the disk or file system reported an error. Check the system's log",
};
/** A later sync may succeed although earlier data is lost: the system forgets what it could not write. */
const NOT_SYNCED: Meaning = {
  code: "store_unavailable",
  says:
    "could not be synced: the disk or file system reported an error. This write was not acknowledged, and this connection " +
    "no longer reads or writes. Check the system's log",
};
const CLOSED_OFF: Meaning = {
  code: "store_unavailable",
  says: "cannot be opened. Check the owner and mode of the file and of its folder",
};

const MEANINGS: Readonly<Record<string, Meaning>> = {
  BUSY: LOCKED,
  LOCKED,
  PROTOCOL: LOCKED,
  FULL,
  CORRUPT,
  // Our own statements violate no constraint of an intact database.
  CONSTRAINT: CORRUPT,
  NOTADB: {
    code: "store_not_ours",
    says: "is not a SQLite database, or its first page was overwritten. It was not changed; check the path",
  },
  READONLY: {
    code: "store_readonly",
    says: "is read-only. Make the file and its folder writable, or use an account that may write them",
  },
  CANTOPEN: CLOSED_OFF,
  PERM: CLOSED_OFF,
  AUTH: CLOSED_OFF,
  IOERR,
  IOERR_FSYNC: NOT_SYNCED,
  IOERR_DIR_FSYNC: NOT_SYNCED,
  NOMEM: { code: "store_unavailable", says: "cannot be used: the process is out of memory" },
};

/**
 * Our own errors unchanged; SQLite's with our code and a remedy; anything else as `internal`. Messages never hold values. The
 * detail `reopen` says that the store must be opened again.
 */
export function explainSqliteError(error: unknown, path: string): HelmdeckError {
  if (error instanceof HelmdeckError) return error;
  const name = sqliteNameOf(error);
  const meaning = name === undefined ? undefined : meaningOf(name, path);
  if (meaning === undefined) {
    return new HelmdeckError("internal", `The memory database ${path} failed unexpectedly.`, {
      details: { path },
      cause: error,
    });
  }
  return new HelmdeckError(meaning.code, `The memory database ${path} ${meaning.says}.`, {
    details: { path, sqlite: `SQLITE_${name}`, ...(meaning === NOT_SYNCED && { reopen: true }) },
    cause: error,
  });
}

function meaningOf(name: string, path: string): Meaning | undefined {
  if (name === "IOERR_SHMSIZE") return hasRoom(path) ? IOERR : FULL;
  return MEANINGS[name];
}

/** Whether the volume has free space; one that does not report it counts as not full. */
function hasRoom(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize >= MIN_FREE_BYTES;
  } catch {
    return true;
  }
}

/** Whether a retry may succeed soon. */
export function isBusy(error: unknown): boolean {
  const name = sqliteNameOf(error);
  return name !== undefined && MEANINGS[name] === LOCKED;
}

/** Whether a write may or may not have reached the disk. */
export function isFailedSync(error: unknown): boolean {
  const name = sqliteNameOf(error);
  return name !== undefined && MEANINGS[name] === NOT_SYNCED;
}

/** Whether a page is damaged, by SQLite's error or ours. */
export function isCorrupt(error: unknown): boolean {
  if (error instanceof HelmdeckError) return error.code === "store_corrupt";
  return sqliteNameOf(error) === "CORRUPT";
}

/** Whether the disk is full, by SQLite's error or ours. */
export function isFull(error: unknown): boolean {
  if (error instanceof HelmdeckError) return error.code === "store_full";
  const name = sqliteNameOf(error);
  return name !== undefined && MEANINGS[name] === FULL;
}

/** Whether a statement did not match the schema: no such table or column. */
export function isSchemaMismatch(error: unknown): boolean {
  return sqliteNameOf(error) === "ERROR";
}

/** node:sqlite gives the extended code as a number, better-sqlite3 as a name such as "SQLITE_BUSY_RECOVERY". */
function sqliteNameOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("errcode" in error && typeof error.errcode === "number") {
    return DISK_NAMES[error.errcode] ?? NAMES[error.errcode & 0xff];
  }
  if (!("code" in error) || typeof error.code !== "string") return undefined;
  const [library, primary] = error.code.split("_");
  if (library !== "SQLITE") return undefined;
  return Object.values(DISK_NAMES).find((name) => error.code === `SQLITE_${name}`) ?? primary;
}
