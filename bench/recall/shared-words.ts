/** Finds words that a question shares with a fact: by recall's own analysis, by a second stemmer, and by spelling. */
import { DatabaseSync } from "node:sqlite";
import { commonnessOf, FUNCTION_WORD } from "../../recall/analysis/commonness.ts";
import { termOf } from "../../recall/analysis/english.ts";
import { type Word, wordsOf } from "../../recall/analysis/words.ts";

export interface SharedWords {
  /** Shared terms in recall's analysis, including parts of names. */
  readonly terms: readonly string[];
  /** Shared stems of SQLite's Porter tokenizer, which does not handle irregular forms and cuts differently. */
  readonly stems: readonly string[];
  /** Words that contain one another or begin the same: "test" and "tester", "decide" and "decision". */
  readonly lookalikes: readonly string[];
}

/** Ignores function words such as "how", "the" and "remember", but not everyday content words. */
export function sharedWords(question: string, fact: string): SharedWords {
  const [asked, told] = [contentWords(question), contentWords(fact)];
  return {
    terms: common(asked.flatMap(termsOf), told.flatMap(termsOf)),
    stems: common(porterStems(asked), porterStems(told)),
    lookalikes: asked.flatMap(({ text }) =>
      told.flatMap((other) => (looksAlike(text, other.text) ? `${text}/${other.text}` : [])),
    ),
  };
}

/** Analyses each word separately, so that two words together never make the language detection choose German. */
function contentWords(text: string): readonly Word[] {
  return wordsOf(text).filter(({ text: word }) => isDistinctive(word));
}

function isDistinctive(word: string): boolean {
  return commonnessOf([word])[0] !== FUNCTION_WORD;
}

function termsOf({ text, joined, parts }: Word): readonly string[] {
  return [text, ...(joined === undefined ? [] : [joined]), ...parts.filter(isDistinctive)].map(termOf);
}

function common(left: readonly string[], right: readonly string[]): readonly string[] {
  return [...new Set(left).intersection(new Set(right))];
}

const porter = new DatabaseSync(":memory:");
porter.exec(`create virtual table words using fts5(word, tokenize = 'porter unicode61');
  create virtual table stems using fts5vocab(words, row)`);
const empty = porter.prepare("delete from words");
const add = porter.prepare("insert into words (word) values (?)");
const select = porter.prepare("select term from stems");

function porterStems(words: readonly Word[]): readonly string[] {
  empty.run();
  for (const { text } of words) add.run(text);
  return select.all().map(({ term }) => String(term));
}

/** A word of this length, such as "test", is found inside a longer one. Words that only begin the same must share half of their letters. */
const SHORTEST_CONTAINED = 4;
const SHORTEST_BEGINNING = 4;
const SHARE_OF_LONGER = 0.5;

function looksAlike(left: string, right: string): boolean {
  const [short, long] = left.length <= right.length ? [left, right] : [right, left];
  if (short.length >= SHORTEST_CONTAINED && long.includes(short)) return true;
  let same = 0;
  while (same < short.length && short[same] === long[same]) same += 1;
  return same >= Math.max(SHORTEST_BEGINNING, SHARE_OF_LONGER * long.length);
}
