/** The pages as one Hono app: always readable, and with forms if the viewer's surface supports them. */
import { type Context, Hono } from "hono";
import { remedyFor } from "../app/health/remedies.ts";
import { asHelmdeckError, type ErrorCode, type HelmdeckError } from "../engine/errors.ts";
import { heading, notice, typedText } from "./components/parts.ts";
import {
  editForm,
  rememberForm,
  submitEdit,
  submitRemember,
  submitSupersede,
  supersedeForm,
} from "./forms/edit.ts";
import { forgetForm, submitForget } from "./forms/forget.ts";
import { pinForm, submitPin } from "./forms/pin.ts";
import { renewForm, submitRenew } from "./forms/renew.ts";
import { renewalsForm, submitRenewals } from "./forms/renewals.ts";
import { apartForm, mergeForm, submitApart, submitMerge } from "./forms/tidy.ts";
import { submitUndo, undoPreview } from "./forms/undo.ts";
import { type Html, html, line } from "./html.ts";
import { documentOf } from "./layout.ts";
import { Links } from "./links.ts";
import type { Answer, Fields, Page, PageContext, Submission, View } from "./page.ts";
import { type Place, securityHeaders } from "./security.ts";
import type { Viewer } from "./viewer.ts";
import { callersPage, countsPage } from "./views/counts.ts";
import { expiringPage } from "./views/expiring.ts";
import { factPage } from "./views/fact.ts";
import { factsPage } from "./views/facts.ts";
import { growthPage } from "./views/growth.ts";
import { healthPage } from "./views/health.ts";
import { tidyPage } from "./views/tidy.ts";
import { timelinePage } from "./views/timeline.ts";
import { unaskedPage } from "./views/unasked.ts";

export interface PagesOptions extends Place {
  /** Called for each request. Throws a HelmdeckError, which is shown as a page, or returns its own page, such as a sign-in. */
  viewerOf(request: Request): Promise<Viewer | Response>;
  /** Called for every failure that is shown as a page. */
  readonly onFailure?: (thrown: unknown, request: Request) => void;
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
}

/** Handles only its own routes, so it can be mounted next to other routes. */
export function makePages(options: PagesOptions): Hono {
  const { base, now = Date.now } = options;
  const headers = securityHeaders(options);
  const app = new Hono({ strict: false });

  const respond = (c: Context, answer: Answer, context?: PageContext): Response | Promise<Response> => {
    for (const [name, value] of Object.entries(headers)) c.header(name, value);
    if ("location" in answer) return c.redirect(answer.location, 303);
    return c.html(documentOf(answer, options, context), answer.status ?? 200);
  };

  const serve =
    (work: (context: PageContext, fields: Fields) => Promise<Answer>) =>
    async (c: Context): Promise<Response> => {
      const fields = await fieldsOf(c);
      let context: PageContext | undefined;
      try {
        const viewer = await options.viewerOf(c.req.raw);
        if (viewer instanceof Response) return viewer;
        context = contextOf(viewer, base, now(), c.req.url);
        return await respond(c, await work(context, fields), context);
      } catch (error) {
        options.onFailure?.(error, c.req.raw);
        return respond(c, failurePage(error, fields, context), context);
      }
    };

  const show = ({ show: whole, counts }: Route) =>
    serve((context) => (context.viewer.sees === "values" ? whole(context) : counts(context)));
  for (const [path, route] of Object.entries(VIEWS)) app.get(`${base}${path}` || "/", show(route));
  for (const [path, submission] of Object.entries(SUBMISSIONS)) app.post(`${base}${path}`, serve(submission));
  app.notFound(serve(async (context) => noSuchPage(context)));
  return app;
}

function contextOf(viewer: Viewer, base: string, now: number, url: string): PageContext {
  const { memory, subject, choices } = viewer;
  const shown = choices.length > 1 ? choices.find(({ isShown }) => isShown)?.id : undefined;
  return { viewer, memory, subject, now, links: new Links(base, shown), query: new URL(url).searchParams };
}

/** Empty for a GET. Browsers send line ends as "\r\n". Uploaded files are ignored. */
async function fieldsOf(c: Context): Promise<Fields> {
  if (c.req.method !== "POST") return new Map();
  const form = await c.req.formData().catch(() => new FormData());
  const texts = [...form].filter((field): field is [string, string] => typeof field[1] === "string");
  return new Map(texts.map(([name, value]) => [name, value.replaceAll(/\r\n?/g, "\n")]));
}

interface Route {
  readonly show: View;
  /** The view for somebody who may see only counts. May be the same view if that shows no more. */
  readonly counts: View;
}

const forFacts = countsPage("facts");

