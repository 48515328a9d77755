/**
 * Headers for every answer: no scripts, no frames, no type sniffing, no caching. A stopping server also asks the client to
 * close the connection.
 *
 * An answer's own header of the same name wins: a page sets its own content security policy. On a socket, the headers go
 * directly to Node's response, because changing a finished answer makes Hono rebuild it, which costs more than a store read.
 */
import type { Context, MiddlewareHandler } from "hono";
import type { ServerEnv } from "./caller.ts";

/** The server speaks plain HTTP; a TLS proxy in front of it decides on Strict-Transport-Security. */
const OF_EVERY_ANSWER = Object.entries({
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Origin-Agent-Cluster": "?1",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-DNS-Prefetch-Control": "off",
  "X-Download-Options": "noopen",
  "X-Frame-Options": "SAMEORIGIN",
  "X-Permitted-Cross-Domain-Policies": "none",
  "X-XSS-Protection": "0",
});

export function headEveryAnswer(isStopping: () => boolean): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    const outgoing = c.env?.outgoing;
    if (outgoing !== undefined) for (const [name, value] of OF_EVERY_ANSWER) outgoing.setHeader(name, value);
    await next();
    if (outgoing === undefined) complete(c.res.headers);
    if (isStopping()) presetHeader(c, "Connection", "close");
  };
}

/** Sets a header of an answer that is not made yet, or on a socket not sent yet. */
export function presetHeader(c: Context<ServerEnv>, name: string, value: string): void {
  const outgoing = c.env?.outgoing;
  if (outgoing === undefined) c.header(name, value);
  else outgoing.setHeader(name, value);
}

function complete(headers: Headers): void {
  for (const [name, value] of OF_EVERY_ANSWER) if (!headers.has(name)) headers.set(name, value);
}
