/**
 * The secrets that sign tokens and the list of revoked tokens, as an operator keeps them: in files, which a server reads again.
 *
 * Threat: another account that reads a secret or edits a file (see app/secret-file.ts), guessing of a short secret, and a
 * damaged list that revokes nothing. Defence: a secret below 32 bytes is refused with the whole file, a server starts with no list
 * that has a line which is not a revocation, and keeps what it once read while a list is rewritten, cut short or gone. No message
 * shows any part of a secret. The list lies with the secrets, not in the memory database: whoever can write to the database, or
 * restores an old backup of it, brings no revoked token back.
 */
import { createSecretKey, type KeyObject } from "node:crypto";
import { open } from "node:fs/promises";
import { readPrivateFile, readSecretFile } from "../app/secret-file.ts";
import { isSubject, requireSubject } from "../app/subject.ts";
import { asHelmdeckError, HelmdeckError, isHelmdeckError } from "../engine/errors.ts";
import { isFileError } from "../engine/private-file.ts";
import { rfc3339 } from "../engine/rfc3339.ts";

const VARIABLE = "HELMDECK_JWT_SECRET";
const FILE_VARIABLE = "HELMDECK_JWT_SECRET_FILE";
const REVOKED_VARIABLE = "HELMDECK_JWT_REVOKED_FILE";
const LEAST_SECRET_BYTES = 32;
/** Room for some ten thousand lines. */
const MOST_REVOKED_BYTES = 2 ** 20;
/** Not in a text. */
const CONTROL_CHARACTER = /[^\P{Cc}\r\n]/u;
/** Bytes that are not UTF-8 were read as U+FFFD. */
const REVOCATION = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)(?: ([^\uFFFD]+))?$/;

type Env = Readonly<Record<string, string | undefined>>;

/** What a server requires of tokens. */
export interface TokenRules {
  /** Each of them is accepted; the first one signs new tokens. */
  readonly secrets: readonly [KeyObject, ...KeyObject[]];
  readonly revocations: Revocations;
  /** Where the secrets come from: a variable or a file's path, for people. */
  readonly source: string;
  /** Why the files do not hold as they are now; empty when they do. */
  readonly problems: readonly HelmdeckError[];
}

/** Reads the rules again. `former`: what it returned last. */
export type RulesReader = (former?: TokenRules) => Promise<TokenRules>;

interface Revocation {
  /** Milliseconds since 1970. */
  readonly until: number;
  /** Undefined: everybody. */
  readonly subject: string | undefined;
}

/**
 * By subject, or for everybody: tokens that were issued until a time are revoked. What a list once said holds for the life of this
 * object, so that no token is revived while the list is rewritten.
 */
class Revocations {
  readonly #lines = new Map<string, Revocation>();
  /** Last lines without their end. Each may be cut short, so it holds until a line that goes on from it is read. */
  readonly #begun = new Map<string, Revocation>();
  #until: ReadonlyMap<string | undefined, number> = new Map();

