/** The parts of forms: token, fields, refusals, buttons. */

import { remedyFor } from "../../app/health/remedies.ts";
import { type HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import { hiddenFields } from "../components/parts.ts";
import { type Html, html, line } from "../html.ts";
import type { Fields, Forms } from "../page.ts";

/** Sent by POST, with the token that the serving surface checks. */
export function form({ formToken }: Forms, action: string, body: Html): Html {
  return html`<form method="post" action="${action}"><input type="hidden" name="form_token" value="${formToken}">${body}</form>`;
}

/** Hidden fields that keep values through a preview. */
export function carried(fields: Readonly<Record<string, string>>): readonly Html[] {
  return hiddenFields(fields);
}

/** The first step button of a form is its default for Enter. */
export function stepButton(step: string, name: string, tone: "primary" | "danger" | "" = ""): Html {
  return html`<button name="step" value="${step}" class="${tone}">${name}</button>`;
}

export function actions(...buttons: readonly (Html | undefined)[]): Html {
  return html`<div class="actions">${buttons}</div>`;
}

export function cancel(href: string): Html {
  return html`<a class="button quiet" href="${href}">Cancel</a>`;
}

/** An error that the person can correct in the form. Any other error is rethrown as a failure of the page. */
export function requireRefusal(error: unknown): HelmdeckError {
  if (isHelmdeckError(error) && REFUSALS.has(error.code)) return error;
  throw error;
}

const REFUSALS = new Set([
  "invalid_input",
  "secret_refused",
  "quota_exceeded",
  "not_found",
  "store_locked",
  "store_full",
]);

/** The refusal, shown above the form, which keeps the typed text. */
export function refusalNotice(error: HelmdeckError | undefined): Html | undefined {
  if (error === undefined) return undefined;
  const remedy = error.code === "invalid_input" ? undefined : remedyFor(error.code);
  return html`<div class="notice bad" role="alert" id="refusal"><p>${line(error.message)}</p>${remedy !== undefined && html`<p>${remedy}</p>`}</div>`;
}

/** Attributes of a field with a hint, or of the refused field. */
export function described(error: HelmdeckError | undefined, field: string, hint?: string): Html | undefined {
  if (error?.details.field === field) return html` aria-invalid="true" aria-describedby="refusal" autofocus`;
  return hint === undefined ? undefined : html` aria-describedby="${hint}"`;
}

const LIVES = [
  { seconds: 7 * 86_400, name: "for 7 days" },
  { seconds: 30 * 86_400, name: "for 30 days" },
  { seconds: 90 * 86_400, name: "for 90 days" },
  { seconds: 180 * 86_400, name: "for 180 days" },
  { seconds: 365 * 86_400, name: "for a year (maximum)" },
] as const;

/** `first`: the first option, which stands for no choice. */
export function lifeField(chosen: string, first: string, error?: HelmdeckError): Html {
  const options = LIVES.map(({ seconds, name }) =>
    chosen === `${seconds}`
      ? html`<option value="${seconds}" selected>${name}</option>`
      : html`<option value="${seconds}">${name}</option>`,
  );
  return html`<div class="field narrow"><label for="life">Keep it</label><select id="life" name="life"${described(error, "ttl_seconds")}><option value="">${first}</option>${options}</select></div>`;
}

/** Undefined if nothing was chosen. The facts policy refuses a value that is not a number. */
export function lifeOf(text: string): number | undefined {
  return text === "" ? undefined : Number(text);
}

export function text(fields: Fields, name: string): string {
  return fields.get(name) ?? "";
}
