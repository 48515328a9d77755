/**
 * Type, preview and store a fact: the flow for remembering, editing and superseding.
 *
 * The preview shows the state before and after, and similar facts. If somebody else stores in the meantime, nothing is
 * written and both versions are shown.
 */
import type { FactCheck, FactInput, FactView, HelmdeckError, StoredFact } from "../../app/index.ts";
import { factLink } from "../components/fact-row.ts";
import { heading, notice } from "../components/parts.ts";
import { type Html, html, line } from "../html.ts";
import { type Answer, type Fields, type Page, type PageContext, requireForms } from "../page.ts";
import type { Done } from "../views/done.ts";
import { sideBySide } from "./compared.ts";
import { type Draft, draftFields, draftOf, type FieldOptions } from "./draft.ts";
import {
  actions,
  cancel,
  carried,
  form,
  refusalNotice,
  requireRefusal,
  stepButton,
  text,
} from "./form-parts.ts";
import { factAt, versionOf } from "./seen.ts";

/** The differences between the three forms. */
export interface StoreForm {
  readonly title: string;
  readonly about?: Html | string;
  readonly path: string;
  /** The fact that the form's address names. */
  readonly of?: string;
  readonly fields: FieldOptions;
  /** Fills the form at first. Absent: the stored fact is read with the preview. */
  readonly seen?: string;
  readonly verb: string;
  readonly done: Done;
  /** Completes the typed fields, for example with a fixed key. May throw a refusal. */
  input(draft: Draft): Promise<FactInput> | FactInput;
}

export function storeForm(
  context: PageContext,
  spec: StoreForm,
  draft: Draft,
  state: { readonly error?: HelmdeckError; readonly seen?: string; readonly above?: Html } = {},
): Page {
  const { title, about, fields } = spec;
  const { error, seen = spec.seen ?? "", above } = state;
  const body = html`${heading(title, about)}${refusalNotice(error)}${above}
${form(
  requireForms(context),
  action(context, spec),
  html`${carried({ seen })}${draftFields(draft, { ...fields, error })}${actions(stepButton("preview", "Preview", "primary"), cancel(back(context, spec)))}`,
)}`;
  return {
    title: error === undefined ? title : `Not stored: ${title}`,
    section: "facts",
    body,
    status: error === undefined ? 200 : 400,
  };
}

export async function submitStore(context: PageContext, spec: StoreForm, fields: Fields): Promise<Answer> {
  const forms = requireForms(context);
  const draft = draftOf(fields);
  const [step, seen] = [text(fields, "step"), text(fields, "seen")];
  if (step === "change") return storeForm(context, spec, draft, { seen });
  try {
    const input = await spec.input(draft);
    const checked = await context.memory.checkFact(context.subject, input);
    const there = await Promise.all([checked.key, ...checked.supersedes].map((key) => factAt(context, key)));
    const version = versionOf(there);
    if (step === "confirm" && seen !== version && isThere(there[0], checked))
      return stored(context, checked.key, spec.done);
    if (seen !== version && (seen !== "" || step === "confirm"))
      return conflict(context, spec, draft, checked, there, version);
    if (step !== "confirm") return preview(context, spec, draft, checked, there, version);
    const written = await context.memory.storeFact(context.subject, input, forms.writer);
    return stored(context, written.key, doneOf(spec, written));
  } catch (error) {
    return storeForm(context, spec, draft, { error: requireRefusal(error), seen });
  }
}

/** A second press of the button finds the fact already stored. */
function isThere(there: FactView | undefined, { value, category, tags, supersedes }: FactCheck): boolean {
  if (there === undefined || supersedes.length > 0) return false;
  return there.value === value && there.category === category && there.tags.join("\n") === tags.join("\n");
}

function stored({ links }: PageContext, key: string, done: Done): Answer {
  return { location: links.to("/fact", { key, done }) };
}

function doneOf({ done }: StoreForm, { replaced }: StoredFact): Done {
  if (done === "superseded" || replaced === undefined) return done;
  return replaced.refreshed ? "saved" : "edited";
}

function action({ links }: PageContext, { path, of }: StoreForm): string {
  return links.to(path, { key: of });
}

function back({ links }: PageContext, { of }: StoreForm): string {
  return of === undefined ? links.to("/facts") : links.to("/fact", { key: of });
}

function preview(
  context: PageContext,
  spec: StoreForm,
  draft: Draft,
  checked: FactCheck,
  [before, ...retired]: readonly (FactView | undefined)[],
  seen: string,
): Page {
  const { now } = context;
  const stays = before?.value === checked.value && retired.length === 0;
  const left = before === undefined || stays ? "Before" : "Before: will be kept in its history";
  const body = html`${heading(`Preview: ${spec.title}`, html`Nothing is stored yet. Under the key <strong>${line(checked.key)}</strong>:`)}
${sideBySide(now, [left, before], ["After", checked])}
${retired.map((fact) => fact && html`<h2>Retired with it: ${line(fact.key)}</h2><p class="muted">Searches no longer find it. The new fact's history keeps it, and an undo restores it.</p>${sideBySide(now, ["Before", fact], ["After", undefined])}`)}
${alike(context, checked)}
${form(
  requireForms(context),
  action(context, spec),
  html`${carried({ ...draft, seen, key: checked.key })}${actions(stepButton("confirm", spec.verb, "primary"), stepButton("change", "Change it"), cancel(back(context, spec)))}`,
)}`;
  return { title: `Preview: ${spec.title}`, section: "facts", body };
}

function alike(context: PageContext, { sameAs = [], similar = [] }: FactCheck): Html | undefined {
  if (sameAs.length > 0) {
    return notice(
      "warn",
      html`The same value is already stored under ${sameAs.map((key, at) => html`${at > 0 ? ", " : ""}${factLink(context, key)}`)}.`,
    );
  }
  if (similar.length === 0) return undefined;
  return html`<h2>Similar facts</h2><p class="muted">To correct one of these, edit or supersede it instead.</p><ul class="card rows">${similar.map(
    ({ key, value }) => html`<li><h3>${factLink(context, key)}</h3><p>${line(value)}</p></li>`,
  )}</ul>`;
}

/** Shows the stored version, the typed version and the form again. */
function conflict(
  context: PageContext,
  spec: StoreForm,
  draft: Draft,
  checked: FactCheck,
  there: readonly (FactView | undefined)[],
  version: string,
): Page {
  const above = html`<div class="notice warn" role="alert"><p><strong>This fact has changed</strong>, by somebody else or in another window. Nothing was stored. Both versions are below: correct yours and preview it again.</p></div>
${sideBySide(context.now, ["Stored now", there[0]], ["Yours", checked])}`;
  return { ...storeForm(context, spec, draft, { seen: version, above }), status: 409 };
}
