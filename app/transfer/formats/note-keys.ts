/** Makes keys of notes from names and first words: the same text gives the same key in each import. Several notes may get one key. */
import { createHash } from "node:crypto";
import { normalForm } from "../../../engine/compare-text.ts";

/** In bytes of UTF-8: six headings, the file's name and the words together fit into a key. */
const PART_BYTES = 48;
const WORDS_BYTES = 88;
const MOST_WORDS = 6;
const MOST_PARTS = 8;
/** Only this much of a text is used for a name. */
const NAMED_BY = 1_000;

const INVISIBLE = /\p{Default_Ignorable_Code_Point}+/gu;
const SENTENCE_END = /\.(?![\p{L}\p{N}])/gu;
const BETWEEN_WORDS = /[^\p{L}\p{N}\p{M}_.]+/gu;
/** `**Label:** text` and `Label: text`; the label identifies the item even when the text changes. */
const LABEL =
  /^(?:\*\*|__)?([^\s:：*_`][^:：*_`\n]{0,39}?)\s*(?:(?:\*\*|__)\s*[:：]|[:：]\s*(?:\*\*|__)|[:：])(?=\s+\S)/u;
/** The first line of code, a table or HTML is not meaningful. For other items, only the first line is used. */
const MARKUP = /^\s*(?:```|~~~|\||<)/;
const TASK = /^\[[ xX]\]\s+/;

/** A name as part of a key; empty when it has no letter or digit. */
export function slugOf(text: string, mostBytes = PART_BYTES): string {
  return cutBytes(wordsOf(text), mostBytes).replace(/[-.]+$/, "");
}

/** Whether a name has all words of a text. */
export function isWholeSlug(text: string): boolean {
  const words = wordsOf(text);
  return text.length <= NAMED_BY && words !== "" && Buffer.byteLength(words) <= PART_BYTES;
}

function wordsOf(text: string): string {
  return normalForm(text.slice(0, NAMED_BY), "NFC")
    .replace(INVISIBLE, "")
    .toLowerCase()
    .replace(SENTENCE_END, " ")
    .replace(BETWEEN_WORDS, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
}

/** Distinguishes an item from others under the same heading: its label, or its first words. */
export function nameOfText(text: string): string {
  const begin = text.slice(0, NAMED_BY);
  const shown = (MARKUP.test(begin) ? begin : (begin.split("\n", 1)[0] ?? "")).replace(TASK, "").trimStart();
  const words = slugOf(LABEL.exec(shown)?.[1] ?? shown.split(/\s+/, MOST_WORDS).join(" "), WORDS_BYTES);
  return words === "" ? createHash("sha256").update(text).digest("hex").slice(0, 8) : words;
}

/** Drops empty parts; of very many, keeps the first and the last. */
export function keyOfParts(parts: readonly string[]): string {
  const said = parts.filter((part) => part !== "");
  const kept = said.length <= MOST_PARTS ? said : [...said.slice(0, MOST_PARTS - 1), ...said.slice(-1)];
  return kept.join("/");
}

/** For one import: finds notes that repeat another one, by key and text. */
export class Repetitions {
  readonly #seen = new Set<string>();

  has(key: string, text: string): boolean {
    const digest = createHash("sha256").update(`${key}\0${text}`).digest("base64");
    if (this.#seen.has(digest)) return true;
    this.#seen.add(digest);
    return false;
  }
}

function cutBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  let cut = "";
  let bytes = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > most) return cut;
    cut += character;
  }
  return cut;
}
