/** Guards for pages: identifies the session, and checks that a form belongs to it. */
import type { Context, MiddlewareHandler } from "hono";
import { HelmdeckError } from "../../engine/errors.ts";
import { NOBODY } from "../authentication.ts";
import type { PageSession, ServerEnv } from "../caller.ts";
import { isRead } from "../guards/body.ts";
import type { RateLimits } from "../guards/rate.ts";
import type { PageAccess } from "./page-access.ts";
import { isFormTokenOf } from "./page-sessions.ts";

/** With this policy the browser sends the origin with our own forms, and no referrer to other sites. */
export const sayOriginToThisServer: MiddlewareHandler<ServerEnv> = async (c, next) => {
  await next();
  c.header("Referrer-Policy", "same-origin");
};

/** Like `authenticate` for other routes. A visitor who is not signed in counts by address. */
export function identify({ sessionOf }: PageAccess, limits: RateLimits): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    const session = sessionOf(c);
    if (session === undefined) await limits.countAddress(c);
    else await countAsCaller(c, session, limits);
    c.set("caller", session?.caller ?? NOBODY);
    c.set("pageSession", session);
    await next();
  };
}

async function countAsCaller(c: Context<ServerEnv>, { caller }: PageSession, limits: RateLimits) {
  c.env?.connection?.isOf(caller.subject);
  await limits.countCaller(caller);
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
