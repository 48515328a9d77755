/** Shared by the writer and the reader of our own Markdown. */

import type { FactView } from "../memory.ts";
import type { ToWire } from "../wire/codec.ts";

export const MARKDOWN_MARK = "<!-- helmdeck-memory facts, format 1 -->";

interface MarkdownField {
  readonly name: string;
  /** In a line of JSON. */
  readonly field: keyof ToWire<FactView>;
  /** Text that is JSON; otherwise as it is. */
  readonly isJson?: true;
}

/** The fields of a fact that come before its value, each on its line. */
export const MARKDOWN_FIELDS: readonly MarkdownField[] = [
  { name: "tags", field: "tags", isJson: true },
  { name: "created", field: "created_at" },
  { name: "updated", field: "updated_at" },
  { name: "ends", field: "expires_at" },
  { name: "pinned", field: "pinned", isJson: true },
  { name: "conversation", field: "conversation_id", isJson: true },
];

/** Characters with a meaning in Markdown; a backslash before them is removed again. */
const MARKUP = /[\\`*_[\]<>#&~|]/g;
/** An underscore within a word has no meaning, and most keys have some. */
const WORD_UNDERSCORE = /(?<=[\p{L}\p{N}])\\_(?=[\p{L}\p{N}])/gu;

export function escapedKey(key: string): string {
  return key.replace(MARKUP, "\\$&").replace(WORD_UNDERSCORE, "_");
}

export function unescapedKey(text: string): string {
  return text.replace(/\\([\\`*_[\]<>#&~|])/g, "$1");
}
