/**
 * How much a query's word says about what is asked: nothing (function and question words), little (words of everyday
 * speech that stand in any text), or all that its rarity in the namespace gives it. Judged on the query's side only: the
 * index holds every word, so that a phrase of common words can still be found.
 */
import stopWords from "../data/stop-words.json" with { type: "json" };
import { WEIGHTS } from "../weights.ts";
import { fold } from "./fold-letters.ts";

const setOf = (lines: readonly string[]): ReadonlySet<string> =>
  new Set(lines.flatMap((line) => line.split(" ")).map(fold));

const ENGLISH = setOf(stopWords.english);
/** How people ask a memory ("remind me what I said about …"): words that frame a question and are no part of it. */
const FRAME = setOf(stopWords.framing);
const EVERYDAY = setOf(stopWords.everyday);
const GERMAN = setOf(stopWords.german);
const OTHER_LANGUAGES: readonly ReadonlySet<string>[] = [
  GERMAN,
  ...[stopWords.french, stopWords.spanish, stopWords.portuguese, stopWords.italian, stopWords.dutch].map(
    setOf,
  ),
];
/** Chinese, Japanese and Korean words that ask or join; the platform's word breaker cuts them out. */
const UNSPACED = setOf(stopWords.unspaced);

/** Share of a word's own weight that it keeps in a query. */
export const FUNCTION_WORD = 0;
export const CONTENT_WORD = 1;

/** Weights the folded words of one query, in order. */
export function commonnessOf(words: readonly string[]): readonly number[] {
  const foreign = languageOf(words);
  return words.map((word) => {
    if (isFunctionWord(word) || foreign?.has(word) === true) return FUNCTION_WORD;
    return EVERYDAY.has(word) ? WEIGHTS.words.everyday : CONTENT_WORD;
  });
}

function isFunctionWord(word: string): boolean {
  return ENGLISH.has(word) || FRAME.has(word) || UNSPACED.has(word);
}

/** True when the query is German, whose nouns all have capitals. */
export function isGerman(words: readonly string[]): boolean {
  return languageOf(words) === GERMAN;
}

/** The other language whose function words the query speaks, if it speaks one more than English. */
function languageOf(words: readonly string[]): ReadonlySet<string> | undefined {
  const hits = (language: ReadonlySet<string>): number => words.filter((word) => language.has(word)).length;
  let best: ReadonlySet<string> | undefined;
  let most = hits(ENGLISH);
  for (const language of OTHER_LANGUAGES) {
    const count = hits(language);
    if (count > most && count > 1) {
      best = language;
      most = count;
    }
  }
  return best;
}
