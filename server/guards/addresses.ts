/**
 * Checks the host name and the browser origin of a request.
 *
 * Threat: a web page in a browser on this machine calls a server on loopback, directly or through its own host name that
 * resolves to 127.0.0.1 (DNS rebinding). Defence: the Host header must be a loopback name or a name that the operator
 * allowed, and any Origin that the operator did not allow is refused. The server never sends a CORS header.
 */
import { isIPv6 } from "node:net";
import type { MiddlewareHandler } from "hono";
import { HelmdeckError } from "../../engine/errors.ts";
import type { ServerEnv } from "../caller.ts";

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

export interface HostRules {
  /** Names without a port, in addition to the loopback names. */
  readonly allowedHosts: readonly string[];
  /** Whole origins, such as `https://deck.example`. */
  readonly allowedOrigins: readonly string[];
}

export function guardHost(rules: () => HostRules): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    // A test without a socket has only the address.
    const host = c.req.header("host") ?? new URL(c.req.url).host;
    const name = host.toLowerCase().replace(/:\d{1,5}$/, "");
    // The header has an IPv6 address in brackets, whether or not the operator wrote them.
    const allowed = rules().allowedHosts.map((one) => (isIPv6(one) ? `[${one}]` : one).toLowerCase());
    const hosts = [...LOOPBACK_NAMES, ...allowed];
    if (!hosts.includes(name)) {
      throw new HelmdeckError(
        "forbidden",
        "This server does not accept this Host header. If the name is yours, start the server with --allow-host NAME.",
      );
    }
    return next();
  };
}

/** For everything except our own pages, which have their own rule: pages/page-guards.ts. */
export function guardOrigin(rules: () => HostRules): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    const origin = c.req.header("origin");
    const isAllowed = (each: string) => each.toLowerCase() === origin?.toLowerCase();
    if (origin !== undefined && !rules().allowedOrigins.some(isAllowed)) {
      throw new HelmdeckError(
        "forbidden",
        "Requests from web pages are refused. If this page is yours, start the server with --allow-origin ORIGIN.",
      );
    }
    return next();
  };
}

/** Otherwise `%FF` would be read as the characters %, F, F, which is a different key. */
export const guardAddress: MiddlewareHandler<ServerEnv> = async (c, next) => {
  const { pathname, search, searchParams } = new URL(c.req.url);
  requireDecodable(pathname);
  requireDecodable(search);
  const names = [...searchParams.keys()];
  if (new Set(names).size < names.length) {
    throw refuse("A parameter appears twice in the address.");
  }
  return next();
};

function requireDecodable(part: string): void {
  if (isDecodable(part)) return;
  throw refuse("The address is not percent-encoded UTF-8; encode it, as encodeURIComponent does.");
}

/** Refuses ambiguous addresses: malformed percent-encoding, or a repeated parameter. */
export function isDecodable(encoded: string): boolean {
  try {
    decodeURIComponent(encoded);
    return true;
  } catch {
    return false;
  }
}

function refuse(message: string): HelmdeckError {
  return new HelmdeckError("invalid_input", message);
}
