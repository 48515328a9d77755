/**
 * The secrets that sign tokens and the list of revoked tokens, as an operator keeps them: in files, which a server reads again.
 *
 * Threat: another account that reads a secret or edits a file (see app/secret-file.ts), guessing of a short secret, and a
 * damaged list that revokes nothing. Defence: a secret below 32 bytes and a line that is not a revocation are refused with the
 * whole file, and no message shows any part of a secret. The list lies with the secrets, not in the memory database: whoever
 * can write to the database, or restores an old backup of it, brings no revoked token back.
 */
import { createSecretKey, type KeyObject } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile, readFile } from "node:fs/promises";
import { readSecretFile } from "../app/secret-file.ts";
import { HelmdeckError } from "../engine/errors.ts";
import { rfc3339 } from "../engine/rfc3339.ts";

const VARIABLE = "HELMDECK_JWT_SECRET";
const FILE_VARIABLE = "HELMDECK_JWT_SECRET_FILE";
const REVOKED_VARIABLE = "HELMDECK_JWT_REVOKED_FILE";
const LEAST_SECRET_BYTES = 32;
/** Room for some ten thousand lines. */
const MOST_REVOKED_BYTES = 2 ** 20;
/** Not in a text. */
const CONTROL_CHARACTER = /[^\P{Cc}\r\n]/u;
const REVOCATION = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)(?: (.+))?$/;

type Env = Readonly<Record<string, string | undefined>>;

/** What a server requires of tokens. */
export interface TokenRules {
  /** Each of them is accepted; the first one signs new tokens. */
  readonly secrets: readonly [KeyObject, ...KeyObject[]];
  readonly revocations: Revocations;
  /** Where the secrets come from: a variable or a file's path, for people. */
  readonly source: string;
}

/** By subject, or for everybody: tokens that were issued until a time are revoked. */
class Revocations {
  readonly #until = new Map<string | undefined, number>();

  /** `until` in milliseconds since 1970. */
  add(until: number, subject?: string): this {
    this.#until.set(subject, Math.max(until, this.#until.get(subject) ?? until));
    return this;
  }

  /** A token without a time of issue (`issued` undefined) counts as older than every revocation. */
  cover({ subject, issued }: { readonly subject: string; readonly issued: number | undefined }): boolean {
    const ends = [this.#until.get(subject), this.#until.get(undefined)];
    return ends.some((until) => until !== undefined && (issued === undefined || issued <= until));
  }
}

/**
 * Undefined if neither HELMDECK_JWT_SECRET nor HELMDECK_JWT_SECRET_FILE is set. A secret is the raw bytes of the variable or of
 * the file, without one final line end; each line of a text is a secret. Throws
 * `key_unreadable` and `key_malformed`.
 */
export async function loadTokenRules(env: Env): Promise<TokenRules | undefined> {
  const found = await findSecrets(env);
  if (found === undefined) return undefined;
  const revokedPath = revokedPathOf(env);
  const isThere =
    revokedPath !== undefined && (env[REVOKED_VARIABLE] !== undefined || existsSync(revokedPath));
  const revocations = isThere ? await readRevocations(revokedPath) : new Revocations();
  return { secrets: secretsIn(found.bytes, found.source), revocations, source: found.source };
}

/** A named list must exist, or a slip in its name would revoke nothing. The one beside the secret need not. */
function revokedPathOf(env: Env): string | undefined {
  const beside = env[FILE_VARIABLE] === undefined ? undefined : `${env[FILE_VARIABLE]}.revoked`;
  return env[REVOKED_VARIABLE] ?? beside;
}

/** The rules of one secret without revocations. */
export function rulesOf(secret: Uint8Array): TokenRules {
  const source = "the secret";
  return { secrets: secretsIn(secret, source), revocations: new Revocations(), source };
}

async function findSecrets(env: Env): Promise<{ bytes: Uint8Array; source: string } | undefined> {
  const value = env[VARIABLE];
  const path = env[FILE_VARIABLE];
  if (value !== undefined && path !== undefined) {
    throw malformed(`${VARIABLE} and ${FILE_VARIABLE} are both set`, "keep one of them");
  }
  if (value !== undefined) return { bytes: Buffer.from(value), source: VARIABLE };
  return path === undefined ? undefined : { bytes: await readSecretFile(path), source: path };
}

function secretsIn(bytes: Uint8Array, source: string): TokenRules["secrets"] {
  const [first = bytes, ...others] = linesIn(bytes).map((line) => Buffer.from(line));
  return [secretKey(first, source), ...others.map((other) => secretKey(other, source))];
}

/** None for bytes that are no text: they are one secret. Empty lines are passed over, also while a line is being added. */
function linesIn(bytes: Uint8Array): readonly string[] {
  const text = Buffer.from(bytes).toString();
  const isText = Buffer.from(text).equals(bytes) && !CONTROL_CHARACTER.test(text);
  return isText ? text.split(/[\r\n]+/).filter((line) => line !== "") : [];
}

function secretKey(bytes: Uint8Array, source: string): KeyObject {
  if (bytes.byteLength >= LEAST_SECRET_BYTES) return createSecretKey(bytes);
  throw malformed(
    `${source} has a secret of ${bytes.byteLength} bytes, and a secret for tokens needs ${LEAST_SECRET_BYTES}`,
    "make one with: openssl rand -hex 32",
  );
}

async function readRevocations(path: string): Promise<Revocations> {
  const revocations = new Revocations();
  const text = Buffer.from(await readSecretFile(path, MOST_REVOKED_BYTES)).toString();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line === "") continue;
    const [, time = "", subject] = REVOCATION.exec(line) ?? [];
    const until = Date.parse(time);
    if (Number.isNaN(until)) {
      throw malformed(
        `Line ${index + 1} of ${path} is not a time, a space and a subject, as in: 2026-11-20T12:00:00Z main`,
        "nothing else in the file counts until it is mended",
      );
    }
    revocations.add(until, subject);
  }
  return revocations;
}

/**
 * Adds a line to the list: the file that HELMDECK_JWT_REVOKED_FILE names, or the one beside the secret's. It is created if needed.
 * Throws `invalid_input` if there is neither name, `key_unreadable` and `key_malformed` if servers would refuse the file, and
 * returns its path.
 */
export async function revokeTokens(env: Env, until: number, subject?: string): Promise<string> {
  const path = revokedPathOf(env);
  if (path === undefined) {
    throw new HelmdeckError(
      "invalid_input",
      `Set ${FILE_VARIABLE} to the file of the servers' secret: the list of revoked tokens is beside it. Or name the list with ${REVOKED_VARIABLE}.`,
      { details: { field: FILE_VARIABLE } },
    );
  }
  const line = `${[rfc3339(until), ...(subject === undefined ? [] : [subject])].join(" ")}\n`;
  await appendFile(path, "", { mode: 0o600 });
  await readRevocations(path);
  // Somebody may have edited it by hand, and left the last line without its end.
  const isOpen = /[^\n]$/.test(await readFile(path, "latin1"));
  await appendFile(path, isOpen ? `\n${line}` : line);
  return path;
}

function malformed(what: string, remedy: string): HelmdeckError {
  return new HelmdeckError("key_malformed", `${what}; ${remedy}.`);
}
