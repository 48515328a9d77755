/**
 * Characters that can make text misleading.
 *
 * An attacker who can get a fact stored (a web page that an agent read, an imported file) can put control characters, text
 * direction switches or invisible letters into it: to forge lines on a terminal, to make two keys look alike, or to smuggle words
 * past the person into the model. The patterns use Unicode properties, so they also cover characters of later versions. Keys with
 * such characters are refused. Values keep them, byte for byte, in the store; a document shows them spelt out, as in "[U+202E]".
 *
 * Two uses of invisible characters are legitimate and stay in text: within an emoji that Unicode recommends (a heart, an
 * astronaut), and one joiner after a letter of a script that needs it, such as Persian and Hindi.
 */

const HOSTILE =
  "[\\p{Cc}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\p{Bidi_Control}\\p{Noncharacter_Code_Point}]";
const JOINING = "Arab Syrc Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh"
  .split(" ")
  .map((script) => `\\p{Script=${script}}`)
  .join("");
const JOINER = `(?<=[[${JOINING}]&&[\\p{L}\\p{M}]])\\p{Join_Control}(?!\\p{Join_Control})`;
const WRITING = `\\p{RGI_Emoji}|${JOINER}`;

const IN_NAMES = new RegExp(HOSTILE, "v");
/** Tabs and line feeds stay in text. */
const IN_TEXT = new RegExp(`[${HOSTILE}--[\\t\\n]]`, "v");
const LINE_BREAKS = /\r\n?|[\u0085\p{Zl}\p{Zp}]/gu;

/** Why this text cannot be a name (a key, a tag, a pack), for a message; undefined when it can. */
export function problemOfName(text: string): string | undefined {
  if (!IN_NAMES.test(text)) return problemOf(text, undefined);
  return problemOf(text, text.matchAll(writingOrHostile()).find(([, writing]) => writing === undefined)?.[0]);
}

function problemOf(text: string, hostile: string | undefined): string | undefined {
  if (!text.isWellFormed()) return "holds half of a surrogate pair, which is not valid Unicode";
  return hostile === undefined ? undefined : `holds the control or invisible character ${codeOf(hostile)}`;
}

/** The text, safe to show: lines end in "\n", hostile characters are spelt out. */
export function harmlessBlock(text: string): string {
  return spelt(text.replace(LINE_BREAKS, "\n"));
}

/** The same on one line: breaks and tabs become spaces. */
export function harmlessLine(text: string): string {
  return spelt(text.replace(LINE_BREAKS, " ").replaceAll(/[\t\n]/g, " "));
}

function spelt(text: string): string {
  if (!IN_TEXT.test(text)) return text.toWellFormed();
  const spell = (found: string) => (IN_TEXT.test(found) ? `[${codeOf(found)}]` : found);
  return text.replace(writingOrHostile(), (found, writing) => writing ?? spell(found)).toWellFormed();
}

let compiled: RegExp | undefined;

/**
 * The first group matches legitimate uses. Compiled on demand: the emoji take many milliseconds, and most texts need no closer
 * look.
 */
function writingOrHostile(): RegExp {
  compiled ??= new RegExp(`(${WRITING})|${HOSTILE}`, "gv");
  return compiled;
}

function codeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
