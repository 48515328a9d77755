/**
 * Allows requests for these pages only from these pages.
 *
 * Threat: a page of another origin in the same browser, perhaps on another port of this machine, whose requests include the
 * session's cookie: it posts a form, embeds a page, or measures how long a search takes. Defence: the browser reports a
 * request's origin in `Sec-Fetch-Site` or `Origin`. Every change must come from our own pages; from other sites, a person can
 * only follow a link. The host guard handles DNS rebinding.
 */
import type { Context, MiddlewareHandler } from "hono";
import { HelmdeckError } from "../../engine/errors.ts";
import type { ServerEnv } from "../caller.ts";
import { isRead } from "../guards/body.ts";

/** Our own origin as the browser sees it: the public origin for its host name, else plain HTTP with the requested name. */
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
  // An old browser without Sec-Fetch-Site, plain HTTP with a name other than localhost, or no browser.
  return isRead(c) ? origin !== "null" : origin !== undefined && origin !== "null";
}

/** A navigation of a whole tab, not of a frame, an image or a script. */
function isFollowedLink(c: Context<ServerEnv>): boolean {
  return c.req.header("sec-fetch-mode") === "navigate" && c.req.header("sec-fetch-dest") === "document";
}

function refuse(): HelmdeckError {
  return new HelmdeckError(
    "forbidden",
    "This request does not come from these pages. If a TLS proxy is in front of the server, start it with --public-origin https://NAME, and let the proxy keep the Host header.",
  );
}
