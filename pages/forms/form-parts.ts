/** The parts of forms: token, fields, refusals, buttons; the page that asks, and what a confirmation does. */
import { forCallers, remedyForCallers } from "../../app/health/for-callers.ts";
import type { FactView } from "../../app/memory.ts";
import { HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import { DEFAULT_CATEGORY } from "../../engine/facts/facts-policy.ts";
import { heading, hiddenFields, notice } from "../components/parts.ts";
import { block, type Html, html, line } from "../html.ts";
import {
  type Answer,
  type Fields,
  type Forms,
  type Page,
  type PageContext,
  param,
  requireForms,
  type Section,
} from "../page.ts";
import { exactTime } from "../words.ts";

/** Sent by POST, with the token that the serving surface checks. */
export function form({ formToken }: Forms, action: string, body: Html): Html {
  return html`<form method="post" action="${action}"><input type="hidden" name="form_token" value="${formToken}">${body}</form>`;
}

export interface Question {
  readonly title: string;
  readonly about: Html | string;
  readonly section?: Section;
  /** Why the last confirmation did nothing. */
  readonly problem?: Html | undefined;
  /** What would happen. */
  readonly shown: Html;
  /** Where the answer goes. */
  readonly action: string;
  /** Kept through the preview in hidden fields, as what the person was shown. */
  readonly carried: Readonly<Record<string, string>>;
  readonly extra?: Html | false;
  readonly buttons: readonly Html[];
  readonly back: string;
}

/** The preview of a change. */
export function question(context: PageContext, asked: Question): Page {
  const { title, about, section = "facts", problem, shown, action, carried, extra, buttons, back } = asked;
  const body = html`${heading(title, about)}${problem}
${shown}
${form(requireForms(context), action, html`${hiddenFields(carried)}${extra}${actions(...buttons, cancel(back))}`)}`;
  return { title, section, body };
}

/** Does what a preview showed, and leads to an address or a page afterwards. What changed since, or is refused, leads back to the preview. */
export async function confirmed(
  change: () => Promise<string | Page>,
  preview: (problem: Html | undefined) => Promise<Page>,
): Promise<Answer> {
  try {
    const done = await change();
    return typeof done === "string" ? { location: done } : done;
  } catch (error) {
    if (isHelmdeckError(error, "changed_meanwhile")) return changed(preview);
    return { ...(await preview(refusalNotice(requireRefusal(error)))), status: 400 };
  }
}

export async function changed(preview: (problem: Html) => Promise<Page>): Promise<Page> {
  return { ...(await preview(notice("bad", CHANGED))), status: 409 };
}

const CHANGED =
  "A fact here has changed, by somebody else or in another window. Nothing was done. Check the new preview.";

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
  const remedy = error.code === "invalid_input" ? undefined : remedyForCallers(error.code);
  return html`<div class="notice bad" role="alert" id="refusal"><p>${line(forCallers(error).message)}</p>${remedy !== undefined && html`<p>${remedy}</p>`}</div>`;
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

export interface Shown {
  readonly value: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly expiresAt?: number | undefined;
}

/** Two states of a fact side by side: before and after, or theirs and yours. */
export function sideBySide(
  now: number,
  [leftName, left]: readonly [string, Shown | undefined],
  [rightName, right]: readonly [string, Shown | undefined],
): Html {
  return html`<div class="two">${side(now, leftName, left)}${side(now, rightName, right)}</div>`;
}

function side(now: number, name: string, shown: Shown | undefined): Html {
  if (shown === undefined) {
    return html`<section class="card" aria-label="${name}"><p class="label">${name}</p><p class="value muted">Nothing is there.</p></section>`;
  }
  return html`<section class="card" aria-label="${name}"><p class="label">${name}</p><pre class="value">${block(shown.value)}</pre>
<p class="label">${shown.category === DEFAULT_CATEGORY ? "No category" : `Category ${line(shown.category)}`} · tags ${shown.tags.length === 0 ? "none" : shown.tags.map(line).join(", ")} · expires ${expiryText(now, shown.expiresAt)}</p></section>`;
}

/**
 * What a person saw: a change is confirmed only for the revision that its preview showed. The store judges it.
 *
 * The fact with exactly this key. Undefined if it cannot be opened: it can only be stored again or forgotten.
 */
export async function factAt({ memory, subject }: PageContext, key: string): Promise<FactView | undefined> {
  try {
    const fact = await memory.getFact(subject, { key });
    return fact?.key === key ? fact : undefined;
  } catch (error) {
    if (isHelmdeckError(error, "entry_unreadable")) return undefined;
    throw error;
  }
}

/** The fact that the address names. Throws `not_found`. */
export async function factToChange(context: PageContext): Promise<FactView> {
  const key = param(context, "key");
  const fact = key === undefined ? undefined : await factAt(context, key);
  if (fact !== undefined) return fact;
  throw goneFact();
}

export function goneFact(): HelmdeckError {
  return new HelmdeckError(
    "not_found",
    "This fact no longer exists: it has expired, was superseded, or was forgotten. To have it again, store it as a new fact.",
  );
}

/** The revision that a form carries from its preview, for the store's condition; undefined if it has none. */
export function revisionOf(fields: Fields, name = "revision"): number | undefined {
  const carried = text(fields, name);
  return /^\d{1,15}$/.test(carried) ? Number(carried) : undefined;
}

/** A fact's expiry, for a sentence. */
export function expiryText(now: number, expiresAt: number | undefined): Html | string {
  return expiresAt === undefined ? "never" : exactTime(now, expiresAt);
}
