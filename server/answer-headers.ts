/**
 * The headers that every answer has, whoever made it: no script, no frame, no guess at a type, no copy kept; and of a server that
 * stops, that the next connection is better opened elsewhere.
 *
 * An answer's own header of the same name stands in their place: a page says itself what it may load. On a socket they go straight to
 * Node's response: changing the headers of a finished answer makes hono build it anew, which costs more than a read of the store.
 */
import type { Context, MiddlewareHandler } from "hono";
import type { ServerEnv } from "./caller.ts";

/** The server speaks plain HTTP; whoever puts TLS before it decides on Strict-Transport-Security. */
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

/** Of an answer that is not made yet; on a socket also of one that is made and not sent. */
export function presetHeader(c: Context<ServerEnv>, name: string, value: string): void {
  const outgoing = c.env?.outgoing;
  if (outgoing === undefined) c.header(name, value);
  else outgoing.setHeader(name, value);
}

function complete(headers: Headers): void {
  for (const [name, value] of OF_EVERY_ANSWER) if (!headers.has(name)) headers.set(name, value);
}
