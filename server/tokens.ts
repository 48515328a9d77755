/**
 * Bearer tokens: JSON Web Tokens like helmdeck's, signed and verified with shared secrets (token-files.ts).
 *
 * Threat: somebody forges a token (`alg: none`, another algorithm, their own key), replays an old one, or steals one. Defence:
 * only HS256 is accepted, whatever the token's header says; issuer and expiry are required, and `nbf` is checked. A stolen
 * token works until it expires, is revoked, or its secret is removed.
 */
import type { KeyObject } from "node:crypto";
import { compactVerify, decodeJwt, errors, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { isSubject, requireSubject } from "../app/subject.ts";
import { defined } from "../engine/defined.ts";
import { asHelmdeckError, HelmdeckError, invalidField } from "../engine/errors.ts";
import type { Caller } from "./caller.ts";
import type { TokenRules } from "./token-files.ts";

const ALGORITHM = "HS256";
const ISSUER = "helmdeck";
/** The tolerated clock difference of the token's issuer. */
const CLOCK_TOLERANCE_SECONDS = 30;
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

/** The caller of a verified token with its expiry in milliseconds, and its validity period in seconds since 1970. */
export interface VerifiedToken {
  readonly caller: Caller & { readonly expiresAt: number };
  /** The secret that signed it. */
  readonly secret: KeyObject;
  /** Milliseconds since 1970; undefined if it does not say. */
  readonly issued: number | undefined;
  readonly notBefore: number;
  readonly expires: number;
}

/** Throws `invalid_input` for an invalid subject, and for a lifetime that is too short or too long. */
export async function mintToken(
  secret: Uint8Array | KeyObject,
  request: TokenRequest,
  now: number,
): Promise<MintedToken> {
  const { ttlSeconds, scopes = [], name, client } = request;
  const subject = requireSubject(request.subject);
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
    .setIssuedAt(now / 1_000) // exact, so that a token made right after a revocation is accepted
    .setExpirationTime(issued + ttlSeconds)
    .sign(secret);
  return { token, subject, scopes, expiresAt: (issued + ttlSeconds) * 1_000 };
}

/**
 * Verifies a token and returns its caller. Throws `invalid_token`, without the token's content. The rules have keys instead of
 * bytes, which would have to be imported for every request.
 */
export async function verifyToken(rules: TokenRules, token: string, now: number): Promise<VerifiedToken> {
  if (token.length > MOST_TOKEN_CHARACTERS) throw refuseToken("is too long to be one of this server's");
  const { secret, claims } = await claimsOf(rules.secrets, token, now);
  const { sub, iat, scopes = [], exp = 0, nbf = Number.NEGATIVE_INFINITY } = claims;
  if (!isSubject(sub)) throw refuseToken("has no usable subject (sub)");
  if (!isScopes(scopes)) throw refuseToken("has scopes that are not a list of words");
  const issued = iat === undefined ? undefined : iat * 1_000;
  if (rules.revocations.cover({ subject: sub, issued })) throw refuseToken("was revoked", claims);
  const caller = { subject: sub, authenticated: true, scopes, expiresAt: exp * 1_000 };
  return { caller, secret, issued, notBefore: nbf, expires: exp };
}

/** Whether a verified token is still accepted, as in {@link verifyToken}: the time and the rules may have changed. */
export function isInForce(rules: TokenRules, verified: VerifiedToken, now: number): boolean {
  const { caller, secret, issued, notBefore, expires } = verified;
  const seconds = Math.floor(now / 1_000);
  return (
    notBefore <= seconds + CLOCK_TOLERANCE_SECONDS &&
    expires > seconds - CLOCK_TOLERANCE_SECONDS &&
    rules.secrets.some((known) => known.equals(secret)) &&
    !rules.revocations.cover({ subject: caller.subject, issued })
  );
}

async function claimsOf(secrets: readonly KeyObject[], token: string, now: number) {
  let refusal: unknown;
  let signed: JWTPayload | undefined;
  for (const secret of secrets) {
    try {
      const { payload } = await jwtVerify(token, secret, {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        requiredClaims: ["sub", "exp"],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(now),
      });
      return { secret, claims: payload };
    } catch (error) {
      refusal = error;
      if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed)
        signed = error.payload;
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) break;
    }
  }
  throw refuseToken(reasonOf(refusal), signed);
}

/** What a token says and whether servers with these rules accept it. Times in milliseconds since 1970. */
export interface ExaminedToken {
  readonly subject: string | undefined;
  readonly scopes: readonly string[];
  readonly issuedAt: number | undefined;
  readonly expiresAt: number | undefined;
  /** The place of the secret that signed it, from 1; undefined: none of these. */
  readonly secret: number | undefined;
  readonly revoked: boolean;
  /** Why it is refused; undefined: it is accepted. */
  readonly refused: string | undefined;
}

/** Throws `invalid_token` for a text that is not a token. */
export async function examineToken(rules: TokenRules, token: string, now: number): Promise<ExaminedToken> {
  const { sub, iat, exp, scopes } = claimsIn(token);
  const subject = typeof sub === "string" ? sub : undefined;
  const [issuedAt, expiresAt] = [iat, exp].map((time) => (time === undefined ? undefined : time * 1_000));
  const refused = await verifyToken(rules, token, now).then(
    () => undefined,
    (error: unknown) => asHelmdeckError(error).message,
  );
  return {
    ...{ subject, issuedAt, expiresAt, refused },
    scopes: isScopes(scopes) ? scopes : [],
    secret: await placeOfSecret(rules, token),
    revoked: subject !== undefined && rules.revocations.cover({ subject, issued: issuedAt }),
  };
}

function claimsIn(token: string): JWTPayload {
  try {
    return decodeJwt(token);
  } catch {
    throw refuseToken("is malformed");
  }
}

/** Whatever its claims say, such as that it has expired. */
async function placeOfSecret({ secrets }: TokenRules, token: string): Promise<number | undefined> {
  for (const [index, secret] of secrets.entries()) {
    const signed = await compactVerify(token, secret, { algorithms: [ALGORITHM] }).catch(() => undefined);
    if (signed !== undefined) return index + 1;
  }
  return undefined;
}

/** A failing claim may be named, because the signature was valid. Any other failure has one generic message. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "has expired";
  if (error instanceof errors.JWTClaimValidationFailed) return `has an invalid claim: ${error.claim}`;
  if (error instanceof errors.JOSEError) return "is malformed, or signed with another secret";
  throw error;
}

function isScopes(scopes: unknown): scopes is readonly string[] {
  return (
    Array.isArray(scopes) &&
    scopes.length <= MOST_SCOPES &&
    scopes.every((scope) => typeof scope === "string")
  );
}

/** `claims`: of a token that one of the secrets signed. */
export function refuseToken(why: string, claims?: JWTPayload): HelmdeckError {
  return new HelmdeckError(
    "invalid_token",
    `The token ${why}. Make a new one with helmdeck-memory token --subject NAME.`,
    { cause: claims },
  );
}

/** Whose token was refused; undefined unless one of the secrets signed it. */
export function refusedSubject({ cause }: HelmdeckError): string | undefined {
  const claimed = (cause as JWTPayload | undefined)?.sub; // as in refuseToken; other refusals have no cause
  return isSubject(claimed) ? claimed : undefined;
}
