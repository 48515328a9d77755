/** The pages as one Hono app: always readable, and with forms if the viewer's surface supports them. */
import { type Context, Hono } from "hono";
import { remedyFor } from "../app/health/remedies.ts";
import { endingLine } from "../app/presenters/ending-text.ts";
import { asHelmdeckError, type ErrorCode, type HelmdeckError } from "../engine/errors.ts";
import { renewManyCommand } from "./components/changes.ts";
import { heading, notice, typedText } from "./components/parts.ts";
import { pinForm, renewForm, submitPin, submitRenew, submitUndo, undoForm } from "./forms/fact.ts";
import { forgetForm, submitForget } from "./forms/forget.ts";
import { renewalsForm, submitRenewals, submitSelected } from "./forms/many.ts";
import {
  editForm,
  rememberForm,
  submitEdit,
  submitRemember,
  submitSupersede,
  supersedeForm,
} from "./forms/store.ts";
import { apartForm, mergeForm, submitApart, submitMerge } from "./forms/tidy.ts";
import { type Html, html, line } from "./html.ts";
import { documentOf } from "./layout.ts";
import { Links } from "./links.ts";
import type { Answer, Fields, Page, PageContext, Section, Submission, View } from "./page.ts";
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

  for (const [path, { show: view, submit, counts = "facts" }] of Object.entries(ROUTES)) {
    const show = view && (async (context: PageContext) => withEnding(context, await view(context)));
    const fewer = typeof counts === "string" ? countsPage(counts) : counts;
    if (show !== undefined)
      app.get(
        `${base}${path}` || "/",
        serve((context) => (context.viewer.sees === "values" ? show(context) : fewer(context))),
      );
    if (submit !== undefined) app.post(`${base}${path}`, serve(submit));
  }
  app.notFound(serve(async (context) => noSuchPage(context)));
  return app;
}

function contextOf(viewer: Viewer, base: string, now: number, url: string): PageContext {
  const { memory, subject, choices } = viewer;
  const shown = choices.length > 1 ? choices.find(({ isShown }) => isShown)?.id : undefined;
  return { viewer, memory, subject, now, links: new Links(base, shown), query: new URL(url).searchParams };
}

/** Once a day, at the top of a page. */
async function withEnding({ memory, subject, links, viewer: { changes } }: PageContext, answer: Answer) {
  if ("location" in answer) return answer;
  const { facts } = await memory.tellEnding(subject).catch(() => ({ facts: 0 }));
  const given =
    changes.kind === "commands"
      ? changes
      : ({ kind: "commands", program: "helmdeck-memory", options: "" } as const);
  const told = html`<a href="${links.to("/ending")}">${endingLine(facts, renewManyCommand(given, "expiring"))}</a>`;
  return facts === 0 ? answer : { ...answer, body: html`${notice("ok", told)}${answer.body}` };
}

/** Empty for a GET. Browsers send line ends as "\r\n". Uploaded files are ignored. The keys of a selection are one list, as JSON. */
async function fieldsOf(c: Context): Promise<Fields> {
  if (c.req.method !== "POST") return new Map();
  const form = await c.req.formData().catch(() => new FormData());
  const texts = [...form].filter((field): field is [string, string] => typeof field[1] === "string");
  const fields = new Map(texts.map(([name, value]) => [name, value.replaceAll(/\r\n?/g, "\n")]));
  return fields.set(
    "chosen",
    JSON.stringify(texts.filter(([name]) => name === "chosen").map(([, key]) => key)),
  );
}

interface Route {
  readonly show?: View;
  /** Throws `forbidden` if the pages are read-only. */
  readonly submit?: Submission;
  /** For somebody who may see only counts: the section whose page replaces it, or a view that shows no more. */
  readonly counts?: Section | View;
}

/** Every page by its path below the base. The first is the base itself. */
const ROUTES: Readonly<Record<string, Route>> = {
  "": { show: factsPage },
  "/facts": { show: factsPage },
  "/fact": { show: factPage },
  "/timeline": { show: timelinePage, counts: "timeline" },
  "/ending": { show: expiringPage, counts: "ending" },
  "/tidy": { show: tidyPage, counts: "tidy" },
  "/growth": { show: growthPage, counts: growthPage },
  "/unasked": { show: unaskedPage, counts: "unasked" },
  "/health": { show: healthPage, counts: "health" },
  "/callers": { show: callersPage, counts: callersPage },
  "/edit": { show: editForm, submit: submitEdit },
  "/renew": { show: renewForm, submit: submitRenew },
  "/renewals": { show: renewalsForm, submit: submitRenewals, counts: "ending" },
  "/selected": { submit: submitSelected },
  "/pin": { show: pinForm, submit: submitPin },
  "/supersede": { show: supersedeForm, submit: submitSupersede },
  "/merge": { show: mergeForm, submit: submitMerge, counts: "tidy" },
  "/apart": { show: apartForm, submit: submitApart, counts: "tidy" },
  "/undo": { show: undoForm, submit: submitUndo },
  "/forget": { show: forgetForm, submit: submitForget },
  "/remember": { show: rememberForm, submit: submitRemember },
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
