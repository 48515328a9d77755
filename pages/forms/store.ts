/**
 * Types, previews and stores a fact: remembering, editing and superseding.
 *
 * The preview shows the state before and after, and similar facts. If somebody else stores in the meantime, nothing is
 * written and both versions are shown.
 */

import type { FactCheck, FactInput, FactView, StoredFact } from "../../app/memory.ts";
import { keyForText } from "../../app/presenters/words.ts";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import { DEFAULT_CATEGORY } from "../../engine/facts/facts-policy.ts";
import { ownTags } from "../../engine/facts/marks.ts";
import type { Done } from "../components/changes.ts";
import { factLink, factTitle } from "../components/fact-row.ts";
import { heading, hiddenFields, notice } from "../components/parts.ts";
import { block, type Html, html, line } from "../html.ts";
import { type Answer, type Fields, type Page, type PageContext, param, requireForms } from "../page.ts";
import {
  actions,
  cancel,
  described,
  factAt,
  form,
  goneFact,
  lifeField,
  lifeOf,
  question,
  refusalNotice,
  requireRefusal,
  revisionOf,
  sideBySide,
  stepButton,
  text,
} from "./form-parts.ts";

const remember: SpecOf = async (context) => ({
  title: "Remember something",
  about: "Your agent can find it as soon as it is stored.",
  path: "/remember",
  draft: NO_DRAFT,
  fields: {
    keyHint: "A short name, such as deploy/preference. If empty, it is made from the text.",
    usualLife: "for the usual time",
  },
  verb: "Remember",
  done: "stored",
  input: async (draft) => {
    const text = draft.value.trim();
    if (draft.key.trim() !== "") return inputOf(draft);
    // Without a text, any key will do: the refusal is about the text.
    const key = text === "" ? "none" : await keyForText(text, (name) => factAt(context, name));
    return inputOf({ ...draft, key });
  },
});

/** Without a fact, it was forgotten since the form was opened. What was typed into the form is then kept. */
const edit: SpecOf = async (context) => {
  const { key, fact } = await factOf(context);
  const isSpelt =
    fact !== undefined && (block(fact.value) !== fact.value || fact.tags.some((tag) => line(tag) !== tag));
  const spelt = html`This text has characters that hide or reverse text. They are shown escaped, such as [U+202E]. If you change the text, it is stored as shown here.`;
  return {
    ...{ title: `Edit ${line(key)}`, path: "/edit", of: key, draft: fact && draftOfFact(fact) },
    fields: { usualLife: "as before; the usual time begins again" },
    ...{ seen: fact?.revision, above: isSpelt ? notice("warn", spelt) : undefined },
    ...{ verb: "Save", done: "edited" },
    input: (draft) => inputOf({ ...draft, key }, fact),
  };
};

/** Stores a new fact that replaces another one. */
const supersede: SpecOf = async (context) => {
  const { key: old, fact } = await factOf(context);
  return {
    ...{ title: `Supersede ${line(old)}`, path: "/supersede", of: old },
    about: html`The new fact replaces <strong>${line(old)}</strong>. The old value goes into the new fact's history.`,
    draft: fact && { ...draftOfFact(fact), key: "" },
    fields: {
      keyHint: "A short name for the new fact, different from the old key.",
      usualLife: "for the usual time",
    },
    ...{ verb: "Store and retire the old one", done: "superseded" },
    input: (draft) => {
      if (draft.key.trim() !== old) return { ...inputOf(draft, fact), supersedes: [old] };
      const details = { field: "key" };
      throw new HelmdeckError(
        "invalid_input",
        "key must differ from the old fact's key. To change only the value, edit the fact.",
        { details },
      );
    },
  };
};

async function factOf(context: PageContext) {
  const key = param(context, "key") ?? "";
  return { key, fact: await factAt(context, key) };
}

type SpecOf = (context: PageContext) => Promise<StoreForm>;

const formOf =
  (specOf: SpecOf) =>
  async (context: PageContext): Promise<Answer> => {
    requireForms(context);
    const spec = await specOf(context);
    if (spec.draft === undefined) throw goneFact();
    return storeForm(context, spec, spec.draft, defined({ above: spec.above }));
  };

const submitOf =
  (specOf: SpecOf) =>
  async (context: PageContext, fields: Fields): Promise<Answer> => {
    requireForms(context);
    return submitStore(context, await specOf(context), fields);
  };

export const [rememberForm, editForm, supersedeForm] = [formOf(remember), formOf(edit), formOf(supersede)];
export const [submitRemember, submitEdit, submitSupersede] = [
  submitOf(remember),
  submitOf(edit),
  submitOf(supersede),
];

/** The conditions under which the fact is stored. */
type Seen = Pick<FactInput, "ifRevision" | "upTo">;

/** The differences between the three forms. */
interface StoreForm {
  readonly title: string;
  readonly about?: Html | string;
  readonly path: string;
  /** The fact that the form's address names. */
  readonly of?: string;
  /** Fills the form at first. Absent: the fact is gone. */
  readonly draft?: Draft | undefined;
  readonly above?: Html | undefined;
  readonly fields: FieldOptions;
  /** The revision that fills the form at first. Absent: the stored fact is read with the preview. */
  readonly seen?: number | undefined;
  readonly verb: string;
  readonly done: Done;
  /** Completes the typed fields, for example with a fixed key. May throw a refusal. */
  input(draft: Draft): Promise<FactInput> | FactInput;
}

