/** A fact as somebody types it, in a form and through its preview. */
import { defined, type FactInput, type FactView, type HelmdeckError, isImportTag } from "../../app/index.ts";
import { block, type Html, html, line } from "../html.ts";
import type { Fields } from "../page.ts";
import { described, lifeField, lifeOf, text } from "./form-parts.ts";

export interface Draft {
  readonly key: string;
  readonly value: string;
  readonly category: string;
  /** One on a line. */
  readonly tags: string;
  /** Seconds, or nothing chosen. */
  readonly life: string;
}

export const NO_DRAFT: Draft = { key: "", value: "", category: "", tags: "", life: "" };

export function draftOf(fields: Fields): Draft {
  const [key, value, category, tags, life] = ["key", "value", "category", "tags", "life"].map((name) =>
    text(fields, name),
  );
  return { ...NO_DRAFT, ...defined({ key, value, category, tags, life }) };
}

/** What would act unseen in a text field is spelt out in it; the form says so. Whoever stores it takes it over from an import. */
export function draftOfFact({ key, value, category, tags }: FactView): Draft {
  const own = tags.filter((tag) => !isImportTag(tag));
  return { key, value: block(value), category, tags: own.map(line).join("\n"), life: "" };
}

/** `from`: the fact that stood in the form. A value that was left as it stood stays, byte for byte. */
export function inputOf({ key, value: typed, category, tags, life }: Draft, from?: FactView): FactInput {
  const value = from !== undefined && typed === block(from.value) ? from.value : typed;
  const named = tags.split("\n").filter((tag) => tag.trim() !== "");
  return { key, value, category, tags: named, ...defined({ ttlSeconds: lifeOf(life) }) };
}

export interface FieldOptions {
  /** Absent: the key is given, and cannot be changed here. */
  readonly keyHint?: string;
  /** What is kept where no life is chosen. */
  readonly usualLife: string;
  readonly error?: HelmdeckError | undefined;
}

export function draftFields(draft: Draft, { keyHint, usualLife, error }: FieldOptions): Html {
  const rows = Math.min(24, Math.max(5, draft.value.split("\n").length + 1));
  return html`${keyHint !== undefined && keyField(draft, keyHint, error)}
<div class="field"><label for="value">Value</label><p class="hint" id="value-hint">What is to be remembered, as you would tell it: at most 64 KiB. No passwords or keys.</p>
<textarea id="value" name="value" rows="${rows}" required${described(error, "value", "value-hint")}>
${draft.value}</textarea></div>
<div class="field narrow"><label for="category">Category</label><p class="hint" id="category-hint">A group of facts, in lower case. Left empty, it is user_facts.</p><input type="text" id="category" name="category" value="${draft.category}" autocomplete="off" spellcheck="false"${described(error, "category", "category-hint")}></div>
<div class="field narrow"><label for="tags">Tags</label><p class="hint" id="tags-hint">Words to find it by, one on each line.</p><textarea id="tags" name="tags" rows="2"${described(error, "tags", "tags-hint")}>
${draft.tags}</textarea></div>
${lifeField(draft.life, usualLife, error)}`;
}

function keyField({ key }: Draft, hint: string, error: HelmdeckError | undefined): Html {
  return html`<div class="field narrow"><label for="key">Key</label><p class="hint" id="key-hint">${hint}</p><input type="text" id="key" name="key" value="${key}" autocomplete="off" spellcheck="false"${described(error, "key", "key-hint")}></div>`;
}
