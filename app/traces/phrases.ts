/**
 * The phrases by which a text is recognised elsewhere, and a reader that finds them in a stream of text.
 *
 * A phrase is up to five words in a row. Words are compared without case, punctuation, markup, line ends, invisible characters and
 * the escapes of JSON, so a sentence is found in a list item, in a wrapped paragraph and in a transcript. Phrases without two words
 * that mean something are left out: they stand everywhere. The same said in other words is not found.
 */
import { normalForm } from "../../engine/compare-text.ts";
import { commonnessOf, FUNCTION_WORD } from "../../recall/analysis/commonness.ts";

/** Words of the longest phrase. */
const WINDOW = 5;
/** Of a shorter phrase, in letters and digits. */
const FEWEST_CHARACTERS = 8;
/** Of a single word with a digit, such as a number on a card. */
const FEWEST_OF_A_NUMBER = 5;
/** Of a word that a person gives. */
const FEWEST_GIVEN = 3;
/** A text is cut at a line end or a blank between two chunks; longer runs without any are cut anywhere. */
const LONGEST_TAIL = 4_096;

/** A line end, a character of a script without spaces, or a run of letters and digits. */
const TOKEN =
  /\n|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[[\p{L}\p{M}\p{N}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]]+/gv;
/** A character of a script without spaces says as much as two letters. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/v;
const SENTENCE_END = /(?<=[.!?;])\s+|(?<=[。！？；])|\n+/u;
/** Begins at the first of its backslashes: at each of a long run it would be looked for to the end of the run. */
const ESCAPE = /(?<!\\)\\+(?:u([0-9a-fA-F]{4})|[nrtbf"'/])/g;
/** Soft hyphens, joiners and the like. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}--\p{M}]/gv;
/** What stands between the words of a sentence, or inside of one: the target of a link, a tag, a comment, emphasis. */
const MARKS = /\]\([^()\n]*\)|<[/!a-z][^<>\n]*>|(?<=[\p{L}\p{N}])(?:\*+|__+|~~|`+)(?=[\p{L}\p{N}])/giu;

export class Phrases {
  /** By the number of words. */
  readonly #ofLength = new Map<number, Set<string>>();
  readonly #firstWords = new Set<string>();
  #leftOut = 0;

  /** The phrases of stored values: all that are telling. */
  static ofValues(values: Iterable<string>): Phrases {
    const phrases = new Phrases();
    for (const value of values) {
      const added = [value, ...value.split(SENTENCE_END)].map((text) =>
        phrases.#addWindows(wordsOf(text), isTelling),
      );
      if (!added.includes(true)) phrases.#leftOut += 1;
    }
    return phrases;
  }

  /** The phrases that a person gives, one a line: whole, as long as they have at least three letters or digits. */
  static ofLines(text: string): Phrases {
    const phrases = new Phrases();
    for (const line of text.split("\n")) {
      const isAdded = phrases.#addWindows(wordsOf(line), (words) => words.join("").length >= FEWEST_GIVEN);
      if (!isAdded && line.trim() !== "") phrases.#leftOut += 1;
    }
    return phrases;
  }

  /** How many values or lines say nothing telling enough to be looked for. */
  get leftOut(): number {
    return this.#leftOut;
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

  /** Whether one was added. */
  #addWindows(words: readonly string[], accepts: (words: readonly string[]) => boolean): boolean {
    const size = Math.min(WINDOW, words.length);
    let isAdded = false;
    for (let start = 0; size > 0 && start + size <= words.length; start++) {
      const phrase = words.slice(start, start + size);
      if (!accepts(phrase)) continue;
      const known = this.#ofLength.get(size) ?? new Set();
      this.#ofLength.set(size, known.add(phrase.join(" ")));
      this.#firstWords.add(phrase[0] ?? "");
      isAdded = true;
    }
    return isAdded;
  }
}

/** Reads a text in chunks, and collects the lines (from 1) on which phrases stand. */
export class PhraseReader {
  readonly lines = new Set<number>();
  /** The text as it stands, where a link's target counts as words, and without marks. */
  readonly #whole: Window;
  readonly #unmarked: Window;
  #line = 1;
  #tail = "";

  constructor(ofLength: ReadonlyMap<number, ReadonlySet<string>>, firstWords: ReadonlySet<string>) {
    this.#whole = new Window(ofLength, firstWords, this.lines);
    this.#unmarked = new Window(ofLength, firstWords, this.lines);
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
    const read = plain(text);
    const unmarked = read.replace(MARKS, "");
    if (unmarked === read) this.#unmarked.clear();
    else this.#unmarked.take(unmarked, this.#line);
    this.#line = this.#whole.take(read, this.#line);
  }
}

/** The last words of a text, with the line of each. */
class Window {
  readonly #ofLength: ReadonlyMap<number, ReadonlySet<string>>;
  readonly #firstWords: ReadonlySet<string>;
  readonly #found: Set<number>;
  #words: string[] = [];
  #at: number[] = [];

  constructor(
    ofLength: ReadonlyMap<number, ReadonlySet<string>>,
    firstWords: ReadonlySet<string>,
    found: Set<number>,
  ) {
    this.#ofLength = ofLength;
    this.#firstWords = firstWords;
    this.#found = found;
  }

  clear(): void {
    this.#words = [];
    this.#at = [];
  }

  /** `line`: of the text's first character. Returns that of its last. */
  take(text: string, line: number): number {
    let at = line;
    for (const [token] of text.matchAll(TOKEN)) {
      if (token === "\n") at += 1;
      else this.#takeWord(token.toLowerCase(), at);
    }
    return at;
  }

  #takeWord(word: string, line: number): void {
    this.#words.push(word);
    this.#at.push(line);
    if (this.#words.length > WINDOW) {
      this.#words.shift();
      this.#at.shift();
    }
    for (const [length, phrases] of this.#ofLength) {
      const start = this.#words.length - length;
      const first = this.#words[start];
      if (first === undefined || !this.#firstWords.has(first)) continue;
      if (!phrases.has(this.#words.slice(start).join(" "))) continue;
      for (let at = this.#at[start] ?? line; at <= line; at++) this.#found.add(at);
    }
  }
}

function wordsOf(text: string): readonly string[] {
  const tokens = plain(text).match(TOKEN) ?? [];
  return tokens.filter((token) => token !== "\n").map((word) => word.toLowerCase());
}

/** Without the escapes of JSON, however often they were escaped again, and without characters that nobody sees. */
function plain(text: string): string {
  const unescaped = text.includes("\\") ? text.replace(ESCAPE, (_, hex?: string) => unescapedOf(hex)) : text;
  return normalForm(unescaped, "NFKC").replace(INVISIBLE, "");
}

/** A line end that is written as an escape begins no line of the file. */
function unescapedOf(hex: string | undefined): string {
  const character = hex === undefined ? " " : String.fromCharCode(Number.parseInt(hex, 16));
  return character === "\n" ? " " : character;
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

/** Of a line end, so that a mark is not cut; else of a blank. */
function lastBlank(text: string): number {
  const from = Math.max(0, text.length - LONGEST_TAIL);
  for (const blank of ["\n", " "]) {
    const at = text.lastIndexOf(blank);
    if (at >= from) return at;
  }
  return -1;
}