/**
 * Every page by its path below the base: its view, and its view for somebody who may see only counts.
 *
 * The first route is the base itself.
 */
const VIEWS: Readonly<Record<string, Route>> = {
  "": { show: factsPage, counts: forFacts },
  "/facts": { show: factsPage, counts: forFacts },
  "/fact": { show: factPage, counts: forFacts },
  "/timeline": { show: timelinePage, counts: countsPage("timeline") },
  "/ending": { show: expiringPage, counts: countsPage("ending") },
  "/tidy": { show: tidyPage, counts: countsPage("tidy") },
  "/growth": { show: growthPage, counts: growthPage },
  "/unasked": { show: unaskedPage, counts: countsPage("unasked") },
  "/health": { show: healthPage, counts: countsPage("health") },
  "/callers": { show: callersPage, counts: callersPage },
  "/edit": { show: editForm, counts: forFacts },
  "/renew": { show: renewForm, counts: forFacts },
  "/renewals": { show: renewalsForm, counts: countsPage("ending") },
  "/pin": { show: pinForm, counts: forFacts },
  "/supersede": { show: supersedeForm, counts: forFacts },
  "/merge": { show: mergeForm, counts: countsPage("tidy") },
  "/apart": { show: apartForm, counts: countsPage("tidy") },
  "/undo": { show: undoPreview, counts: forFacts },
  "/forget": { show: forgetForm, counts: forFacts },
  "/remember": { show: rememberForm, counts: forFacts },
};

/** Each throws `forbidden` if the pages are read-only. */
const SUBMISSIONS: Readonly<Record<string, Submission>> = {
  "/edit": submitEdit,
  "/renew": submitRenew,
  "/renewals": submitRenewals,
  "/pin": submitPin,
  "/supersede": submitSupersede,
  "/merge": submitMerge,
  "/apart": submitApart,
  "/undo": submitUndo,
  "/forget": submitForget,
  "/remember": submitRemember,
};

const STATUS = new Map<ErrorCode, NonNullable<Page["status"]>>([
  ["invalid_input", 400],
  ["secret_refused", 400],
  ["missing_bearer", 401],
  ["invalid_token", 401],
  ["forbidden", 403],
  ["identity_refused", 403],
  ["not_found", 404],
  ["method_not_allowed", 405],
  ["rate_limited", 429],
  ["internal", 500],
  ["entry_unreadable", 500],
  ["deadline_exceeded", 504],
]);

/** Some codes concern only this request or this moment; all others concern memory itself. */
function isOfMemory({ code }: HelmdeckError): boolean {
  return !STATUS.has(code);
}

/**
 * Failures as pages: what happened, and what to do. Messages of our own errors never contain a stored value.
 *
 * Shows a form's typed text again. `context` is absent if the viewer is unknown.
 */
function failurePage(thrown: unknown, fields: Fields, context?: PageContext): Page {
  const error = asHelmdeckError(thrown);
  const typed = typedText(fields);
  if (context !== undefined && isOfMemory(error)) return doesNotOpen(context, typed);
  const status = STATUS.get(error.code) ?? 503;
  const title = status === 404 ? "Not found" : status === 403 ? "Not allowed" : "That did not work";
  const body = html`${heading(title)}${notice("bad", line(error.message))}<p>${remedyFor(error.code)}</p>${
    context && html`<p><a href="${context.links.to("/facts")}">Back to the facts</a></p>`
  }${typed}`;
  return { title, status, body };
}

function doesNotOpen({ links }: PageContext, typed: Html | undefined): Page {
  const body = html`${heading("Memory does not open")}${notice("bad", html`Nothing can be shown at the moment. See <a href="${links.to("/health")}">Health</a> for the reason and the remedy.`)}${typed}`;
  return { title: "Memory does not open", status: 503, body };
}

function noSuchPage({ links }: PageContext): Page {
  const body = html`${heading("Not found")}<p>There is no such page. <a href="${links.to("/facts")}">Show the facts</a></p>`;
  return { title: "Not found", status: 404, body };
}

export interface PlainPage extends Place {
  readonly title: string;
  /** Made with Hono's `html`, which escapes inserted text. */
  readonly body: Html;
  /** Default 200. */
  readonly status?: number;
}

/** A page for an unknown viewer or a failure: with the pages' layout, and without any memory content. */
export async function plainPage(page: PlainPage): Promise<Response> {
  const { title, body, status = 200 } = page;
  const document = await documentOf({ title, body: html`${heading(title)}${body}` }, page);
  const headers = { "Content-Type": "text/html; charset=utf-8", ...securityHeaders(page) };
  return new Response(String(document), { status, headers });
}
