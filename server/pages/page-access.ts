/** Sign-in to the pages with a token of this server, and sign-out. Without a secret there is no sign-in, and everybody is `unknown`. */
import { createSecretKey, type KeyObject } from "node:crypto";
import type { Context } from "hono";
import { NOBODY } from "../authentication.ts";
import type { PageSession, ServerEnv } from "../caller.ts";
import type { RateLimits } from "../guards/rate.ts";
import { refuseToken, verifyToken } from "../tokens.ts";
import { ownOriginOf } from "./page-origin.ts";
import { PAGE_SESSION_LIMITS, PageSessions, randomSecret } from "./page-sessions.ts";
import { SessionCookie } from "./session-cookie.ts";

export interface PageAccessParts {
  readonly secret?: Uint8Array;
  readonly publicOrigin?: string;
  readonly limits: RateLimits;
  readonly now: () => number;
}

export interface PageAccess {
  sessionOf(c: Context<ServerEnv>): PageSession | undefined;
  readonly signing?: Signing;
}

interface Signing {
  /** Throws `invalid_token`. Ends the browser's former session, so that an earlier session id is never valid. */
  signIn(c: Context<ServerEnv>, token: string): Promise<void>;
  signOut(c: Context<ServerEnv>): void;
}

export function makePageAccess({ secret, ...parts }: PageAccessParts): PageAccess {
  return secret === undefined ? accessForAnybody() : accessByToken(createSecretKey(secret), parts);
}

/** One form token for everybody: anyone who reaches this server may do everything, except pages of other sites. */
function accessForAnybody(): PageAccess {
  const session = { caller: NOBODY, formToken: randomSecret() };
  return { sessionOf: () => session };
}

function accessByToken(key: KeyObject, { publicOrigin, limits, now }: PageAccessParts): PageAccess {
  const sessions = new PageSessions(PAGE_SESSION_LIMITS, now);
  const cookieOf = (c: Context<ServerEnv>) => new SessionCookie(c, ownOriginOf(c, publicOrigin));
  const end = ({ id }: SessionCookie) => id !== undefined && sessions.end(id);
  return {
    sessionOf: (c) => {
      const { id } = cookieOf(c);
      return id === undefined ? undefined : sessions.find(id);
    },
    signing: {
      signIn: async (c, token) => {
        const verified = await verifyToken(key, token, now());
        const { expiresAt, ...caller } = verified.caller;
        // Requests are accepted up to half a minute late, but a session must not outlive its token.
        if (expiresAt <= now()) throw refuseToken("has expired");
        await limits.countCaller(caller);
        const cookie = cookieOf(c);
        end(cookie);
        cookie.set(sessions.open(caller, expiresAt));
      },
      signOut: (c) => {
        const cookie = cookieOf(c);
        end(cookie);
        cookie.clear();
      },
    },
  };
}
