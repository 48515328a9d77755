/** Finds the caller: the bearer token's subject, or `unknown` if the server has no secret. */
import { hash, type KeyObject } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import type { AuditAction, AuditObject } from "../app/audit-log.ts";
import { BoundedMap } from "../engine/bounded-map.ts";
import { asHelmdeckError, HelmdeckError } from "../engine/errors.ts";
import { UNKNOWN_SUBJECT } from "../engine/store/namespace.ts";
import type { Caller, ServerEnv } from "./caller.ts";
import type { RateLimits } from "./guards/rate.ts";
import type { RulesReader, TokenRules } from "./token-files.ts";
import { isInForce, refusedSubject, type VerifiedToken, verifyToken } from "./tokens.ts";

export const NOBODY: Caller = { subject: UNKNOWN_SUBJECT, authenticated: false, scopes: [] };
/** RFC 6750: the scheme's name in any case, one space, and a token of these characters. */
const BEARER = /^bearer ([A-Za-z0-9._~+/-]+=*)$/i;

export interface Authentication {
  /** Absent: no token is required. */
  readonly tokens?: Tokens;
  readonly limits: RateLimits;
}

/** Sets `caller` and counts the request against that caller, or against the address if the token is missing or invalid. */
export function authenticate({ tokens, limits }: Authentication): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    const caller = await limits.countingRefusals(c, () =>
      callerOf(tokens, c.req.header("authorization")).catch((refusal: HelmdeckError) => {
        c.set("subject", refusedSubject(refusal));
        throw refusal;
      }),
    );
    c.set("subject", caller.subject);
    c.env?.connection?.isOf(caller.subject);
    await limits.countCaller(caller);
    c.set("caller", caller);
    return next();
  };
}

/** For open routes: counts the request against the caller if it has a valid token, else against the address. */
export function countOpen({ tokens, limits }: Authentication): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    const authorization = c.req.header("authorization");
    const isNamed = tokens !== undefined && authorization !== undefined;
    const caller = isNamed ? await callerOf(tokens, authorization).catch(() => undefined) : undefined;
    await (caller === undefined ? limits.countAddress(c) : limits.countCaller(caller));
    return next();
  };
}

/** Why a token is refused; undefined if none is, or no token is required. */
export function refusalOf(
  tokens: Tokens | undefined,
  authorization: string | undefined,
): Promise<HelmdeckError | undefined> {
  return callerOf(tokens, authorization).then(() => undefined, asHelmdeckError);
}

async function callerOf(tokens: Tokens | undefined, authorization: string | undefined): Promise<Caller> {
  if (tokens === undefined) return NOBODY;
  if (authorization === undefined) {
    throw new HelmdeckError(
      "missing_bearer",
      "This server requires a token: send Authorization: Bearer <token>. To make one: helmdeck-memory token --subject NAME.",
    );
  }
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined) {
    throw new HelmdeckError("invalid_token", "The Authorization header is not of the form: Bearer <token>.");
  }
  return (await tokens.verify(token)).caller;
}

/** For operators' routes. Always false without authentication. */
export function hasScope(caller: Caller, ...scopes: readonly string[]): boolean {
  return caller.authenticated && scopes.some((scope) => caller.scopes.includes(scope));
}

/** The oldest entry is evicted. */
const MOST_TOKENS = 4_096;
/** A changed file holds for every request from then on. */
const READ_AGAIN_AFTER_MS = 1_000;
/** A problem of the files that was not seen for this long is a new one. */
const SAID_AGAIN_AFTER_MS = 60_000;
const MOST_PROBLEMS = 100;

/** What happens to tokens, for logs and metrics. Never a token. */
export interface TokenListener {
  /** A request with an accepted token. */
  used(isOfFirstSecret: boolean): void;
  /** The files cannot be read as they are now; those read before stay in force. */
  failedToRead(error: HelmdeckError): void;
  /** The files say something else than when they were last read. */
  changed(action: AuditAction, what: AuditObject): void;
}

/** Times in milliseconds since 1970. */
export interface TokenInUse extends Pick<VerifiedToken, "caller" | "issued"> {
  /** The place of the secret that signed it, from 1. */
  readonly secret: number;
  readonly lastUsedAt: number;
}

