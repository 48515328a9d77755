/** Finds the caller: the bearer token's subject, or `unknown` if the server has no secret. */
import { createSecretKey, hash, type KeyObject } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { BoundedMap } from "../engine/bounded-map.ts";
import { HelmdeckError } from "../engine/errors.ts";
import { UNKNOWN_SUBJECT } from "../engine/store/namespace.ts";
import type { Caller, ServerEnv } from "./caller.ts";
import type { RateLimits } from "./guards/rate.ts";
import { isInForce, type VerifiedToken, verifyToken } from "./tokens.ts";

export const NOBODY: Caller = { subject: UNKNOWN_SUBJECT, authenticated: false, scopes: [] };
/** RFC 6750: the scheme's name in any case, one space, and a token of these characters. */
const BEARER = /^bearer ([A-Za-z0-9._~+/-]+=*)$/i;

export interface Authentication {
  /** Absent: no token is required. */
  readonly secret?: Uint8Array;
  readonly now: () => number;
  readonly limits: RateLimits;
}

/** Sets `caller` and counts the request against that caller, or against the address if the token is missing or invalid. */
export function authenticate({ secret, now, limits }: Authentication): MiddlewareHandler<ServerEnv> {
  const tokens = secret && new KnownTokens(createSecretKey(secret));
  return async (c, next) => {
    const caller = await limits.countingRefusals(c, () =>
      callerOf(tokens, c.req.header("authorization"), now()),
    );
    c.env?.connection?.isOf(caller.subject);
    await limits.countCaller(caller);
    c.set("caller", caller);
    return next();
  };
}

/** For open routes: counts the request against the caller if it has a valid token, else against the address. */
export function countOpen({ secret, now, limits }: Authentication): MiddlewareHandler<ServerEnv> {
  const tokens = secret && new KnownTokens(createSecretKey(secret));
  return async (c, next) => {
    const authorization = c.req.header("authorization");
    const isNamed = tokens !== undefined && authorization !== undefined;
    const caller = isNamed ? await callerOf(tokens, authorization, now()).catch(() => undefined) : undefined;
    await (caller === undefined ? limits.countAddress(c) : limits.countCaller(caller));
    return next();
  };
}

async function callerOf(
  tokens: KnownTokens | undefined,
  authorization: string | undefined,
  now: number,
): Promise<Caller> {
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
  return (await tokens.verify(token, now)).caller;
}

/** For operators' routes. Always false without authentication. */
export function hasScope(caller: Caller, ...scopes: readonly string[]): boolean {
  return caller.authenticated && scopes.some((scope) => caller.scopes.includes(scope));
}

/** The oldest entry is evicted. */
const MOST_TOKENS = 4_096;

/**
 * A cache of verified tokens, so that later requests with the same token skip the signature check.
 *
 * Threat: a token that is accepted for longer, or for more, than it was made for. Defence: only fully verified tokens are
 * cached, by the hash of the complete token and for one key. The validity period is checked on every request, and any other
 * token goes through all checks again.
 */
class KnownTokens {
  readonly #key: KeyObject;
  readonly #known: BoundedMap<string, VerifiedToken>;

  constructor(key: KeyObject, most = MOST_TOKENS) {
    this.#key = key;
    this.#known = new BoundedMap(most);
  }

  /** Like {@link verifyToken}. */
  async verify(token: string, now: number): Promise<VerifiedToken> {
    const name = hash("sha256", token, "base64");
    const known = this.#known.get(name);
    if (known !== undefined && isInForce(known, now)) return known;
    this.#known.delete(name);
    const verified = await verifyToken(this.#key, token, now);
    this.#known.set(name, verified);
    return verified;
  }
}
