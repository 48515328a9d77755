/**
 * Makes keys of notes from names and first words: the same text gives the same key in each import, and each key is unique within
 * an import.
 */
import { createHash } from "node:crypto";

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
  const words = text
    .normalize("NFC")
    .replace(INVISIBLE, "")
    .toLowerCase()
    .replace(SENTENCE_END, " ")
    .replace(BETWEEN_WORDS, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
  return cutBytes(words, mostBytes).replace(/[-.]+$/, "");
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

/** For one import: a repeated key gets a number, in the order of the file. */
export class NoteKeys {
  /** By key, digests of the values that requested it. */
  readonly #given = new Map<string, Set<string>>();
  /** The last number used for a key. */
  readonly #numbers = new Map<string, number>();

  /** Undefined when the same text already has this key. */
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

  /** Continues after the last number: a file may have many items of one name, and names that look numbered. */
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
