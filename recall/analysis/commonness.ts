/**
 * How much weight a query's word has: none (function and question words), little (everyday words found in any text), or the full
 * weight of its rarity in the namespace. Applies to queries only: the index holds every word, so that a phrase of common words
 * can still be found.
 */
import stopWords from "../data/stop-words.json" with { type: "json" };
import { WEIGHTS } from "../weights.ts";
import { fold } from "./words.ts";

const setOf = (lines: readonly string[]): ReadonlySet<string> =>
  new Set(lines.flatMap((line) => line.split(" ")).map(fold));

const ENGLISH = setOf(stopWords.english);
/** Words that frame a question to a memory ("remind me what I said about …") and carry no content. */
const FRAME = setOf(stopWords.framing);
const EVERYDAY = setOf(stopWords.everyday);
const GERMAN = setOf(stopWords.german);
const OTHER_LANGUAGES: readonly ReadonlySet<string>[] = [
  GERMAN,
  ...[stopWords.french, stopWords.spanish, stopWords.portuguese, stopWords.italian, stopWords.dutch].map(
    setOf,
  ),
];
/** Chinese, Japanese and Korean function and question words, as cut out by the platform's word breaker. */
const UNSPACED = setOf(stopWords.unspaced);

/** The share of its weight that a word keeps in a query. */
export const FUNCTION_WORD = 0;
export const CONTENT_WORD = 1;

/** The weights of a query's folded words, in order. */
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

/** Whether the query is German, where all nouns are capitalised. */
export function isGerman(words: readonly string[]): boolean {
  return languageOf(words) === GERMAN;
}

/** Another language, if the query has more of its function words than English ones. */
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
