/** Translates error codes of PostgreSQL and the network into errors for people. */
import { type ErrorCode, HelmdeckError } from "../../errors.ts";

interface Meaning {
  readonly code: ErrorCode;
  readonly says: string;
}

const UNREACHABLE: Meaning = {
  code: "store_unavailable",
  says: "does not answer. Check that the server runs and can be reached from this machine",
};
const LOCKED: Meaning = {
  code: "store_locked",
  says: "is locked by another writer. Try again; if the error persists, check pg_stat_activity",
};
const FULL: Meaning = {
  code: "store_full",
  says: "cannot grow: the server's disk is full. This write was rolled back; earlier ones are intact. Free some space",
};
const CORRUPT: Meaning = {
  code: "store_corrupt",
  says: "is damaged: the server found an invalid page or index. Keep it, and restore a backup",
};
const READONLY: Meaning = {
  code: "store_readonly",
  says: "is read-only: the server is a standby or a former primary, or is set to read-only. Write through the primary",
};
const REFUSED: Meaning = {
  code: "store_unavailable",
  says: "refuses this account. Check the user, the password, and the server's rules (pg_hba.conf)",
};
const FORBIDDEN: Meaning = {
  code: "store_unavailable",
  says: "does not let this role use its tables. Prepare it for the engines' role with the schema's owner",
};
const UNTRUSTED: Meaning = {
  code: "store_unavailable",
  says: "did not present a trusted certificate for its name. Check the host, and set sslrootcert to the certificate of its issuer",
};
const WITHOUT_TLS: Meaning = {
  code: "store_unavailable",
  says: "does not support TLS. Set ssl = on on the server, or use sslmode=disable on a trusted network",
};
const BUSY: Meaning = {
  code: "store_unavailable",
  says: "has no free connection or too little memory. Try again",
};
const ANOTHER_SCHEMA: Meaning = {
  code: "store_replaced",
  says: "no longer has the opened tables. The next opening finds the current ones",
};

/** By SQLSTATE or its prefix, longest first. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  "25006": READONLY,
  // Of our statements, only one prepared for a column of another type causes this.
  "0A000": ANOTHER_SCHEMA,
  "28": REFUSED,
  "3D000": {
    code: "store_unavailable",
    says: "does not exist. Create the database first, or check its name",
  },
  "40001": LOCKED,
  "40P01": LOCKED,
  "42501": FORBIDDEN,
  "3F000": ANOTHER_SCHEMA,
  "42P01": ANOTHER_SCHEMA,
  "42703": ANOTHER_SCHEMA,
  // Of our statements, a standby refuses only writes with this code.
  "55000": READONLY,
  "53100": FULL,
  "53": BUSY,
  "55P03": LOCKED,
  "57014": {
    ...LOCKED,
    says: "exceeded the time limit of a statement. Try again; if the error persists, check the server's load",
  },
  "57P": UNREACHABLE,
  "58": { code: "store_unavailable", says: "has a failing disk or file system. Check the server's log" },
  XX001: CORRUPT,
  XX002: CORRUPT,
};

/** Errors without a SQLSTATE: from the operating system, or a closed connection. */
const NETWORK_CODES: ReadonlySet<string> = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOENT", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH"],
  ...["ENETUNREACH", "EACCES"],
]);
/** pg's own messages, which have no code. */
const LOST =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout expired|Query read timeout)/;
/** pg's message for a pool whose connections are all in use: the server itself may be well. */
const POOL_IS_BUSY = /^timeout exceeded/;

/** Node's codes for a refused certificate. */
const TLS_CODE = /CERT|^UNABLE_TO_|^ERR_(TLS|SSL)_/;
/** pg's messages without a code: a password is required, or the server failed to prove it knows it; TLS is required. */
const [PASSWORD, NO_TLS] = [/^SASL: /, /does not support SSL/];

/**
 * Our own errors unchanged; PostgreSQL's with our code and a remedy; anything else as `internal`. Neither message nor cause holds
 * the server's message: its details show keys, and connection errors show host and user.
 */
export function explainPostgresError(error: unknown, name: string): HelmdeckError {
  if (error instanceof HelmdeckError) return error;
  const state = codeOf(error);
  const meaning = isLost(error) ? UNREACHABLE : meaningOf(error);
  const details = state === undefined ? {} : { postgres: state };
  if (meaning === undefined) {
    return new HelmdeckError("internal", "The memory database failed unexpectedly.", { details });
  }
  return new HelmdeckError(meaning.code, `The memory database ${name} ${meaning.says}.`, { details });
}

/** The connection is gone, and with it every transaction without a commit. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const state = codeOf(error);
  if (state === undefined) return LOST.test(error.message);
  return NETWORK_CODES.has(state) || /^(08|57P0[1235]|25P0[34])/.test(state);
}

/** A server answered: with a refusal, or that it is starting and will accept connections soon. */
export function isAnswer(error: unknown): boolean {
  return !isLost(error) || codeOf(error) === "57P03";
}

/** What this process was refused stays refused until somebody changes that. Too many connections do not. */
export function isRefusal(error: unknown): boolean {
  return !isLost(error) && meaningOf(error) !== BUSY;
}

/** A retry may succeed at once: the server aborted one of several deadlocked transactions. */
export function isToBeTriedAgain(error: unknown): boolean {
  return /^(40001|40P01)$/.test(codeOf(error) ?? "");
}

/** The server has never assigned this transaction id. */
export function isOfNoTransaction(error: unknown): boolean {
  return codeOf(error) === "22023";
}

/** The role lacks a privilege. */
export function isForbidden(error: unknown): boolean {
  return codeOf(error) === "42501";
}

/** The server only accepts reads. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof Error && meaningOf(error) === READONLY;
}

function meaningOf(error: unknown): Meaning | undefined {
  const state = codeOf(error);
  if (state === undefined) return meaningWithoutCode(error);
  if (TLS_CODE.test(state)) return UNTRUSTED;
  const known = Object.keys(MEANINGS).filter((prefix) => state.startsWith(prefix));
  const [longest] = known.sort((a, b) => b.length - a.length);
  return longest === undefined ? undefined : MEANINGS[longest];
}

function meaningWithoutCode(error: unknown): Meaning | undefined {
  const text = error instanceof Error ? error.message : "";
  if (POOL_IS_BUSY.test(text)) return BUSY;
  if (PASSWORD.test(text)) return REFUSED;
  return NO_TLS.test(text) ? WITHOUT_TLS : undefined;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
