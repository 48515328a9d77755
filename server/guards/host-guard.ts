/**
 * For which host names and browser origins the server answers.
 *
 * Who attacks: a web page in a browser on this machine that talks to a server on loopback, directly or by a name of its own
 * that it points to 127.0.0.1 (DNS rebinding). What stops it: the Host header must be a loopback name or one that the
 * operator named, and any Origin that the operator did not name is refused. No CORS header is ever sent.
 */
import { isIPv6 } from "node:net";
import type { MiddlewareHandler } from "hono";
import { HelmdeckError } from "../../app/index.ts";
import type { ServerEnv } from "../caller.ts";

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

export interface HostRules {
  /** Names without a port, beside the loopback ones. */
  readonly allowedHosts: readonly string[];
  /** Whole origins, such as `https://deck.example`. */
  readonly allowedOrigins: readonly string[];
}

export function guardHost({ allowedHosts }: HostRules): MiddlewareHandler<ServerEnv> {
  const hosts = new Set([...LOOPBACK_NAMES, ...allowedHosts.map(asInHeader)]);
  return async (c, next) => {
    // In a test without a socket the address is all there is.
    const host = c.req.header("host") ?? new URL(c.req.url).host;
    if (!hosts.has(nameOf(host))) {
      throw new HelmdeckError(
        "forbidden",
        "This server does not accept that Host. If the name is yours, start the server with --allow-host NAME.",
      );
    }
    return next();
  };
}

/** Of everything but our own pages, which have a rule of their own: pages/page-origin.ts. */
export function guardOrigin({ allowedOrigins }: HostRules): MiddlewareHandler<ServerEnv> {
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()));
  return async (c, next) => {
    const origin = c.req.header("origin");
    if (origin !== undefined && !origins.has(origin.toLowerCase())) {
      throw new HelmdeckError(
        "forbidden",
        "Requests from web pages are refused. If this page is yours, start the server with --allow-origin ORIGIN.",
      );
    }
    return next();
  };
}

/** An address of IPv6 stands in brackets there, whether the operator wrote them or not. */
function asInHeader(name: string): string {
  return isIPv6(name) ? `[${name.toLowerCase()}]` : name.toLowerCase();
}

function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d{1,5}$/, "");
}
