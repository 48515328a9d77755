/**
 * The phrases by which a text is recognised elsewhere, and a reader that finds them in a stream of text.
 *
 * A phrase is up to five words in a row. Words are compared without case, punctuation, markup, line ends and the escapes of JSON,
 * so a sentence is found in a list item, in a wrapped paragraph and in a transcript. Phrases without two words that mean
 * something are left out: they stand everywhere.
 */
import { commonnessOf, FUNCTION_WORD } from "../../recall/analysis/commonness.ts";

/** Words of the longest phrase. */
const WINDOW = 5;
/** Of a shorter phrase, in letters and digits. */
const FEWEST_CHARACTERS = 8;
/** Of a single word with a digit, such as a number on a card. */
const FEWEST_OF_A_NUMBER = 5;
/** Of a word that a person gives. */
const FEWEST_GIVEN = 3;
/** A text is cut at white space between two chunks; longer runs without any are cut anywhere. */
const LONGEST_TAIL = 4_096;

/** A line end, a character of a script without spaces, or a run of letters and digits. */
const TOKEN =
  /\n|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[[\p{L}\p{M}\p{N}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]]+/gv;
/** A character of a script without spaces says as much as two letters. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/v;
const SENTENCE_END = /(?<=[.!?;])\s+|(?<=[。！？；])|\n+/u;
const ESCAPE = /\\+(?:u([0-9a-fA-F]{4})|[nrtbf"'/])/g;

export class Phrases {
  /** By the number of words. */
  readonly #ofLength = new Map<number, Set<string>>();
  readonly #firstWords = new Set<string>();

  /** The phrases of stored values: all that are telling. */
  static ofValues(values: Iterable<string>): Phrases {
    const phrases = new Phrases();
    for (const value of values) {
      phrases.#addWindows(wordsOf(value), isTelling);
      for (const sentence of value.split(SENTENCE_END)) phrases.#addWindows(wordsOf(sentence), isTelling);
    }
    return phrases;
  }

  /** The phrases that a person gives, one a line: whole, as long as they have at least three letters or digits. */
  static ofLines(text: string): Phrases {
    const phrases = new Phrases();
    for (const line of text.split("\n"))
      phrases.#addWindows(wordsOf(line), (words) => words.join("").length >= FEWEST_GIVEN);
    return phrases;
  }

  /** Nothing in the text is telling enough to be looked for. */
  get isEmpty(): boolean {
    return this.#firstWords.size === 0;
  }

  reader(): PhraseReader {
    return new PhraseReader(this.#ofLength, this.#firstWords);
  }

  /** Whether one text holds a phrase. */
  isIn(text: string): boolean {
    const reader = this.reader();
    reader.read(text);
    reader.end();
    return reader.lines.size > 0;
  }

  #addWindows(words: readonly string[], accepts: (words: readonly string[]) => boolean): void {
    const size = Math.min(WINDOW, words.length);
    if (size === 0) return;
    for (let start = 0; start + size <= words.length; start++) {
      const phrase = words.slice(start, start + size);
      if (!accepts(phrase)) continue;
      const known = this.#ofLength.get(size) ?? new Set();
      this.#ofLength.set(size, known.add(phrase.join(" ")));
      this.#firstWords.add(phrase[0] ?? "");
    }
  }
}

/** Reads a text in chunks, and collects the lines (from 1) on which phrases stand. */
export class PhraseReader {
  readonly lines = new Set<number>();
  readonly #ofLength: ReadonlyMap<number, ReadonlySet<string>>;
  readonly #firstWords: ReadonlySet<string>;
  /** The last words, with the line of each. */
  readonly #words: string[] = [];
  readonly #at: number[] = [];
  #line = 1;
  #tail = "";

  constructor(ofLength: ReadonlyMap<number, ReadonlySet<string>>, firstWords: ReadonlySet<string>) {
    this.#ofLength = ofLength;
    this.#firstWords = firstWords;
  }

  read(chunk: string): void {
    const text = this.#tail + chunk;
    const cut = Math.max(0, lastBlank(text), text.length - LONGEST_TAIL);
    this.#tail = text.slice(cut);
    this.#take(text.slice(0, cut));
  }

  end(): void {
    this.#take(this.#tail);
    this.#tail = "";
  }

  #take(text: string): void {
    for (const [token] of plain(text).matchAll(TOKEN)) {
      if (token === "\n") this.#line += 1;
      else this.#takeWord(token.toLowerCase());
    }
  }

  #takeWord(word: string): void {
    this.#words.push(word);
    this.#at.push(this.#line);
    if (this.#words.length > WINDOW) {
      this.#words.shift();
      this.#at.shift();
    }
    for (const [length, phrases] of this.#ofLength) {
      const start = this.#words.length - length;
      const first = this.#words[start];
      if (first === undefined || !this.#firstWords.has(first)) continue;
      if (phrases.has(this.#words.slice(start).join(" "))) this.#found(this.#at[start] ?? this.#line);
    }
  }

  #found(from: number): void {
    for (let line = from; line <= this.#line; line++) this.lines.add(line);
  }
}

function wordsOf(text: string): readonly string[] {
  const tokens = plain(text).match(TOKEN) ?? [];
  return tokens.filter((token) => token !== "\n").map((word) => word.toLowerCase());
}

/** Without the escapes of JSON, however often they were escaped again. */
function plain(text: string): string {
  const unescaped = text.includes("\\")
    ? text.replace(ESCAPE, (_, hex: string | undefined) =>
        hex === undefined ? " " : String.fromCharCode(Number.parseInt(hex, 16)),
      )
    : text;
  return unescaped.normalize("NFC");
}

function isTelling(words: readonly string[]): boolean {
  const letters = words.reduce((sum, word) => sum + word.length * (UNSPACED.test(word) ? 2 : 1), 0);
  const weights = commonnessOf(words);
  const telling = words.filter((_, at) => weights[at] !== FUNCTION_WORD);
  if (telling.length === 0) return false;
  if (words.length === 1)
    return letters >= (/\p{N}/u.test(words[0] ?? "") ? FEWEST_OF_A_NUMBER : FEWEST_CHARACTERS);
  return letters >= FEWEST_CHARACTERS && telling.length >= 2;
}

function lastBlank(text: string): number {
  for (let at = text.length - 1; at >= 0 && at >= text.length - LONGEST_TAIL; at--) {
    const character = text[at];
    if (character === " " || character === "\n") return at;
  }
  return -1;
}
