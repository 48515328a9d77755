/**
 * The "Agent memory" pages at `/`, with the server's guards and additional ones.
 *
 * Threat: a page of another site in a signed-in person's browser, and a caller who pretends to be another. Defence:
 * page-origin.ts and page-sessions.ts. A GET, or a form without its session's token, changes nothing. The cookie is accepted
 * only here, never on REST or MCP, and a bearer token is never accepted here.
 */
import type { Context, Hono, MiddlewareHandler } from "hono";
import { html } from "hono/html";
import { matchedRoutes } from "hono/route";
import { notesHolding } from "../../app/traces/count-notes.ts";
import { asHelmdeckError, HelmdeckError } from "../../engine/errors.ts";
import type { ServerContext } from "../../packs/server-context.ts";
import { typedText } from "../../pages/components/parts.ts";
import { makePages, plainPage } from "../../pages/pages.ts";
import type { Viewer } from "../../pages/viewer.ts";
import { type FailureListener, failureHeaders, noteFailure } from "../answer-failures.ts";
import { hasScope } from "../authentication.ts";
import { ADMIN_SCOPE, type PageSession, type ServerEnv } from "../caller.ts";
import { isRead, limitBody, parseForm } from "../guards/body.ts";
import { statusOf } from "../status.ts";
import {
  guardPageOrigin,
  identify,
  makePageAccess,
  type PageAccess,
  type PageAccessParts,
  requireFormToken,
  sayOriginToThisServer,
} from "./page-guards.ts";

export interface PagesSettings {
  /** The folders of OpenClaw's notes on this machine, in which a forgotten fact may still stand. */
  readonly workspaces?: () => Promise<readonly string[]>;
}

interface PagesParts extends PageAccessParts {
  readonly serverContext: Pick<ServerContext, "memory">;
  readonly pages: PagesSettings;
  readonly failures: FailureListener;
}

/** `carryOut`: the load-limiting guards, which the pages share with the other routes. */
export function addPages(
  app: Hono<ServerEnv>,
  parts: PagesParts,
  carryOut: readonly MiddlewareHandler<ServerEnv>[],
): void {
  const access = makePageAccess(parts);
  const { base, byCode } = parts;
  const guards = [
    failAsPage(parts),
    sayOriginToThisServer,
    guardPageOrigin(parts.publicOrigin),
    identify(access, parts.limits),
    limitBody,
    parseForm,
  ];
  const { signing } = access;
  if (signing !== undefined) {
    app.on("GET", [SIGN_IN_PATH], ...guards, (c) => c.redirect(`${base}/`, 303));
    if (byCode !== undefined) addCodes(app, signing, guards);
    app.on("POST", [SIGN_IN_PATH], ...guards, ...carryOut, async (c) => {
      await signing.signIn(c, c.get("form").get("token")?.trim() ?? "");
      return c.redirect(`${base}/`, 303);
    });
    app.on("POST", [SIGN_OUT_PATH], ...guards, requireFormToken, async (c) => {
      signing.signOut(c);
      return c.redirect(`${base}/`, 303);
    });
  }
  const pages = shownPages(parts);
  for (const { method, path } of pages.routes) {
    app.on(method, [path.slice(base.length) || "/"], ...guards, requireFormToken, ...carryOut, pages.show);
  }
  app.use(missAsPage(parts));
}

/** Their addresses, and one that each page asks every minute as long as it is open. */
function addCodes(
  app: Hono<ServerEnv>,
  { signIn }: NonNullable<PageAccess["signing"]>,
  guards: readonly MiddlewareHandler<ServerEnv>[],
): void {
  app.on("GET", [ALIVE_PATH], ...guards, (c) => c.body(null, 204));
  app.on("GET", [`${SIGN_IN_PATH}/:code`], ...guards, async (c) => {
    // A browser may load an address again, such as from its history.
    if (c.get("pageSession") === undefined) await signIn(c, c.req.param("code"));
    // With a redirect, browsers would not send the new cookie: another program has opened this address.
    c.header("Refresh", "0; url=/");
    const body = html`<p><a href="/">Show the memory</a></p>`;
    const page = await plainPage({ ...placeAt(""), title: "Opening", body });
    return c.newResponse(page.body, page);
  });
}

/** A separate app, so that changes to its answers never affect another route. */
function shownPages(parts: PagesParts) {
  const { serverContext, now, failures, base, byCode } = parts;
  /** What the guards found about each request. */
  const asked = new WeakMap<Request, Context<ServerEnv>>();
  const viewerOf = viewersOver(serverContext, now, `${base}${SIGN_OUT_PATH}`, parts.pages.workspaces);
  const pages = makePages({
    ...placeAt(base),
    ...(byCode !== undefined && { alivePath: ALIVE_PATH }),
    now,
    viewerOf: async (request) => {
      const session = asked.get(request)?.get("pageSession");
      return session === undefined ? signInPage(parts) : viewerOf(session);
    },
    onFailure: (thrown, request) => {
      noteFailure(failures, thrown, asked.get(request));
    },
  });
  return {
    routes: pages.routes.filter(({ method }) => method !== "ALL"),
    show: async (c: Context<ServerEnv>) => {
      const request = await requestBelow(base, c);
      asked.set(request, c);
      return pages.fetch(request);
    },
  };
}

