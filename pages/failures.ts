/** Failures as pages: what happened, and what to do. Messages of our own errors never contain a stored value. */

import { remedyFor } from "../app/health/remedies.ts";
import { asHelmdeckError } from "../engine/as-helmdeck-error.ts";
import type { ErrorCode, HelmdeckError } from "../engine/errors.ts";
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

/** Some codes concern only this request or this moment; all others concern memory itself. */
function isOfMemory({ code }: HelmdeckError): boolean {
  return !STATUS.has(code);
}

/** Shows a form's typed text again. `context` is absent if the viewer is unknown. */
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
  const body = html`${heading("Memory does not open")}${notice("bad", html`Nothing can be shown at the moment. See <a href="${links.to("/health")}">Health</a> for the reason and the remedy.`)}${typed}`;
  return { title: "Memory does not open", status: 503, body };
}

export function noSuchPage({ links }: PageContext): Page {
  const body = html`${heading("Not found")}<p>There is no such page. <a href="${links.to("/facts")}">Show the facts</a></p>`;
  return { title: "Not found", status: 404, body };
}