/**
 * The tokens that this server accepts, by rules that it reads again, with a cache of verified tokens, so that later requests with
 * the same token skip the signature check.
 *
 * Threat: a token that is accepted for longer, or for more, than it was made for. Defence: only fully verified tokens are
 * cached, by the hash of the complete token. The validity period, the secret and the revocations are checked on every request,
 * and any other token goes through all checks again. Files that cannot be read leave the former rules in force, since a slip in an
 * editor must not lock everybody out; before they were read once, no token is accepted.
 */
export class Tokens {
  readonly #read: RulesReader;
  readonly #now: () => number;
  readonly #listener: TokenListener;
  readonly #known = new BoundedMap<string, { verified: VerifiedToken; lastUsedAt: number }>(MOST_TOKENS);
  #rules: Promise<TokenRules> | undefined;
  #latest: TokenRules | undefined;
  #readAt = 0;
  #revoked: number | undefined;
  /** When each problem was last seen. */
  readonly #problems = new BoundedMap<string, number>(MOST_PROBLEMS);

  constructor(read: RulesReader, now: () => number, listener: TokenListener) {
    this.#read = read;
    this.#now = now;
    this.#listener = listener;
  }

  /** Those of the rules in force, the one that signs new tokens first; none before the first request. */
  get secrets(): readonly KeyObject[] {
    return this.#latest?.secrets ?? [];
  }

  /** Like {@link verifyToken}. */
  async verify(token: string): Promise<VerifiedToken> {
    const rules = await this.#current();
    const name = hash("sha256", token, "base64");
    let used = this.#known.get(name);
    if (used === undefined || !isInForce(rules, used.verified, this.#now())) {
      this.#known.delete(name);
      used = { verified: await verifyToken(rules, token, this.#now()), lastUsedAt: 0 };
      this.#known.set(name, used);
    }
    used.lastUsedAt = this.#now();
    this.#listener.used(rules.secrets[0].equals(used.verified.secret));
    return used.verified;
  }

  /** The tokens that requests came with, of those that are still accepted; the most recently verified ones. */
  async inUse(): Promise<readonly TokenInUse[]> {
    const rules = await this.#current();
    const accepted = [...this.#known.values()].filter(({ verified }) =>
      isInForce(rules, verified, this.#now()),
    );
    return accepted.map(({ verified: { caller, issued, secret }, lastUsedAt }) => ({
      caller,
      issued,
      secret: rules.secrets.findIndex((known) => known.equals(secret)) + 1,
      lastUsedAt,
    }));
  }

  /** Whether a token that was verified before is still accepted. */
  async accepts(verified: VerifiedToken): Promise<boolean> {
    return isInForce(await this.#current(), verified, this.#now());
  }

  #current(): Promise<TokenRules> {
    const now = this.#now();
    const isFresh = Math.abs(now - this.#readAt) < READ_AGAIN_AFTER_MS; // a clock may be set back
    if (this.#rules !== undefined && isFresh) return this.#rules;
    this.#readAt = now;
    this.#rules = this.#readAgain();
    return this.#rules;
  }

  async #readAgain(): Promise<TokenRules> {
    try {
      const rules = await this.#read(this.#latest);
      for (const problem of rules.problems) this.#note(problem);
      this.#noteChanges(rules);
      this.#latest = rules;
      return rules;
    } catch (thrown) {
      const error = asHelmdeckError(thrown);
      this.#note(error);
      if (this.#latest === undefined) throw error;
      return this.#latest;
    }
  }

  #noteChanges({ secrets, revocations: { count } }: TokenRules): void {
    const { changed } = this.#listener;
    const before = this.#latest?.secrets ?? secrets;
    if (before.length !== secrets.length || secrets.some((one, at) => before[at]?.equals(one) !== true))
      changed("secrets_changed", { secrets: secrets.length });
    const added = count - (this.#revoked ?? count);
    if (added > 0) changed("revocations_changed", { added });
    this.#revoked = count;
  }

  /** Once, however often a file is rewritten, until it was well for a while. */
  #note(problem: HelmdeckError): void {
    const seenAt = this.#problems.get(problem.message);
    this.#problems.set(problem.message, this.#now());
    if (seenAt === undefined || Math.abs(this.#now() - seenAt) > SAID_AGAIN_AFTER_MS)
      this.#listener.failedToRead(problem);
  }
}