  /** Adds the lines of a list, and returns what is wrong with it. `path`: for messages. */
  add(text: string, path: string): readonly HelmdeckError[] {
    const lines = text.split(/\r?\n/);
    for (const begun of this.#begun.keys())
      if (lines.some((line) => line !== begun && line.startsWith(begun))) this.#begun.delete(begun);
    const there = new Set(lines);
    const isShort = [...this.#lines.keys(), ...this.#begun.keys()].some((line) => !there.has(line));
    const problems: HelmdeckError[] = [];
    if (isShort)
      problems.push(
        malformed(
          `The list of revoked tokens ${path} lacks lines that were read before, and this server still refuses their tokens`,
          "put them back or, if you took them out on purpose, start the server again",
        ),
      );
    for (const [index, line] of lines.entries()) {
      const revocation = revocationIn(line);
      const isLast = index === lines.length - 1;
      if (revocation !== undefined) (isLast ? this.#begun : this.#lines).set(line, revocation);
      else if (line !== "" && !(isLast && isShort))
        problems.push(
          malformed(
            `Line ${index + 1} of ${path} is not a time, a space and a subject, as in: 2026-11-20T12:00:00Z main`,
            "it revokes nothing, and no server starts with it",
          ),
        );
    }
    const known = [...this.#lines.values(), ...this.#begun.values()].sort((a, b) => a.until - b.until);
    this.#until = new Map(known.map(({ subject, until }) => [subject, until])); // the latest of each
    return problems;
  }

  get count(): number {
    return new Set([...this.#lines.keys(), ...this.#begun.keys()]).size;
  }

  /** A token without a time of issue (`issued` undefined) counts as older than every revocation. */
  cover({ subject, issued }: { readonly subject: string; readonly issued: number | undefined }): boolean {
    const ends = [this.#until.get(subject), this.#until.get(undefined)];
    return ends.some((until) => until !== undefined && (issued === undefined || issued <= until));
  }
}

function revocationIn(line: string): Revocation | undefined {
  const [, time = "", subject] = REVOCATION.exec(line) ?? [];
  const until = Date.parse(time);
  const isValid = !Number.isNaN(until) && (subject === undefined || isSubject(subject));
  return isValid ? { until, subject } : undefined;
}

/**
 * Undefined if neither HELMDECK_JWT_SECRET nor HELMDECK_JWT_SECRET_FILE is set. A secret is the raw bytes of the variable or of
 * the file, without one final line end; each line of a text is a secret. Throws `key_unreadable` and `key_malformed`.
 *
 * `former`: what the same server read before. Then each file that cannot be taken as it is leaves in force what it said before, and
 * the other one is read all the same.
 */
export async function loadTokenRules(env: Env, former?: TokenRules): Promise<TokenRules | undefined> {
  const problems: HelmdeckError[] = [];
  const settle = (found: readonly HelmdeckError[]): void => {
    if (former === undefined && found[0] !== undefined) throw found[0];
    problems.push(...found);
  };
  const read = await readSecrets(env, former).catch((thrown) => void settle([asHelmdeckError(thrown)]));
  const found = read ?? former;
  if (found === undefined) return undefined;
  const { secrets, source } = found;
  const revocations = former?.revocations ?? new Revocations();
  const adding = readRevocations(env, revocations, former !== undefined);
  settle(await adding.catch((thrown) => [asHelmdeckError(thrown)]));
  return { secrets, source, revocations, problems };
}

/** A named list must exist, or a slip in its name would revoke nothing. The one beside the secret need not. */
function revokedPathOf(env: Env): string | undefined {
  const beside = env[FILE_VARIABLE] === undefined ? undefined : `${env[FILE_VARIABLE]}.revoked`;
  return env[REVOKED_VARIABLE] ?? beside;
}

/** The rules of one secret without revocations. */
export function rulesOf(secret: Uint8Array): TokenRules {
  const source = "the secret";
  return { secrets: secretsIn(secret, source), revocations: new Revocations(), source, problems: [] };
}

async function readSecrets(env: Env, former: TokenRules | undefined) {
  const { [VARIABLE]: value, [FILE_VARIABLE]: path } = env;
  if (value !== undefined && path !== undefined)
    throw malformed(`${VARIABLE} and ${FILE_VARIABLE} are both set`, "keep one of them");
  const source = value === undefined ? path : VARIABLE;
  if (source === undefined) return undefined;
  const secrets = secretsIn(value === undefined ? await readSecretFile(source) : Buffer.from(value), source);
  const before = former?.secrets.map((secret) => secret.export()) ?? [];
  const isBeginning = (part: Buffer) =>
    before.some((whole) => whole.length > part.length && whole.subarray(0, part.length).equals(part));
  if (secrets.some((secret) => isBeginning(secret.export())))
    throw malformed(`${source} has a secret that was cut short`, "put the whole one back");
  return { secrets, source };
}

/** Bytes that are no text are one secret. Empty lines are passed over, also while a line is being added. */
function secretsIn(bytes: Uint8Array, source: string): TokenRules["secrets"] {
  const text = Buffer.from(bytes).toString();
  const isText = Buffer.from(text).equals(bytes) && !CONTROL_CHARACTER.test(text);
  const lines = isText ? text.split(/[\r\n]+/).filter((line) => line !== "") : [];
  const [first = bytes, ...others] = lines.map((line) => Buffer.from(line));
  return [secretKey(first, source), ...others.map((other) => secretKey(other, source))];
}

function secretKey(bytes: Uint8Array, source: string): KeyObject {
  if (bytes.byteLength >= LEAST_SECRET_BYTES) return createSecretKey(bytes);
  throw malformed(
    `${source} has a secret of ${bytes.byteLength} bytes, and a secret for tokens needs ${LEAST_SECRET_BYTES}`,
    "make one with: openssl rand -hex 32",
  );
}

/** `mayBeGone`: whatever its name, since it was there or nobody needed it. */
async function readRevocations(env: Env, revocations: Revocations, mayBeGone: boolean) {
  const path = revokedPathOf(env);
  if (path === undefined) return [];
  const text = await readPrivateFile(path, MOST_REVOKED_BYTES).catch((thrown: unknown) => {
    const isGone = isHelmdeckError(thrown) && isFileError(thrown.cause, "ENOENT");
    if (isGone && (mayBeGone || env[REVOKED_VARIABLE] === undefined)) return "";
    throw thrown;
  });
  return revocations.add(`${text}`, path);
}

/**
 * Adds a line to the list: the file that HELMDECK_JWT_REVOKED_FILE names, or the one beside the secret's. It is created if needed,
 * and read as a server reads it before this resolves. Returns its path. Throws `invalid_input` for an invalid
 * subject and if there is neither name, `key_unreadable` and `key_malformed` if servers would refuse the file.
 */
export async function revokeTokens(env: Env, until: number, subject?: string): Promise<string> {
  if (subject !== undefined) requireSubject(subject);
  const path = revokedPathOf(env);
  if (path === undefined) {
    throw new HelmdeckError(
      "invalid_input",
      `Set ${FILE_VARIABLE} to the file of the servers' secret: the list of revoked tokens is beside it. Or name the list with ${REVOKED_VARIABLE}.`,
      { details: { field: FILE_VARIABLE } },
    );
  }
  try {
    await append(path, `${[rfc3339(until), ...(subject === undefined ? [] : [subject])].join(" ")}\n`);
  } catch (cause) {
    if (isHelmdeckError(cause)) throw cause;
    throw new HelmdeckError("key_unreadable", `${path} cannot be written; nothing was revoked.`, { cause });
  }
  const read = new Revocations();
  await readRevocations(env, read, false);
  if (read.cover({ subject: subject ?? "", issued: until })) return path;
  throw malformed(
    `Another program rewrote ${path}, and the revocation is not in it`,
    "revoke the tokens again",
  );
}

/** In one piece, and only if servers can read the whole list with it. */
async function append(path: string, line: string): Promise<void> {
  const file = await open(path, "a", 0o600);
  try {
    const before = (await readPrivateFile(path, MOST_REVOKED_BYTES)).toString();
    const isUnended = /[^\n]$/.test(before); // somebody edited the list by hand
    const added = Buffer.from(isUnended ? `\n${line}` : line);
    const [problem] = new Revocations().add(`${before}${added}`, path);
    if (problem !== undefined) throw problem;
    const { size } = await file.stat();
    if (size + added.length > MOST_REVOKED_BYTES)
      throw malformed(`${path} is full`, "delete lines that are older than 366 days");
    const { bytesWritten } = await file.write(added);
    if (bytesWritten < added.length) {
      await file.truncate(size); // half a line could revoke somebody else's tokens
      throw malformed(`${path} cannot grow`, "free some space on the disk");
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

function malformed(what: string, remedy: string): HelmdeckError {
  return new HelmdeckError("key_malformed", `${what}; ${remedy}.`);
}
