/** Guards for pages: identifies the session, and checks that a form belongs to it. */

import type { Context, MiddlewareHandler } from "hono";
import { HelmdeckError } from "../../engine/errors.ts";
import { NOBODY, type Tokens } from "../authentication.ts";
import type { PageSession, ServerEnv } from "../caller.ts";
import { isRead } from "../guards/body.ts";
import type { RateLimits } from "../guards/rate.ts";
import { refuseToken } from "../tokens.ts";
import {
  isFormTokenOf,
  PAGE_SESSION_LIMITS,
  PageSessions,
  randomSecret,
  SessionCookie,
} from "./page-sessions.ts";

/** With this policy the browser sends the origin with our own forms, and no referrer to other sites. */
export const sayOriginToThisServer: MiddlewareHandler<ServerEnv> = async (c, next) => {
  await next();
  c.header("Referrer-Policy", "same-origin");
};

/** Like `authenticate` for other routes. A visitor who is not signed in counts by address. */
export function identify({ sessionOf }: PageAccess, limits: RateLimits): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    const session = await sessionOf(c);
    const { caller = NOBODY } = session ?? {};
    if (session === undefined) await limits.countAddress(c);
    else {
      c.set("subject", caller.subject);
      c.env?.connection?.isOf(caller.subject);
      await limits.countCaller(caller);
    }
    c.set("caller", caller);
    c.set("pageSession", session);
    await next();
  };
}

export const requireFormToken: MiddlewareHandler<ServerEnv> = async (c, next) => {
  if (!isRead(c)) checkFormToken(c.get("pageSession"), c.get("form").getAll("form_token"));
  await next();
};

function checkFormToken(session: PageSession | undefined, given: readonly string[]): void {
  if (session === undefined) {
    throw new HelmdeckError(
      "missing_bearer",
      "You are signed out, and nothing was changed. Sign in and try again.",
    );
  }
  const [token = ""] = given;
  if (given.length === 1 && isFormTokenOf(session, token)) return;
  throw new HelmdeckError(
    "forbidden",
    "This form belongs to an ended session, and nothing was changed. Open the page again and fill in the form.",
  );
}

export interface PageAccessParts {
  readonly tokens?: Tokens;
  /** In place of tokens: who comes with the code of an address. */
  readonly byCode?: SignIn;
  readonly publicOrigin?: string;
  /** The path of the pages as browsers see it: "" or, for example, `/deck`. */
  readonly base: string;
  readonly limits: RateLimits;
  readonly now: () => number;
}

/** Throws `invalid_token`. */
export type SignIn = (
  given: string,
) => Promise<Pick<PageSession, "caller" | "isAccepted"> & { readonly expiresAt: number }>;

export interface PageAccess {
  /** Undefined also if the session's token was revoked, or its secret removed. */
  sessionOf(c: Context<ServerEnv>): Promise<PageSession | undefined>;
  readonly signing?: {
    /** Throws `invalid_token`. Ends the browser's former session, so that an earlier session id is never valid. */
    signIn(c: Context<ServerEnv>, given: string): Promise<void>;
    signOut(c: Context<ServerEnv>): void;
  };
}

/** Sign-in to the pages with a token of this server or a code, and sign-out. Without both, everybody is `unknown`. */
export function makePageAccess({ tokens, byCode, ...parts }: PageAccessParts): PageAccess {
  const signIn = byCode ?? (tokens && signInByToken(tokens, parts.now));
  if (signIn !== undefined) return accessBySession(signIn, parts);
  // One form token for everybody: anyone who reaches this server may do everything, except pages of other sites.
  const session = { caller: NOBODY, formToken: randomSecret(), isAccepted: async () => true };
  return { sessionOf: async () => session };
}

function signInByToken(tokens: Tokens, now: () => number): SignIn {
  return async (token) => {
    const verified = await tokens.verify(token);
    const { expiresAt, ...caller } = verified.caller;
    // Requests are accepted up to half a minute late, but a session must not outlive its token.
    if (expiresAt <= now()) throw refuseToken("has expired");
    return { caller, expiresAt, isAccepted: () => tokens.accepts(verified) };
  };
}

function accessBySession(signIn: SignIn, { publicOrigin, base, limits, now }: PageAccessParts): PageAccess {
  const sessions = new PageSessions(PAGE_SESSION_LIMITS, now);
  const cookieOf = (c: Context<ServerEnv>) => new SessionCookie(c, ownOriginOf(c, publicOrigin), base);
  const end = ({ id }: SessionCookie) => id !== undefined && sessions.end(id);
  return {
    sessionOf: async (c) => {
      const { id } = cookieOf(c);
      const session = id === undefined ? undefined : sessions.find(id);
      return (await session?.isAccepted()) === true ? session : undefined;
    },
    signing: {
      signIn: async (c, given) => {
        const { caller, expiresAt, isAccepted } = await signIn(given);
        await limits.countCaller(caller);
        const cookie = cookieOf(c);
        end(cookie);
        cookie.set(sessions.open(caller, expiresAt, isAccepted));
      },
      signOut: (c) => {
        const cookie = cookieOf(c);
        end(cookie);
        cookie.clear();
      },
    },
  };
}

/**
 * Allows requests for these pages only from these pages.
 *
 * Threat: a page of another origin in the same browser, perhaps on another port of this machine, whose requests include the
 * session's cookie: it posts a form, embeds a page, or measures how long a search takes. Defence: the browser reports a
 * request's origin in `Sec-Fetch-Site` or `Origin`. Every change must come from our own pages; from other sites, a person can
 * only follow a link. The host guard handles DNS rebinding.
 *
 * Our own origin as the browser sees it: the public origin for its host name, else plain HTTP with the requested name.
 */
function ownOriginOf(c: Context<ServerEnv>, publicOrigin: string | undefined): string {
  const host = (c.req.header("host") ?? new URL(c.req.url).host).toLowerCase();
  const url = publicOrigin === undefined ? undefined : new URL(publicOrigin);
  return url !== undefined && host === url.host ? url.origin : `http://${host}`;
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
  // A navigation of a whole tab, not of a frame, an image or a script.
  const isFollowedLink =
    c.req.header("sec-fetch-mode") === "navigate" && c.req.header("sec-fetch-dest") === "document";
  if (site !== undefined) return isRead(c) && (site === "none" || isFollowedLink);
  // An old browser without Sec-Fetch-Site, plain HTTP with a name other than localhost, or no browser.
  return isRead(c) ? origin !== "null" : origin !== undefined && origin !== "null";
}

function refuse(): HelmdeckError {
  return new HelmdeckError(
    "forbidden",
    "This request does not come from these pages. If a TLS proxy is in front of the server, start it with --public-origin https://NAME, and let the proxy keep the Host header.",
  );
}
