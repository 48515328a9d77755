/**
 * Bearer tokens: JSON Web Tokens like helmdeck's, signed and verified with one shared secret.
 *
 * Threat: somebody forges a token (`alg: none`, another algorithm, their own key), replays an old one, or guesses a short
 * secret. Defence: only HS256 is accepted, whatever the token's header says; issuer and expiry are required, and `nbf` is
 * checked; a secret below 32 bytes is refused at start. A stolen token works until it expires: the only revocation is a new
 * secret.
 */
import type { KeyObject } from "node:crypto";
import { errors, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { readSecretFile } from "../app/secret-file.ts";
import { defined } from "../engine/defined.ts";
import { HelmdeckError, invalidField } from "../engine/errors.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import type { Caller } from "./caller.ts";

const ALGORITHM = "HS256";
const ISSUER = "helmdeck";
/** The tolerated clock difference of the token's issuer. */
const CLOCK_TOLERANCE_SECONDS = 30;
const LEAST_SECRET_BYTES = 32;
/** The same limit as for subjects in memory. */
const SUBJECT_BYTES = 512;
const MOST_SCOPES = 32;
const TTL_SECONDS = { least: 60, most: 366 * 86_400 } as const;
/** Our own tokens have a few hundred bytes. */
const MOST_TOKEN_CHARACTERS = 8_192;

export interface TokenRequest {
  readonly subject: string;
  readonly ttlSeconds: number;
  readonly scopes?: readonly string[];
  /** For people who decode a token: its owner and program. */
  readonly name?: string;
  readonly client?: string;
}

export interface MintedToken {
  readonly token: string;
  readonly subject: string;
  readonly scopes: readonly string[];
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

interface VerifiedCaller extends Caller {
  /** The token's expiry in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** The caller of a verified token, and its validity period in seconds since 1970. */
export interface VerifiedToken {
  readonly caller: VerifiedCaller;
  readonly notBefore: number;
  readonly expires: number;
}

/** Throws `invalid_input` for an invalid subject, and for a lifetime that is too short or too long. */
export async function mintToken(
  secret: Uint8Array,
  request: TokenRequest,
  now: number,
): Promise<MintedToken> {
  const { subject, ttlSeconds, scopes = [], name, client } = request;
  if (!isSubject(subject)) {
    throw invalidField("subject", `must be 1 to ${SUBJECT_BYTES} bytes of text without control characters`);
  }
  if (!(ttlSeconds >= TTL_SECONDS.least && ttlSeconds <= TTL_SECONDS.most)) {
    throw invalidField("ttl", "must be from one minute to 366 days");
  }
  if (!isScopes(scopes)) throw invalidField("scope", `may be given ${MOST_SCOPES} times`);
  const issued = Math.floor(now / 1_000);
  const token = await new SignJWT({
    ...(scopes.length > 0 && { scopes }),
    ...defined({ name, client }),
  })
    .setProtectedHeader({ alg: ALGORITHM, typ: "JWT" })
    .setIssuer(ISSUER)
    .setSubject(subject)
    .setIssuedAt(issued)
    .setExpirationTime(issued + ttlSeconds)
    .sign(secret);
  return { token, subject, scopes, expiresAt: (issued + ttlSeconds) * 1_000 };
}

/**
 * Verifies a token and returns its caller. Throws `invalid_token`, without the token's content. Takes a key instead of the
 * secret, which would have to be imported for every request.
 */
export async function verifyToken(key: KeyObject, token: string, now: number): Promise<VerifiedToken> {
  if (token.length > MOST_TOKEN_CHARACTERS) throw refuseToken("is too long to be one of this server's");
  const claims = await claimsOf(key, token, now);
  const { sub, scopes = [], exp = 0, nbf = Number.NEGATIVE_INFINITY } = claims;
  if (!isSubject(sub)) throw refuseToken("has no usable subject (sub)");
  if (!isScopes(scopes)) throw refuseToken("has scopes that are not a list of words");
  const caller = { subject: sub, authenticated: true, scopes, expiresAt: exp * 1_000 };
  return { caller, notBefore: nbf, expires: exp };
}

/** Whether a verified token is still within its validity period, as in {@link verifyToken}. */
export function isInForce({ notBefore, expires }: VerifiedToken, now: number): boolean {
  const seconds = Math.floor(now / 1_000);
  return notBefore <= seconds + CLOCK_TOLERANCE_SECONDS && expires > seconds - CLOCK_TOLERANCE_SECONDS;
}

async function claimsOf(key: KeyObject, token: string, now: number): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      requiredClaims: ["sub", "exp"],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(now),
    });
    return payload;
  } catch (error) {
    throw refuseToken(reasonOf(error));
  }
}

/** A failing claim may be named, because the signature was valid. Any other failure has one generic message. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "has expired";
  if (error instanceof errors.JWTClaimValidationFailed) return `has an invalid claim: ${error.claim}`;
  if (error instanceof errors.JOSEError) return "is malformed, or signed with another secret";
  throw error;
}

function isSubject(subject: unknown): subject is string {
  return (
    typeof subject === "string" &&
    subject.trim() !== "" &&
    subject.isWellFormed() &&
    Buffer.byteLength(subject) <= SUBJECT_BYTES &&
    harmlessLine(subject) === subject
  );
}

function isScopes(scopes: unknown): scopes is readonly string[] {
  return (
    Array.isArray(scopes) &&
    scopes.length <= MOST_SCOPES &&
    scopes.every((scope) => typeof scope === "string")
  );
}

export function refuseToken(why: string): HelmdeckError {
  return new HelmdeckError(
    "invalid_token",
    `The token ${why}. Make a new one with helmdeck-memory token --subject NAME.`,
  );
}

const VARIABLE = "HELMDECK_JWT_SECRET";
const FILE_VARIABLE = "HELMDECK_JWT_SECRET_FILE";

export interface LoadedSecret {
  readonly bytes: Uint8Array;
  /** The variable or the file's path, for the start-up line. */
  readonly source: string;
}

/**
 * The secret that signs tokens, from the environment or a file.
 *
 * Threat: another account that can read the secret (see app/secret-file.ts), and guessing of a short secret. Defence: fewer
 * than 32 bytes are refused, and no message shows any part of the secret.
 *
 * Undefined if neither HELMDECK_JWT_SECRET nor HELMDECK_JWT_SECRET_FILE is set. The secret is the raw bytes of the variable or
 * of the file, without one final line end of the file. Throws `key_unreadable` and `key_malformed`.
 */
export async function loadSecret(
  env: Readonly<Record<string, string | undefined>>,
): Promise<LoadedSecret | undefined> {
  const value = env[VARIABLE];
  const path = env[FILE_VARIABLE];
  if (value !== undefined && path !== undefined) {
    throw malformed(`${VARIABLE} and ${FILE_VARIABLE} are both set`, "keep one of them");
  }
  if (value !== undefined) return { bytes: requireLong(Buffer.from(value), VARIABLE), source: VARIABLE };
  if (path !== undefined) return { bytes: requireLong(await readSecretFile(path), path), source: path };
  return undefined;
}

function requireLong(bytes: Uint8Array, source: string): Uint8Array {
  if (bytes.byteLength >= LEAST_SECRET_BYTES) return bytes;
  throw malformed(
    `${source} has ${bytes.byteLength} bytes, and a secret for tokens needs ${LEAST_SECRET_BYTES}`,
    "make one with: openssl rand -hex 32",
  );
}

function malformed(what: string, remedy: string): HelmdeckError {
  return new HelmdeckError("key_malformed", `${what}; ${remedy}.`);
}
