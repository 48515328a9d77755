/** A fact as typed into a form, kept through its preview. */

import type { FactInput, FactView } from "../../app/memory.ts";
import { defined } from "../../engine/defined.ts";
import type { HelmdeckError } from "../../engine/errors.ts";
import { DEFAULT_CATEGORY } from "../../engine/facts/facts-policy.ts";
import { ownTags } from "../../engine/facts/marks.ts";
import { block, type Html, html, line } from "../html.ts";
import type { Fields } from "../page.ts";
import { described, lifeField, lifeOf, text } from "./form-parts.ts";

export interface Draft {
  readonly key: string;
  readonly value: string;
  readonly category: string;
  /** One per line. */
  readonly tags: string;
  /** Seconds; empty if nothing was chosen. */
  readonly life: string;
}

export const NO_DRAFT: Draft = { key: "", value: "", category: "", tags: "", life: "" };

export function draftOf(fields: Fields): Draft {
  const [key, value, category, tags, life] = ["key", "value", "category", "tags", "life"].map((name) =>
    text(fields, name),
  );
  return { ...NO_DRAFT, ...defined({ key, value, category, tags, life }) };
}

/** Invisible characters are escaped, and the form says so. The import's tag is dropped: an edited fact belongs to its editor. */
export function draftOfFact({ key, value, category, tags }: FactView): Draft {
  return { key, value: block(value), category, tags: ownTags(tags).map(line).join("\n"), life: "" };
}

/**
 * `from`: the fact that filled the form. A value that was not edited keeps its exact bytes, and what was emptied is dropped. Without
 * it, an empty field names nothing: a fact that is there keeps what it has.
 */
export function inputOf({ key, value: typed, category, tags, life }: Draft, from?: FactView): FactInput {
  const value = from !== undefined && typed === block(from.value) ? from.value : typed;
  const named = tags.split("\n").filter((tag) => tag.trim() !== "");
  const isNamed = from !== undefined || named.length > 0;
  return {
    ...{ key, value, category: category.trim() === "" && from !== undefined ? DEFAULT_CATEGORY : category },
    ...defined({ tags: isNamed ? named : undefined, ttlSeconds: lifeOf(life) }),
  };
}

export interface FieldOptions {
  /** Absent: the key is fixed and cannot be changed here. */
  readonly keyHint?: string;
  /** The lifetime if none is chosen. */
  readonly usualLife: string;
  readonly error?: HelmdeckError | undefined;
}

export function draftFields(draft: Draft, { keyHint, usualLife, error }: FieldOptions): Html {
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
