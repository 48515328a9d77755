/** Shared by the writer and the reader of our own Markdown. */

export const MARKDOWN_MARK = "<!-- helmdeck-memory facts, format 1 -->";

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
