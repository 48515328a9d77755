/** What PostgreSQL's failures mean to a person: its codes, and those of the network, turned into ours in this one place. */
import { type ErrorCode, HelmdeckError } from "../../errors.ts";

interface Meaning {
  readonly code: ErrorCode;
  readonly says: string;
}

const UNREACHABLE: Meaning = {
  code: "store_unavailable",
  says: "does not answer. Check that the server runs and can be reached from here",
};
const LOCKED: Meaning = {
  code: "store_locked",
  says: "is held by another writer for longer than we wait. Try again; if it stays, see what runs in pg_stat_activity",
};
const FULL: Meaning = {
  code: "store_full",
  says: "cannot grow: the server's disk is full. Nothing of this write was kept, everything before it was. Free some space",
};
const CORRUPT: Meaning = {
  code: "store_corrupt",
  says: "is damaged: the server found a page or an index that is not as it was written. Keep it, and restore a backup",
};
const READONLY: Meaning = {
  code: "store_readonly",
  says: "can only be read: the server is a standby, or is set to read only. Write through the primary",
};
const REFUSED: Meaning = {
  code: "store_unavailable",
  says: "refuses this account. Check the user, the password, and what the server allows (pg_hba.conf)",
};
const FORBIDDEN: Meaning = {
  code: "store_unavailable",
  says: "does not let this role use its tables. Let the schema's owner prepare it for the role that engines run under",
};
const ANOTHER_SCHEMA: Meaning = {
  code: "store_replaced",
  says: "no longer has the tables that were opened. The next opening finds what is there now",
};

/** By SQLSTATE, or the beginning of it, the longest first. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  "25006": READONLY,
  "0A000": READONLY, // of all that we ask, only a transaction that writes is not supported anywhere: by a standby
  "28": REFUSED,
  "3D000": { code: "store_unavailable", says: "does not exist. Make the database first, or check its name" },
  "40001": LOCKED,
  "40P01": LOCKED,
  "42501": FORBIDDEN,
  "3F000": ANOTHER_SCHEMA,
  "42P01": ANOTHER_SCHEMA,
  "42703": ANOTHER_SCHEMA,
  // Our statements ask for nothing else that a server refuses while it follows another.
  "55000": READONLY,
  "53100": FULL,
  "53": {
    code: "store_unavailable",
    says: "has no room for another connection or too little memory. Try again",
  },
  "55P03": LOCKED,
  "57014": {
    ...LOCKED,
    says: "took longer than a statement may. Try again; if it stays, see how busy the server is",
  },
  "57P": UNREACHABLE,
  "25P03": {
    code: "store_unavailable",
    says: "ended a transaction that stood still for too long. Try again",
  },
  "08": UNREACHABLE,
  "58": { code: "store_unavailable", says: "has a failing disk or file system. Look at the server's log" },
  XX001: CORRUPT,
  XX002: CORRUPT,
};

/** Without a SQLSTATE: of the operating system, and of a connection that has ended. */
const NETWORK_CODES: ReadonlySet<string> = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOENT", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH"],
  ...["ENETUNREACH", "EACCES"],
]);
/** pg's own, which have no code. */
const LOST =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout expired|timeout exceeded|Query read timeout)/;

/**
 * Ours unchanged; PostgreSQL's with our code and a remedy; anything else as `internal`. Neither message nor cause holds what the
 * server said: its details show keys, and its connection errors where and as whom.
 */
export function explainPostgresError(error: unknown, name: string): HelmdeckError {
  if (error instanceof HelmdeckError) return error;
  const state = codeOf(error);
  const meaning = isLost(error) ? UNREACHABLE : meaningOf(state);
  const details = state === undefined ? {} : { postgres: state };
  if (meaning === undefined) {
    return new HelmdeckError("internal", `The memory database ${name} failed unexpectedly.`, { details });
  }
  return new HelmdeckError(meaning.code, `The memory database ${name} ${meaning.says}.`, { details });
}

/** The connection is gone, and with it every transaction that had not been told to commit. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const state = codeOf(error);
  if (state === undefined) return LOST.test(error.message);
  return NETWORK_CODES.has(state) || /^(08|57P0[123]|25P03)/.test(state);
}

/** Another try may succeed at once: the server gave up one of several transactions that waited for each other. */
export function isToBeTriedAgain(error: unknown): boolean {
  return /^(40001|40P01)$/.test(codeOf(error) ?? "");
}

/** What is asked of the server is not allowed to this role. */
export function isForbidden(error: unknown): boolean {
  return codeOf(error) === "42501";
}

/** The server only answers reads. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof Error && meaningOf(codeOf(error)) === READONLY;
}

function meaningOf(state: string | undefined): Meaning | undefined {
  if (state === undefined) return undefined;
  const known = Object.keys(MEANINGS).filter((prefix) => state.startsWith(prefix));
  const [longest] = known.sort((a, b) => b.length - a.length);
  return longest === undefined ? undefined : MEANINGS[longest];
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