function storeForm(
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
  html`${hiddenFields(carriedSeen(seen))}${draftFields(draft, { ...fields, error })}${actions(stepButton("preview", "Preview", "primary"), cancel(back(context, spec)))}`,
)}`;
  return {
    title: error === undefined ? title : `Not stored: ${title}`,
    section: "facts",
    body,
    status: error === undefined ? 200 : 400,
  };
}

async function submitStore(context: PageContext, spec: StoreForm, fields: Fields): Promise<Answer> {
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
  const shown = html`${sideBySide(now, [left, before], ["After", checked])}
${retired.map((fact) => fact && html`<h2>Retired with it: ${line(fact.key)}</h2><p class="muted">Searches no longer find it. The new fact's history keeps it, and an undo restores it.</p>${sideBySide(now, ["Before", fact], ["After", undefined])}`)}
${alike(context, checked)}`;
  return question(context, {
    ...{ title: `Preview: ${spec.title}`, shown, action: action(context, spec), back: back(context, spec) },
    about: html`Nothing is stored yet. Under the key <strong>${line(checked.key)}</strong>:`,
    carried: { ...draft, ...carriedSeen(seenOf(checked)), key: checked.key },
    buttons: [stepButton("confirm", spec.verb, "primary"), stepButton("change", "Change it")],
  });
}

function alike(context: PageContext, { sameAs = [], similar = [] }: FactCheck): Html | undefined {
  if (sameAs.length > 0) {
    return notice(
      "warn",
      html`The same value is already stored under ${sameAs.map((key, at) => html`${at > 0 ? ", " : ""}${factLink(context, key)}`)}.`,
    );
  }
  if (similar.length === 0) return undefined;
  return html`<h2>Similar facts</h2><p class="muted">To correct one of these, edit or supersede it instead.</p><ul class="card rows">${similar.map((fact) => html`<li>${factTitle(context, fact)}</li>`)}</ul>`;
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

interface Draft {
  readonly key: string;
  readonly value: string;
  readonly category: string;
  /** One per line. */
  readonly tags: string;
  /** Seconds; empty if nothing was chosen. */
  readonly life: string;
}

const NO_DRAFT: Draft = { key: "", value: "", category: "", tags: "", life: "" };

function draftOf(fields: Fields): Draft {
  const [key, value, category, tags, life] = ["key", "value", "category", "tags", "life"].map((name) =>
    text(fields, name),
  );
  return { ...NO_DRAFT, ...defined({ key, value, category, tags, life }) };
}

/** Invisible characters are escaped, and the form says so. The import's tag is dropped: an edited fact belongs to its editor. */
function draftOfFact({ key, value, category, tags }: FactView): Draft {
  const named = category === DEFAULT_CATEGORY ? "" : category;
  return { key, value: block(value), category: named, tags: ownTags(tags).map(line).join("\n"), life: "" };
}

/**
 * `from`: the fact that filled the form. A value that was not edited keeps its exact bytes, and what was emptied is dropped. Without
 * it, an empty field names nothing: a fact that is there keeps what it has.
 */
function inputOf({ key, value: typed, category, tags, life }: Draft, from?: FactView): FactInput {
  const value = from !== undefined && typed === block(from.value) ? from.value : typed;
  const named = tags.split("\n").filter((tag) => tag.trim() !== "");
  const isNamed = from !== undefined || named.length > 0;
  return {
    ...{ key, value, category: category.trim() === "" && from !== undefined ? DEFAULT_CATEGORY : category },
    ...defined({ tags: isNamed ? named : undefined, ttlSeconds: lifeOf(life) }),
  };
}

interface FieldOptions {
  /** Absent: the key is fixed and cannot be changed here. */
  readonly keyHint?: string;
  /** The lifetime if none is chosen. */
  readonly usualLife: string;
  readonly error?: HelmdeckError | undefined;
}

function draftFields(draft: Draft, { keyHint, usualLife, error }: FieldOptions): Html {
  const rows = Math.min(24, Math.max(5, draft.value.split("\n").length + 1));
  return html`${keyHint !== undefined && keyField(draft, keyHint, error)}
<div class="field"><label for="value">Value</label><p class="hint" id="value-hint">The text to remember, at most 64 KiB. No passwords or keys.</p>
<textarea id="value" name="value" rows="${rows}" required${described(error, "value", "value-hint")}>
${draft.value}</textarea></div>
<div class="field narrow"><label for="category">Category</label><p class="hint" id="category-hint">A group of facts, in lower case.</p><input type="text" id="category" name="category" value="${draft.category}" autocomplete="off" spellcheck="false"${described(error, "category", "category-hint")}></div>
<div class="field narrow"><label for="tags">Tags</label><p class="hint" id="tags-hint">Words that help to find it, one per line.</p><textarea id="tags" name="tags" rows="2"${described(error, "tags", "tags-hint")}>
${draft.tags}</textarea></div>
${lifeField(draft.life, usualLife, error)}`;
}

function keyField({ key }: Draft, hint: string, error: HelmdeckError | undefined): Html {
  return html`<div class="field narrow"><label for="key">Key</label><p class="hint" id="key-hint">${hint}</p><input type="text" id="key" name="key" value="${key}" autocomplete="off" spellcheck="false"${described(error, "key", "key-hint")}></div>`;
}
