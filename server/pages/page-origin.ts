/**
 * Which web pages may ask for these pages: themselves.
 *
 * Who attacks: a page of another origin in the same browser, also one on another port of this machine, whose requests bring the
 * session's cookie along: it posts a form, embeds a page, or measures what a question takes. What stops it: a browser says where
 * a request comes from, in `Sec-Fetch-Site` or `Origin`; whatever changes something must come from here, and from elsewhere a
 * person can only follow a link. Names that lead here (DNS rebinding) are the host guard's.
 */
import type { Context, MiddlewareHandler } from "hono";
import { HelmdeckError } from "../../app/index.ts";
import type { ServerEnv } from "../caller.ts";
import { isRead } from "../guards/body.ts";

/** Where a browser that asks is: the public origin under its name, else plain HTTP under the name that it asked for. */
export function ownOriginOf(c: Context<ServerEnv>, publicOrigin: string | undefined): string {
  const host = (c.req.header("host") ?? new URL(c.req.url).host).toLowerCase();
  return publicOrigin !== undefined && host === new URL(publicOrigin).host ? publicOrigin : `http://${host}`;
}

export function guardPageOrigin(publicOrigin: string | undefined): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    const origin = c.req.header("origin");
    const isForeign = origin !== undefined && origin !== "null" && origin !== ownOriginOf(c, publicOrigin);
    if (isForeign || !comesFromHere(c, origin)) throw refuse();
    await next();
  };
}

function comesFromHere(c: Context<ServerEnv>, origin: string | undefined): boolean {
  const site = c.req.header("sec-fetch-site");
  if (site === "same-origin") return true;
  if (site !== undefined) return isRead(c) && (site === "none" || isFollowedLink(c));
  // A browser from before Sec-Fetch-Site, plain HTTP under another name than localhost, or no browser at all.
  return isRead(c) ? origin !== "null" : origin !== undefined && origin !== "null";
}

/** Of a whole tab: not of a frame, a picture or a script. */
function isFollowedLink(c: Context<ServerEnv>): boolean {
  return c.req.header("sec-fetch-mode") === "navigate" && c.req.header("sec-fetch-dest") === "document";
}

function refuse(): HelmdeckError {
  return new HelmdeckError(
    "forbidden",
    "This request does not come from these pages. If a TLS proxy is in front of the server, start it with --public-origin https://NAME, and let the proxy keep the Host header.",
  );
}
