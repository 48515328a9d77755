/** What SQLite's failures mean to a person: both drivers' error codes, turned into ours in this one place. */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { type ErrorCode, HelmdeckError } from "../../errors.ts";

/** SQLite's primary result codes by number, as far as they are told apart here. */
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

/** Failures of the disk that are told apart, by extended code. */
const DISK_NAMES: Readonly<Record<number, string>> = {
  [10 | (4 << 8)]: "IOERR_FSYNC",
  [10 | (5 << 8)]: "IOERR_DIR_FSYNC",
  // The log's index could not grow; SQLite does not say why.
  [10 | (19 << 8)]: "IOERR_SHMSIZE",
};
/** More than SQLite asks for at once. */
const ROOM_BYTES = 1024 * 1024;

interface Meaning {
  readonly code: ErrorCode;
  readonly says: string;
}

const CORRUPT: Meaning = {
  code: "store_corrupt",
  says: "is damaged (truncated or overwritten). Keep it, and restore a backup; `doctor` says more",
};
const LOCKED: Meaning = {
  code: "store_locked",
  says: "is held by another process for longer than we wait. Try again; if it stays, see who has it open",
};
const FULL: Meaning = {
  code: "store_full",
  says: "cannot grow: the disk is full. Nothing of this write was kept, everything before it was. Free some space",
};
const IOERR: Meaning = {
  code: "store_unavailable",
  says: "could not be read or written: the disk or file system reported an error. Look at the system's log",
};
/** After it a later sync may succeed although what was written before is lost: the system forgets what it could not write. */
const NOT_SYNCED: Meaning = {
  code: "store_unavailable",
  says:
    "could not be synced: the disk or file system reported an error. This write does not count, and nothing more is read or " +
    "written through this opening. Look at the system's log",
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
  // Our own statements break no constraint of an intact database.
  CONSTRAINT: CORRUPT,
  NOTADB: {
    code: "store_not_ours",
    says: "is not a SQLite database, or its first page was overwritten. It was left as it is; check the path",
  },
  READONLY: {
    code: "store_readonly",
    says: "cannot be written. Make the file and its folder writable, or open it where that is allowed",
  },
  CANTOPEN: CLOSED_OFF,
  PERM: CLOSED_OFF,
  AUTH: CLOSED_OFF,
  IOERR,
  IOERR_FSYNC: NOT_SYNCED,
  IOERR_DIR_FSYNC: NOT_SYNCED,
  NOMEM: { code: "store_unavailable", says: "could not be used: the process is out of memory" },
};

/**
 * Ours unchanged; SQLite's with our code and a remedy; anything else as `internal`. Values never get into the message. The detail
 * `reopen` says that whoever wants to go on must open the store again.
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

/** Whether the volume has room left; one that does not say is not full. */
function hasRoom(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    return true;
  }
}

/** True when waiting a little may help. */
export function isBusy(error: unknown): boolean {
  const name = sqliteNameOf(error);
  return name !== undefined && MEANINGS[name] === LOCKED;
}

/** True when something written may not be on the disk, and nobody can tell whether it is. */
export function isFailedSync(error: unknown): boolean {
  const name = sqliteNameOf(error);
  return name !== undefined && MEANINGS[name] === NOT_SYNCED;
}

/** True when a page is damaged; of SQLite's error, or of ours. */
export function isCorrupt(error: unknown): boolean {
  if (error instanceof HelmdeckError) return error.code === "store_corrupt";
  return sqliteNameOf(error) === "CORRUPT";
}

/** True when the disk is full; of SQLite's error, or of ours. */
export function isFull(error: unknown): boolean {
  if (error instanceof HelmdeckError) return error.code === "store_full";
  const name = sqliteNameOf(error);
  return name !== undefined && MEANINGS[name] === FULL;
}

/** True when a statement did not fit the schema: no such table or column. */
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
