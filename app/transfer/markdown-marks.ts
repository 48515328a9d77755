/** What writing and reading our own Markdown agree about. */

export const MARKDOWN_MARK = "<!-- helmdeck-memory facts, format 1 -->";

/** Characters that Markdown would take for markup; a backslash before them is taken off again. */
const MARKUP = /[\\`*_[\]<>#&~|]/g;
/** Within a word an underscore is none, and most keys have some. */
const WORD_UNDERSCORE = /(?<=[\p{L}\p{N}])\\_(?=[\p{L}\p{N}])/gu;

export function escapedKey(key: string): string {
  return key.replace(MARKUP, "\\$&").replace(WORD_UNDERSCORE, "_");
}

export function unescapedKey(text: string): string {
  return text.replace(/\\([\\`*_[\]<>#&~|])/g, "$1");
}
