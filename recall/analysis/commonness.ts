/**
 * How much weight a query's word has: none (function and question words), little (everyday words found in any text), or the full
 * weight of its rarity in the namespace. Applies to queries only: the index holds every word, so that a phrase of common words
 * can still be found.
 */
import stopWords from "../data/stop-words.json" with { type: "json" };
import { WEIGHTS } from "../weights.ts";
import { fold } from "./words.ts";

const ENGLISH = 1;
/** Words that frame a question to a memory ("remind me what I said about …") and carry no content. */
const FRAME = 2;
const EVERYDAY = 4;
/** Chinese, Japanese and Korean function and question words, as cut out by the platform's word breaker. */
const UNSPACED = 8;
const GERMAN = 16;
const OTHER_LANGUAGES = [GERMAN, 32, 64, 128, 256, 512];

/** The lists that have a word, as a sum: this is asked of every word, and mostly the answer is none. */
const LISTS = new Map<string, number>();
enlist(stopWords.english, ENGLISH);
enlist(stopWords.framing, FRAME);
enlist(stopWords.everyday, EVERYDAY);
enlist(stopWords.unspaced, UNSPACED);
const { german, french, spanish, portuguese, italian, dutch } = stopWords;
for (const [place, lines] of [german, french, spanish, portuguese, italian, dutch].entries())
  enlist(lines, OTHER_LANGUAGES[place] ?? 0);

function enlist(lines: readonly string[], list: number): void {
  for (const word of lines.flatMap((line) => line.split(" ")).map(fold))
    LISTS.set(word, listsOf(word) | list);
}

function listsOf(word: string): number {
  return LISTS.get(word) ?? 0;
}

/** The share of its weight that a word keeps in a query. */
export const FUNCTION_WORD = 0;
export const CONTENT_WORD = 1;

/** The weights of a query's folded words, in order. */
export function commonnessOf(words: readonly string[]): readonly number[] {
  const lists = words.map(listsOf);
  const functionWords = ENGLISH | FRAME | UNSPACED | languageOf(lists);
  return lists.map((has) => {
    if ((has & functionWords) > 0) return FUNCTION_WORD;
    return (has & EVERYDAY) > 0 ? WEIGHTS.words.everyday : CONTENT_WORD;
  });
}

/** Whether the query is German, where all nouns are capitalised. */
export function isGerman(words: readonly string[]): boolean {
  return languageOf(words.map(listsOf)) === GERMAN;
}

/** Another language, if the query has more of its function words than English ones; otherwise 0. */
function languageOf(lists: readonly number[]): number {
  const countOf = (language: number): number => {
    let count = 0;
    for (const has of lists) if ((has & language) > 0) count += 1;
    return count;
  };
  let best = 0;
  let most = countOf(ENGLISH);
  for (const language of OTHER_LANGUAGES) {
    const count = countOf(language);
    if (count > most && count > 1) {
      best = language;
      most = count;
    }
  }
  return best;
}
