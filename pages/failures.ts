/** Failures as pages: what happened, and what to do. Messages of our own errors never hold a stored value. */
import { asHelmdeckError, type ErrorCode, type HelmdeckError, remedyFor } from "../app/index.ts";
import { heading, notice } from "./components/parts.ts";
import { typedText } from "./components/typed-text.ts";
import { type Html, html, line } from "./html.ts";
import type { Fields, Page, PageContext } from "./page.ts";

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

/** Codes that say something of this request or this moment; of all others memory itself is the matter. */
function isOfMemory({ code }: HelmdeckError): boolean {
  return !STATUS.has(code);
}

/** With what was typed, of a form. `context` is absent where nobody is known to look. */
export function failurePage(thrown: unknown, fields: Fields, context?: PageContext): Page {
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
  const body = html`${heading("Memory does not open")}${notice("bad", html`Nothing can be shown at the moment. <a href="${links.to("/health")}">Health</a> says why, and what to do.`)}${typed}`;
  return { title: "Memory does not open", status: 503, body };
}

export function noSuchPage({ links }: PageContext): Page {
  const body = html`${heading("Not found")}<p>There is no such page. <a href="${links.to("/facts")}">Show the facts</a></p>`;
  return { title: "Not found", status: 404, body };
}