/** The request with the base in its path, which a proxy may have left out, and with its body, which the guards have read. */
async function requestBelow(base: string, c: Context<ServerEnv>): Promise<Request> {
  if (isRead(c) && base === "") return c.req.raw;
  const { method, headers, signal } = c.req.raw;
  const url = new URL(c.req.url);
  url.pathname = `${base}${c.req.path}`;
  return new Request(url, {
    method,
    headers,
    signal,
    ...(!isRead(c) && { body: await c.req.arrayBuffer() }),
  });
}

/** The fields of a form that was refused. */
type Typed = Iterable<readonly [string, string]>;

const SIGN_IN_PATH = "/sign-in";
const ALIVE_PATH = "/alive";
/** No other site may frame them. */
const placeAt = (base: string) => ({ base, frameAncestors: "'none'" }) as const;

/** Turns the JSON of a failure (a guard's refusal or a bug) into a page. */
function failAsPage(parts: PagesParts): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    await next();
    if (c.error !== undefined) c.res = await failurePage(parts, asHelmdeckError(c.error), c.get("form"));
  };
}

/** For unknown addresses. Checked before authentication, so that nobody has to sign in to see a 404. */
function missAsPage(parts: PagesParts): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    const isRoute = matchedRoutes(c).some(({ method }) => method !== "ALL");
    const isOfBrowser = c.req.header("accept")?.includes("text/html") === true;
    if (isRoute || !isOfBrowser || c.req.path.startsWith("/api/")) return next();
    return failurePage(parts, new HelmdeckError("not_found", "There is no such page."));
  };
}

/** Failures as pages instead of JSON, for browsers: a sign-in, a refusal, an unknown address. */
async function signInPage(parts: PagesParts, problem?: HelmdeckError, typed?: Typed): Promise<Response> {
  const { base, byCode } = parts;
  const refusal = problem ?? new HelmdeckError("missing_bearer", "");
  const page = await plainPage({
    ...placeAt(base),
    title: "Sign in",
    status: statusOf(refusal.code),
    body: html`${problem && html`<div class="notice bad" role="alert"><p>${problem.message}</p></div>`}
${byCode ? NEW_ADDRESS : tokenForm(base)}${typed && typedText(typed)}`,
  });
  for (const [name, value] of Object.entries(failureHeaders(refusal))) page.headers.set(name, value);
  return page;
}

const NEW_ADDRESS = html`<p>Press Enter in the terminal where <code>helmdeck-memory open</code> runs, and open the address that it shows. If it has ended, run it again.</p>`;

function tokenForm(base: string) {
  return html`<form class="card pad" method="post" action="${base}${SIGN_IN_PATH}">
<div class="field"><label for="token">Token</label>
<input id="token" name="token" type="password" required autofocus autocomplete="off" spellcheck="false" aria-describedby="token-help">
<p class="hint" id="token-help">A token opens the memory of its subject. To make one, run on the server: <code>helmdeck-memory token --subject main</code></p></div>
<button class="primary" type="submit">Sign in</button>
</form>`;
}

function failurePage(parts: PagesParts, error: HelmdeckError, typed: Typed = []): Promise<Response> {
  if (error.code === "missing_bearer" || error.code === "invalid_token")
    return signInPage(parts, error, typed);
  return plainPage({
    ...placeAt(parts.base),
    title: error.code === "not_found" ? "Not found" : "Refused",
    status: statusOf(error.code),
    body: html`<p>${error.message}</p><p><a href="${parts.base}/">Back to the memory</a></p>${typedText(typed)}`,
  });
}

const SIGN_OUT_PATH = "/sign-out";
/** Doctor's result is reused for this long, because doctor opens every row of every caller. */
const DOCTOR_HOLDS_MS = 10_000;

/** Viewers of the pages: a caller sees only their own memory; an operator also sees who has entries, and how many. */
function viewersOver(
  { memory }: PagesParts["serverContext"],
  now: () => number,
  signOutPath: string,
  workspaces: PagesSettings["workspaces"] = async () => [],
): (session: PageSession) => Viewer {
  const countNotes = (subject: string) => async (scope: string) =>
    notesHolding({ memory, subject, scope, workspaces: await workspaces() });
  const examine = heldFor(DOCTOR_HOLDS_MS, now, () => memory.doctor());
  return ({ caller, formToken }) => ({
    memory,
    subject: caller.subject,
    choices: [],
    sees: "values",
    seesCallers: hasScope(caller, ADMIN_SCOPE),
    // Without sign-in the server listens on loopback only, so the viewer is on its machine.
    ...((!caller.authenticated || hasScope(caller, ADMIN_SCOPE)) && {
      doctor: examine,
      notesHolding: countNotes(caller.subject),
    }),
    changes: {
      kind: "forms",
      formToken,
      writer: { surface: "pages", agent: caller.subject },
      ...(caller.authenticated && { signOutPath }),
    },
  });
}

/** Concurrent requests share one answer; a failure is not cached. */
function heldFor<Answer>(
  milliseconds: number,
  now: () => number,
  work: () => Promise<Answer>,
): () => Promise<Answer> {
  let held: { readonly answer: Promise<Answer>; readonly until: number } | undefined;
  return () => {
    if (held !== undefined && now() < held.until) return held.answer;
    const answer = work();
    held = { answer, until: now() + milliseconds };
    answer.catch(() => {
      held = undefined;
    });
    return answer;
  };
}
