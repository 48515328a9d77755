/**
 * Whether a text is in English, for models that know no other language: their vectors of other texts say nothing, or something wrong.
 *
 * Judged by script, by function words, and by letters with accents. Names, numbers and code count as English.
 */
import stopWords from "../data/stop-words.json" with { type: "json" };
import { fold, wordsOf } from "./words.ts";

const setOf = (lines: readonly string[]): ReadonlySet<string> =>
  new Set(lines.flatMap((line) => line.split(" ")).map(fold));

const ENGLISH = setOf([...stopWords.english, ...stopWords.framing]);
const { german, french, spanish, portuguese, italian, dutch } = stopWords;
/** Without the words that are English too, such as "in". */
const OTHERS = [german, french, spanish, portuguese, italian, dutch].map(
  (lines) => new Set([...setOf(lines)].filter((word) => !ENGLISH.has(word))),
);
const LETTER = /\p{L}/gu;
const LATIN_LETTER = /(?=\p{L})\p{Script=Latin}/gu;
const BEYOND_ASCII = /[^\p{ASCII}]/u;
/** The first words tell the language. */
const LONGEST = 1_000;
/** One foreign function word is enough in so few words without an English one. */
const FEW_WORDS = 4;

export function isEnglish(whole: string): boolean {
  const text = whole.slice(0, LONGEST);
  if (BEYOND_ASCII.test(text) && countOf(LATIN_LETTER, text) * 2 < countOf(LETTER, text)) return false;
  const words = wordsOf(text);
  const hits = (language: ReadonlySet<string>) => words.filter((word) => language.has(word.text)).length;
  const english = hits(ENGLISH);
  const foreign = Math.max(...OTHERS.map(hits));
  const accented = words.filter(({ raw }) => BEYOND_ASCII.test(raw)).length;
  const isSign = foreign > 1 || accented > 1 || (english === 0 && words.length <= FEW_WORDS);
  return !isSign || foreign + accented <= english;
}

function countOf(pattern: RegExp, text: string): number {
  return text.match(pattern)?.length ?? 0;
}
