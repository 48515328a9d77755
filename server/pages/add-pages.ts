/**
 * The "Agent memory" pages at `/`, with the server's guards and additional ones.
 *
 * Threat: a page of another site in a signed-in person's browser, and a caller who pretends to be another. Defence:
 * page-origin.ts and page-sessions.ts. A GET, or a form without its session's token, changes nothing. The cookie is accepted
 * only here, never on REST or MCP, and a bearer token is never accepted here.
 */
import type { Context, Hono, MiddlewareHandler } from "hono";
import type { ServerContext } from "../../packs/server-context.ts";
import { makePages } from "../../pages/pages.ts";
import { type FailureListener, noteFailure } from "../answer-failures.ts";
import type { ServerEnv } from "../caller.ts";
import { isRead, limitBody, parseForm } from "../guards/body.ts";
import { makePageAccess, type PageAccessParts } from "./page-access.ts";
import { failAsPage, missAsPage, PLACE, SIGN_IN_PATH, signInPage } from "./page-failures.ts";
import { identify, requireFormToken, sayOriginToThisServer } from "./page-guards.ts";
import { guardPageOrigin } from "./page-origin.ts";
import { SIGN_OUT_PATH, viewersOver } from "./page-viewer.ts";

export interface PagesSettings {
  /** The origin that browsers use if a TLS proxy is in front of the server: `https://deck.example`. */
  readonly publicOrigin?: string;
}

interface PagesParts extends Omit<PageAccessParts, "publicOrigin"> {
  readonly serverContext: ServerContext;
  readonly pages: PagesSettings;
  readonly failures: FailureListener;
}

/** `carryOut`: the load-limiting guards, which the pages share with the other routes. */
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

/** A separate app, so that changes to its answers never affect another route. */
function shownPages({ serverContext, now, failures }: PagesParts) {
  /** What the guards found about each request. */
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

/** Restores the body, which the guards have read. */
async function withBodyAgain(c: Context<ServerEnv>): Promise<Request> {
  const { url, method, headers, signal } = c.req.raw;
  return new Request(url, { method, headers, signal, body: await c.req.arrayBuffer() });
}
