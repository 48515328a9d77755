/**
 * Type, preview and store a fact: the flow for remembering, editing and superseding.
 *
 * The preview shows the state before and after, and similar facts. If somebody else stores in the meantime, nothing is
 * written and both versions are shown.
 */

import type { FactCheck, FactInput, FactView, StoredFact } from "../../app/memory.ts";
import { defined } from "../../engine/defined.ts";
import { type HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import type { Done } from "../components/changes.ts";
import { factLink } from "../components/fact-row.ts";
import { heading, notice } from "../components/parts.ts";
import { type Html, html, line } from "../html.ts";
import { type Answer, type Fields, type Page, type PageContext, requireForms } from "../page.ts";
import { type Draft, draftFields, draftOf, type FieldOptions } from "./draft.ts";
import {
  actions,
  cancel,
  carried,
  factAt,
  form,
  refusalNotice,
  requireRefusal,
  revisionOf,
  sideBySide,
  stepButton,
  text,
} from "./form-parts.ts";

/** The conditions under which the fact is stored. */
type Seen = Pick<FactInput, "ifRevision" | "upTo">;

/** The differences between the three forms. */
export interface StoreForm {
  readonly title: string;
  readonly about?: Html | string;
  readonly path: string;
  /** The fact that the form's address names. */
  readonly of?: string;
  readonly fields: FieldOptions;
  /** The revision that fills the form at first. Absent: the stored fact is read with the preview. */
  readonly seen?: number | undefined;
  readonly verb: string;
  readonly done: Done;
  /** Completes the typed fields, for example with a fixed key. May throw a refusal. */
  input(draft: Draft): Promise<FactInput> | FactInput;
}

export function storeForm(
  context: PageContext,
  spec: StoreForm,
  draft: Draft,
  state: { readonly error?: HelmdeckError; readonly seen?: Seen; readonly above?: Html } = {},
): Page {
  const { title, about, fields } = spec;
  const { error, seen = defined({ ifRevision: spec.seen }), above } = state;
  const body = html`${heading(title, about)}${refusalNotice(error)}${above}
${form(
  requireForms(context),
  action(context, spec),
  html`${carried(carriedSeen(seen))}${draftFields(draft, { ...fields, error })}${actions(stepButton("preview", "Preview", "primary"), cancel(back(context, spec)))}`,
)}`;
  return {
    title: error === undefined ? title : `Not stored: ${title}`,
    section: "facts",
    body,
    status: error === undefined ? 200 : 400,
  };
}

export async function submitStore(context: PageContext, spec: StoreForm, fields: Fields): Promise<Answer> {
  const { memory, subject } = context;
  const { writer } = requireForms(context);
  const draft = draftOf(fields);
  const seen = seenIn(fields);
  const step = text(fields, "step");
  if (step === "change") return storeForm(context, spec, draft, { seen });
  try {
    const input = await spec.input(draft);
    try {
      if (step !== "confirm" || seen.ifRevision === undefined) {
        return await preview(context, spec, draft, await memory.checkFact(subject, { ...input, ...seen }));
      }
      const written = await memory.storeFact(subject, { ...input, ...seen }, writer);
      return stored(context, written.key, doneOf(spec, written));
    } catch (error) {
      if (!isHelmdeckError(error, "changed_meanwhile")) throw error;
      return await conflict(context, spec, draft, await memory.checkFact(subject, input));
    }
  } catch (error) {
    return storeForm(context, spec, draft, { error: requireRefusal(error), seen });
  }
}

function seenIn(fields: Fields): Seen {
  return defined({ ifRevision: revisionOf(fields), upTo: revisionOf(fields, "up_to") });
}

function carriedSeen({ ifRevision, upTo }: Seen): Readonly<Record<string, string>> {
  return defined({ revision: ifRevision?.toString(), up_to: upTo?.toString() });
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

/** The fact that is there, and those that would be superseded. */
function thereFor(
  context: PageContext,
  { key, supersedes }: FactCheck,
): Promise<readonly (FactView | undefined)[]> {
  return Promise.all([key, ...supersedes].map((one) => factAt(context, one)));
}

async function preview(
  context: PageContext,
  spec: StoreForm,
  draft: Draft,
  checked: FactCheck,
): Promise<Page> {
  const { now } = context;
  const [before, ...retired] = await thereFor(context, checked);
  const stays = before?.value === checked.value && retired.length === 0;
  const left = before === undefined || stays ? "Before" : "Before: will be kept in its history";
  const body = html`${heading(`Preview: ${spec.title}`, html`Nothing is stored yet. Under the key <strong>${line(checked.key)}</strong>:`)}
${sideBySide(now, [left, before], ["After", checked])}
${retired.map((fact) => fact && html`<h2>Retired with it: ${line(fact.key)}</h2><p class="muted">Searches no longer find it. The new fact's history keeps it, and an undo restores it.</p>${sideBySide(now, ["Before", fact], ["After", undefined])}`)}
${alike(context, checked)}
${form(
  requireForms(context),
  action(context, spec),
  html`${carried({ ...draft, ...carriedSeen(seenOf(checked)), key: checked.key })}${actions(stepButton("confirm", spec.verb, "primary"), stepButton("change", "Change it"), cancel(back(context, spec)))}`,
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

function seenOf({ revision, upTo }: FactCheck): Seen {
  return defined({ ifRevision: revision, upTo });
}

/** Shows the stored version, the typed version and the form again. */
async function conflict(
  context: PageContext,
  spec: StoreForm,
  draft: Draft,
  checked: FactCheck,
): Promise<Answer> {
  const [there] = await thereFor(context, checked);
  if (isThere(there, checked)) return stored(context, checked.key, spec.done);
  const above = html`<div class="notice warn" role="alert"><p><strong>This fact has changed</strong>, by somebody else or in another window. Nothing was stored. Both versions are below: correct yours and preview it again.</p></div>
${sideBySide(context.now, ["Stored now", there], ["Yours", checked])}`;
  return { ...storeForm(context, spec, draft, { seen: seenOf(checked), above }), status: 409 };
}
