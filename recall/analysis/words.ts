/** Splits text into words for index and query; identifiers are kept whole and also split. */
import { normalForm } from "../../engine/compare-text.ts";

/** Letters and digits, joined by the characters of paths, URLs, keys and times. */
const RUN = /[\p{L}\p{N}\p{M}]+(?:[-_./:@#'’=+&%?\\~]{1,3}[\p{L}\p{N}\p{M}]+)*(?:\+\+|#)?/gu;
const ATOM = /[\p{L}\p{N}\p{M}]+/gu;
/** Matches most words of most texts. */
const ORDINARY = /^[A-Za-z][a-z]*$/;
const PLAIN = /^[\p{L}\p{M}]+$/u;
/** Has no other spelling and no parts. */
const BARE = /^(?:[a-z]+|[0-9]+)$/;
const QUOTE = /['’]/u;
const CAMEL = /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+\p{N}*|\p{Lu}+\p{N}*|\p{N}+|[\p{L}\p{M}]+/gu;
const INNER_CAPITAL = /\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u;
const AMOUNT = /^(\p{N}+)(\p{L}{1,3})$/u;
const ELISION = /^(\p{L}{1,2})['’](?=\p{L}{2})/u;
const CLITIC = /['’](?:s|t|d|m|ll|re|ve)$/iu;
const DIGIT = /\p{N}/u;
/** Longer terms are truncated: nobody types them, and a pasted blob must not fill the dictionary. */
const LONGEST = 64;
/** Longer names are found by their single words. */
const LONGEST_NAME = 4;
const NO_PARTS: readonly string[] = [];

/** One word of a text, folded but not stemmed. */
export interface Word {
  readonly text: string;
  /** As written, with its capitals. */
  readonly raw: string;
  /** Parts of a camelCase name or an amount ("6GB": 6, gb), searchable in addition to the whole. */
  readonly parts: readonly string[];
  /** A run of a script without spaces, still to be split into pairs. */
  readonly unspaced: boolean;
  /** Set on the first word of a joined name: the whole name without joiners ("slides.narrate": slidesnarrate). */
  readonly joined?: string;
  /** Position of the run that this word came from; words of one name share it. */
  readonly run: number;
}

export function wordsOf(text: string): readonly Word[] {
  return runsOf(text).flatMap((run, number) => wordsOfRun(run, number));
}

/** The same, with the dictionary words of scripts without spaces. */
export function separateWordsOf(text: string): readonly Word[] {
  return wordsOf(text).flatMap((word) =>
    word.unspaced ? dictionaryWords(word.text).map((piece) => ({ ...word, text: piece, raw: piece })) : word,
  );
}

/** The joined runs of a text, as written, but for {@link withNaming}. */
export function runsOf(text: string): readonly string[] {
  return withNaming(text).match(RUN) ?? [];
}

export function placedRunsOf(text: string): readonly { readonly run: string; readonly at: number }[] {
  return [...withNaming(text).matchAll(RUN)].map(({ 0: run, index: at }) => ({ run, at }));
}

/** "is called", "what's it called", "a cat called Minka", but not "she called". */
const NAMING =
  /(?<=\b(?:is|are|was|were|be|been|['’]s)(?: (?:also|now|still|just))? |\b(?:what|how)\b.{0,80} )called\b(?! (?:off|back|for|in|up|out|by)\b)/giu;
const NAMING_OF = /(?<=\b[Aa]n? \p{L}+ )called(?= ["'“‘\p{Lu}])/gu;

/** Whoever is called Tom takes no calls by that: the word is "named" there, at the same place. */
function withNaming(text: string): string {
  return /called/i.test(text) ? text.replace(NAMING, "named ").replace(NAMING_OF, "named ") : text;
}

/** Whether this is a plain word, whose only term is its stem. */
export function isOrdinary(run: string): boolean {
  return ORDINARY.test(run) && run.length <= LONGEST;
}

export function wordsOfRun(raw: string, run: number): readonly Word[] {
  const isUnspaced = hasUnspaced(raw);
  if (!isUnspaced && PLAIN.test(raw)) return [wordOf(raw, run)];
  const body = QUOTE.test(raw) ? raw.replace(CLITIC, "").replace(ELISION, "") : raw;
  const atoms: readonly string[] = body.match(ATOM) ?? [];
  const words = isUnspaced
    ? atoms.flatMap((atom) => wordsOfAtom(atom, run))
    : atoms.map((atom) => wordOf(atom, run));
  const [first, ...rest] = words;
  return first !== undefined && isName(body, words.length)
    ? [{ ...first, joined: joinedForm(body) }, ...rest]
    : words;
}

function wordsOfAtom(atom: string, run: number): readonly Word[] {
  if (!hasUnspaced(atom)) return [wordOf(atom, run)];
  // "日本語text": the part without spaces and the rest
  const pieces: readonly string[] = atom.match(UNSPACED_OR_OTHER) ?? [];
  return pieces.map((piece) => ({ ...wordOf(piece, run), unspaced: hasUnspaced(piece) }));
}

function wordOf(raw: string, run: number): Word {
  if (BARE.test(raw)) return { text: raw.slice(0, LONGEST), raw, run, parts: NO_PARTS, unspaced: false };
  return { text: fold(raw).slice(0, LONGEST), raw, run, parts: partsOf(raw), unspaced: false };
}

function partsOf(raw: string): readonly string[] {
  const amount = AMOUNT.exec(raw);
  if (amount !== null) return [fold(amount[1] ?? ""), fold(amount[2] ?? "")];
  if (!INNER_CAPITAL.test(raw) || raw.length > LONGEST) return NO_PARTS;
  return (raw.match(CAMEL) ?? []).map(fold);
}

/** A few joined words, such as e-mail, 14:00 or slides.narrate, or a language such as C++. Longer paths are found by their parts. */
function isName(body: string, wordCount: number): boolean {
  if (wordCount > LONGEST_NAME || (wordCount < 2 && !/[+#]$/u.test(body))) return false;
  return !/['’/\\]/u.test(body) && !hasUnspaced(body);
}

/** One form for retry_backoff, retry-backoff and retryBackoff. Digits keep a point between them (14:00 is not 1400). */
function joinedForm(body: string): string {
  const folded = fold(body).slice(0, LONGEST);
  return folded.replace(/[^\p{L}\p{N}\p{M}+#]+/gu, (_, at: number) =>
    DIGIT.test(folded[at - 1] ?? "") && DIGIT.test(folded.slice(at).replace(/^[^\p{L}\p{N}]+/u, "")[0] ?? "")
      ? "."
      : "",
  );
}

/** Latin, Greek and Cyrillic accents. Japanese voicing marks are outside this range and stay: they distinguish words. */
const ACCENTS = /[\u0300-\u036f]/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches all of ASCII
const ASCII = /^[\x00-\x7f]*$/;
const LIGATURES: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ı: "i",
};
const LIGATURE = /[ßæœøłđı]/gu;

/** One spelling for letters that differ in width, case or accents: "Ｇärtnerstraße" becomes "gartnerstrasse". */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return normalForm(text, "NFKC")
    .toLowerCase()
    .normalize("NFD")
    .replace(ACCENTS, "")
    .normalize("NFC")
    .replace(LIGATURE, (letter) => LIGATURES[letter] ?? letter);
}

const UMLAUT = /[äöü]/gu;
const DIGRAPH = /([aou])e/gu;
const NO_UMLAUT = /^(?:(?![aou]e)[a-z])*$/i;

/** Its other spellings, folded: "gärtner" may be stored as "gaertner", and vice versa; empty for most words. */
export function umlautSpellings(word: string): readonly string[] {
  if (NO_UMLAUT.test(word)) return NO_PARTS;
  const lower = normalForm(word, "NFKC").toLowerCase();
  const own = fold(lower);
  const spellings = [fold(lower.replace(UMLAUT, (letter) => `${fold(letter)}e`)), own.replace(DIGRAPH, "$1")];
  return [...new Set(spellings)].filter((spelling) => spelling !== own);
}

const UNSPACED_CLASS =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u30fc\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const ANY_UNSPACED = new RegExp(`[${UNSPACED_CLASS}]`, "u");
const BESIDE_NUMBER = new RegExp(`(?<=[${UNSPACED_CLASS}])(?=\\d)|(?<=\\d)(?=[${UNSPACED_CLASS}])`, "gu");
const UNSPACED_OR_OTHER = new RegExp(`[${UNSPACED_CLASS}]+|[^${UNSPACED_CLASS}]+`, "gu");

/** Whether some character belongs to a script without spaces. Korean counts: it has spaces, but its words carry endings. */
export function hasUnspaced(text: string): boolean {
  return ANY_UNSPACED.test(text);
}

/** "3楼" as "3 楼": in these scripts a number stands beside letters without being part of a name. */
export function withNumbersApart(text: string): string {
  return hasUnspaced(text) ? text.replace(BESIDE_NUMBER, " ") : text;
}

/** Each character and each pair of neighbours: "会议室" gives pairs 会议, 议室 and singles 会, 议, 室. */
export function pairsAndSingles(run: string): { readonly pairs: string[]; readonly singles: string[] } {
  const singles = [...run];
  const pairs = singles.slice(1).map((character, index) => `${singles[index]}${character}`);
  return { pairs, singles };
}

let segmenter: Intl.Segmenter | undefined;

/** The dictionary words of a run, as the platform's word breaker sees them. */
export function dictionaryWords(run: string): readonly string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
  const words: string[] = [];
  for (const part of segmenter.segment(run)) if (part.isWordLike === true) words.push(part.segment);
  return words;
}
