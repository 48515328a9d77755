/**
 * How much weight a query's word has: none (function and question words), little (everyday words found in any text), or the full
 * weight of its rarity in the namespace. Applies to queries only: the index holds every word, so that a phrase of common words
 * can still be found. The same lists tell the language of a text.
 */
import stopWords from "../data/stop-words.json" with { type: "json" };
import { WEIGHTS } from "../weights.ts";
import { fold, wordsOf } from "./words.ts";

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
  let [best, most] = [0, countIn(ENGLISH, lists)];
  for (const language of OTHER_LANGUAGES) {
    const count = countIn(language, lists);
    if (count > most && count > 1) [best, most] = [language, count];
  }
  return best;
}

function countIn(languages: number, lists: readonly number[]): number {
  let count = 0;
  for (const has of lists) if ((has & languages) > 0) count += 1;
  return count;
}

const LETTER = /\p{L}/gu;
const LATIN_LETTER = /(?=\p{L})\p{Script=Latin}/gu;
const BEYOND_ASCII = /[^\p{ASCII}]/u;
/** The first words tell the language. */
const LONGEST = 1_000;
/** One foreign function word is enough in so few words without an English one. */
const FEW_WORDS = 4;

/**
 * Whether a text is in English, for models that know no other language: their vectors of other texts say nothing, or something wrong.
 * Judged by script, by function words, and by letters with accents. Names, numbers and code count as English.
 */
export function isEnglish(whole: string): boolean {
  const text = whole.slice(0, LONGEST);
  const lettersOf = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  if (BEYOND_ASCII.test(text) && lettersOf(LATIN_LETTER) * 2 < lettersOf(LETTER)) return false;
  const words = wordsOf(text);
  const lists = words.map((word) => listsOf(word.text));
  const english = countIn(ENGLISH | FRAME, lists);
  // Without the words that are English too, such as "in".
  const others = lists.filter((has) => (has & (ENGLISH | FRAME)) === 0);
  const foreign = Math.max(...OTHER_LANGUAGES.map((language) => countIn(language, others)));
  const accented = words.filter(({ raw }) => BEYOND_ASCII.test(raw)).length;
  const isSign = foreign > 1 || accented > 1 || (english === 0 && words.length <= FEW_WORDS);
  return !isSign || foreign + accented <= english;
}
