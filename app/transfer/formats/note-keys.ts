/**
 * Keys of notes, made of names and first words: the same text gives the same key at each import, and within an import each key is
 * given once.
 */
import { createHash } from "node:crypto";

/** In bytes of UTF-8: six headings, the file's name and the words together fit into a key. */
const PART_BYTES = 48;
const WORDS_BYTES = 88;
const MOST_WORDS = 6;
const MOST_PARTS = 8;
/** A name is made of no more of a text than this. */
const NAMED_BY = 1_000;

const INVISIBLE = /\p{Default_Ignorable_Code_Point}+/gu;
const SENTENCE_END = /\.(?![\p{L}\p{N}])/gu;
const BETWEEN_WORDS = /[^\p{L}\p{N}\p{M}_.]+/gu;
/** `**Label:** text` and `Label: text`; the label names the item also when the text behind it changes. */
const LABEL =
  /^(?:\*\*|__)?([^\s:：*_`][^:：*_`\n]{0,39}?)\s*(?:(?:\*\*|__)\s*[:：]|[:：]\s*(?:\*\*|__)|[:：])(?=\s+\S)/u;
/** Code, a table or HTML: its first line says little. Of anything else that line alone counts, not what is nested below. */
const MARKUP = /^\s*(?:```|~~~|\||<)/;
const TASK = /^\[[ xX]\]\s+/;

/** A name as a part of a key; empty when it has neither letter nor digit. */
export function slugOf(text: string, mostBytes = PART_BYTES): string {
  const words = text
    .normalize("NFC")
    .replace(INVISIBLE, "")
    .toLowerCase()
    .replace(SENTENCE_END, " ")
    .replace(BETWEEN_WORDS, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
  return cutBytes(words, mostBytes).replace(/[-.]+$/, "");
}

/** What tells an item from others under the same heading: its label, or its first words. */
export function nameOfText(text: string): string {
  const begin = text.slice(0, NAMED_BY);
  const shown = (MARKUP.test(begin) ? begin : (begin.split("\n", 1)[0] ?? "")).replace(TASK, "").trimStart();
  const words = slugOf(LABEL.exec(shown)?.[1] ?? shown.split(/\s+/, MOST_WORDS).join(" "), WORDS_BYTES);
  return words === "" ? createHash("sha256").update(text).digest("hex").slice(0, 8) : words;
}

/** Parts that say nothing are left out; of very many the first and the last count. */
export function keyOfParts(parts: readonly string[]): string {
  const said = parts.filter((part) => part !== "");
  const kept = said.length <= MOST_PARTS ? said : [...said.slice(0, MOST_PARTS - 1), ...said.slice(-1)];
  return kept.join("/");
}

/** Of one import: what is wanted again gets a number, in the order of the file. */
export class NoteKeys {
  /** Of each key, digests of the values it was wanted for. */
  readonly #given = new Map<string, Set<string>>();
  /** The last number given behind a key. */
  readonly #numbers = new Map<string, number>();

  /** Undefined for what is there word for word already. */
  give(wanted: string, value: string): string | undefined {
    const digest = createHash("sha256").update(value).digest("base64");
    const values = this.#given.get(wanted);
    if (values?.has(digest)) return undefined;
    if (values === undefined) {
      this.#given.set(wanted, new Set([digest]));
      return wanted;
    }
    values.add(digest);
    return this.#numbered(wanted, values.size);
  }

  /** From the last one given: a file may hold very many of one name, and names that look numbered. */
  #numbered(wanted: string, least: number): string {
    let number = Math.max(least, (this.#numbers.get(wanted) ?? 0) + 1);
    while (this.#given.has(`${wanted}-${number}`)) number += 1;
    this.#numbers.set(wanted, number);
    const key = `${wanted}-${number}`;
    this.#given.set(key, new Set());
    return key;
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
