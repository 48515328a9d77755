/** Finds the caller: the bearer token's subject, or `unknown` if the server has no secret. */
import { createSecretKey } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { HelmdeckError } from "../engine/errors.ts";
import { UNKNOWN_SUBJECT } from "../engine/store/namespace.ts";
import type { Caller, ServerEnv } from "./caller.ts";
import type { RateLimits } from "./guards/rate.ts";
import { KnownTokens } from "./known-tokens.ts";

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
