/**
 * Characters that make text look like, or go where, its writer did not say.
 *
 * Whoever can get a fact stored (a web page that an agent read, an imported file) can put control characters, text
 * direction switches or invisible letters into it, to forge lines on a terminal, to make two keys look alike, or to
 * smuggle words past the person into the model. Keys with such characters are refused. Values keep them, byte for byte,
 * in the store; wherever a value is shown as a document they are spelt out instead, as in "[U+202E]".
 */

/** Line and paragraph separators, which many programs take for a new line. */
const SEPARATORS = "\\u2028\\u2029";
/** Marks, embeddings, overrides and isolates of the Unicode bidirectional algorithm. */
const BIDI_CONTROLS = "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069";
/** A second, invisible ASCII. Only a few flags need it, and models read it. */
const INVISIBLE_TAGS = "\\u{e0000}-\\u{e007f}";

const IN_KEYS = new RegExp(`[\\p{Cc}${SEPARATORS}${BIDI_CONTROLS}${INVISIBLE_TAGS}]`, "u");
const IN_LINES = new RegExp(IN_KEYS.source, "gu");
/** Tab and line feed stay: they are what text is made of. */
const IN_BLOCKS = new RegExp(`(?![\\t\\n])${IN_KEYS.source}`, "gu");
const LINE_BREAKS = new RegExp(`\\r\\n?|[\\u0085${SEPARATORS}]`, "gu");

/** Why this text may not be a name (a key, a tag, a pack), for a message; undefined when it may. */
export function problemOfName(text: string): string | undefined {
  if (!text.isWellFormed()) return "holds half of a surrogate pair, which is not Unicode text";
  const found = IN_KEYS.exec(text)?.[0];
  return found === undefined ? undefined : `holds the control or invisible character ${codeOf(found)}`;
}

/** The text as a model or a person may see it: lines end in "\n", hostile characters are spelt out. */
export function harmlessBlock(text: string): string {
  return text.replace(LINE_BREAKS, "\n").replace(IN_BLOCKS, spelt).toWellFormed();
}

/** The same on one line: breaks and tabs become spaces. */
export function harmlessLine(text: string): string {
  return text
    .replace(LINE_BREAKS, " ")
    .replaceAll(/[\t\n]/g, " ")
    .replace(IN_LINES, spelt)
    .toWellFormed();
}

function spelt(character: string): string {
  return `[${codeOf(character)}]`;
}

function codeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
