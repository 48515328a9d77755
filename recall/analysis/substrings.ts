/** Search substrings for a source that only offers substring search: word beginnings, which other forms of the words share. */
import { CONTENT_WORD, commonnessOf } from "./commonness.ts";
import { termOf } from "./english.ts";
import { dictionaryWords, type Word, wordsOf } from "./words.ts";

/** Shorter substrings occur in almost every text. */
const LEAST_LETTERS = 3;

/** Lower-cased, most telling first; empty for a question of function words only. */
export function substringsOf(question: string, most: number): readonly string[] {
  const words = wordsOf(question);
  const commonness = commonnessOf(words.map(({ text }) => text));
  const telling = words
    .map((word, at) => ({ word, weight: commonness[at] ?? CONTENT_WORD }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight);
  return [...new Set(telling.flatMap(({ word }) => beginningsOf(word)))].slice(0, most);
}

function beginningsOf({ raw, text, unspaced }: Word): readonly string[] {
  if (unspaced) return dictionaryWords(raw);
  const written = raw.toLowerCase();
  const stem = termOf(text);
  let shared = 0;
  while (shared < stem.length && stem[shared] === written[shared]) shared += 1;
  return [shared < LEAST_LETTERS ? written : written.slice(0, shared)];
}
