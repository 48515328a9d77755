/** What a question's words are looked for by where nothing but substrings can be asked: their beginnings, which other forms of them share. */
import { CONTENT_WORD, commonnessOf } from "./commonness.ts";
import { termOf } from "./english.ts";
import { dictionaryWords } from "./scripts.ts";
import { type Word, wordsOf } from "./words.ts";

/** Shorter ones stand in everything. */
const LEAST_LETTERS = 3;

/** In lower case, those that say most first; none for a question of function words alone. */
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
