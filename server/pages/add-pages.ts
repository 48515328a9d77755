/**
 * The "Agent memory" pages at `/`, behind the guards of the rest and some of their own.
 *
 * Who attacks: a page of another site in the browser of somebody who is signed in, and a caller who would like to be another. What
 * stops them: page-origin.ts and page-sessions.ts; a form without its session's token changes nothing, nor does any GET; the cookie
 * counts here alone, never on REST or MCP, and a bearer token never counts here.
 */
import type { Context, Hono, MiddlewareHandler } from "hono";
import type { ServerContext } from "../../packs/index.ts";
import { makePages } from "../../pages/index.ts";
import { type FailureListener, noteFailure } from "../answer-failures.ts";
import type { ServerEnv } from "../caller.ts";
import { isRead, limitBody, parseForm } from "../guards/body.ts";
import { makePageAccess, type PageAccessParts } from "./page-access.ts";
import { failAsPage, missAsPage, PLACE, SIGN_IN_PATH, signInPage } from "./page-failures.ts";
import { identify, requireFormToken, sayOriginToThisServer } from "./page-guards.ts";
import { guardPageOrigin } from "./page-origin.ts";
import { SIGN_OUT_PATH, viewersOver } from "./page-viewer.ts";

export interface PagesSettings {
  /** Where browsers reach the server when a proxy in front of it speaks TLS: `https://deck.example`. */
  readonly publicOrigin?: string;
}

interface PagesParts extends Omit<PageAccessParts, "publicOrigin"> {
  readonly serverContext: ServerContext;
  readonly pages: PagesSettings;
  readonly failures: FailureListener;
}

/** `carryOut`: the guards that hold work back, which the pages share with the rest. */
export function addPages(
  app: Hono<ServerEnv>,
  parts: PagesParts,
  carryOut: readonly MiddlewareHandler<ServerEnv>[],
): void {
  const access = makePageAccess({ ...parts, ...parts.pages });
  const guards = [
    failAsPage,
    sayOriginToThisServer,
    guardPageOrigin(parts.pages.publicOrigin),
    identify(access, parts.limits),
    limitBody,
    parseForm,
  ];
  const { signing } = access;
  if (signing !== undefined) {
    app.on("GET", [SIGN_IN_PATH], ...guards, (c) => c.redirect("/", 303));
    app.on("POST", [SIGN_IN_PATH], ...guards, ...carryOut, async (c) => {
      await signing.signIn(c, c.get("form").get("token")?.trim() ?? "");
      return c.redirect("/", 303);
    });
    app.on("POST", [SIGN_OUT_PATH], ...guards, requireFormToken, async (c) => {
      signing.signOut(c);
      return c.redirect("/", 303);
    });
  }
  const pages = shownPages(parts);
  for (const { method, path } of pages.routes) {
    app.on(method, [path], ...guards, requireFormToken, ...carryOut, pages.show);
  }
  app.use(missAsPage);
}

/** An app of their own, so that what they do to their answers never reaches another route. */
function shownPages({ serverContext, now, failures }: PagesParts) {
  /** What the guards found out of each request. */
  const asked = new WeakMap<Request, Context<ServerEnv>>();
  const viewerOf = viewersOver(serverContext, now);
  const pages = makePages({
    ...PLACE,
    now,
    viewerOf: async (request) => {
      const session = asked.get(request)?.get("pageSession");
      return session === undefined ? signInPage() : viewerOf(session);
    },
    onFailure: (thrown, request) => {
      noteFailure(failures, thrown, asked.get(request)?.get("requestId") ?? "");
    },
  });
  return {
    routes: pages.routes.filter(({ method }) => method !== "ALL"),
    show: async (c: Context<ServerEnv>) => {
      const request = isRead(c) ? c.req.raw : await withBodyAgain(c);
      asked.set(request, c);
      return pages.fetch(request);
    },
  };
}

/** The guards have read it. */
async function withBodyAgain(c: Context<ServerEnv>): Promise<Request> {
  const { url, method, headers, signal } = c.req.raw;
  return new Request(url, { method, headers, signal, body: await c.req.arrayBuffer() });
}
