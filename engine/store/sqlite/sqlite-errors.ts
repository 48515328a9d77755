/** What SQLite's failures mean to a person: both drivers' error codes, turned into ours in this one place. */
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

/** The shared-memory file beside the database could not grow, which in practice is a full disk. */
const IOERR_SHMSIZE = 10 | (19 << 8);

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
const CLOSED_OFF: Meaning = {
  code: "store_unavailable",
  says: "cannot be opened. Check the owner and mode of the file and of its folder",
};

const MEANINGS: Readonly<Record<string, Meaning>> = {
  BUSY: LOCKED,
  LOCKED,
  PROTOCOL: LOCKED,
  FULL,
  IOERR_SHMSIZE: FULL,
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
  IOERR: {
    code: "store_unavailable",
    says: "could not be read or written: the disk or file system reported an error. Look at the system's log",
  },
  NOMEM: { code: "store_unavailable", says: "could not be used: the process is out of memory" },
};

/** Ours unchanged; SQLite's with our code and a remedy; anything else as `internal`. Values never get into the message. */
export function explainSqliteError(error: unknown, path: string): HelmdeckError {
  if (error instanceof HelmdeckError) return error;
  const name = sqliteNameOf(error);
  const meaning = name === undefined ? undefined : MEANINGS[name];
  if (meaning === undefined) {
    return new HelmdeckError("internal", `The memory database ${path} failed unexpectedly.`, {
      details: { path },
      cause: error,
    });
  }
  return new HelmdeckError(meaning.code, `The memory database ${path} ${meaning.says}.`, {
    details: { path, sqlite: `SQLITE_${name}` },
    cause: error,
  });
}

/** True when waiting a little may help. */
export function isBusy(error: unknown): boolean {
  const name = sqliteNameOf(error);
  return name !== undefined && MEANINGS[name] === LOCKED;
}

/** True when a statement did not fit the schema: no such table or column. */
export function isSchemaMismatch(error: unknown): boolean {
  return sqliteNameOf(error) === "ERROR";
}

/** node:sqlite gives the extended code as a number, better-sqlite3 as a name such as "SQLITE_BUSY_RECOVERY". */
function sqliteNameOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("errcode" in error && typeof error.errcode === "number") {
    return error.errcode === IOERR_SHMSIZE ? "IOERR_SHMSIZE" : NAMES[error.errcode & 0xff];
  }
  if (!("code" in error) || typeof error.code !== "string") return undefined;
  const [library, primary, detail] = error.code.split("_");
  if (library !== "SQLITE") return undefined;
  return primary === "IOERR" && detail === "SHMSIZE" ? "IOERR_SHMSIZE" : primary;
}
