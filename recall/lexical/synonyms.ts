/**
 * A small English thesaurus of software work and of daily life (recall/data/thesaurus.json): which other words may be meant by one that
 * was asked.
 *
 * Nobody remembers with which word a thing was stored: "ship to production" asks for what says "deploy". The words here stand
 * for all their forms (stems are compared). They help the question alone, and as weaker evidence than the word itself: see
 * `synonyms` in recall/weights.ts; recall/meaning/query-expansion.ts has a question with words that nobody wrote embedded in words that
 * somebody did. By words alone they show possible hits at most.
 *
 * To extend: a line of `same` holds words that may replace each other in most sentences, so "set" is in none: it is a rule, a table and a
 * tool. A word may be in several lines. Who asks for one of `kinds` means any member, who asks for a member may mean what is told of the
 * kind, and members are not synonyms of each other. Write what is generally so, never what one memory or one set of questions holds.
 */
import { termOf } from "../analysis/english.ts";
import thesaurus from "../data/thesaurus.json" with { type: "json" };

interface KnownWord {
  readonly term: string;
  readonly word: string;
}

const NO_SYNONYMS: ReadonlyMap<string, string> = new Map();
/** By term; read when the first question is asked. */
let synonymsByTerm: ReadonlyMap<string, ReadonlyMap<string, string>> | undefined;

/** The words that may be meant by a word of this term, by their terms, the closest first; none for most. */
export function synonymsOf(term: string): ReadonlyMap<string, string> {
  synonymsByTerm ??= readSynonyms();
  return synonymsByTerm.get(term) ?? NO_SYNONYMS;
}

function readSynonyms(): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const synonyms = new Map<string, Map<string, string>>();
  for (const words of thesaurus.same.map(wordsIn)) relate(synonyms, words, words);
  for (const { kind, members } of thesaurus.kinds) {
    relate(synonyms, wordsIn(kind), wordsIn(members));
    relate(synonyms, wordsIn(members), wordsIn(kind));
  }
  return synonyms;
}

function relate(
  synonyms: Map<string, Map<string, string>>,
  from: readonly KnownWord[],
  to: readonly KnownWord[],
): void {
  for (const { term } of from) {
    const known = synonyms.get(term) ?? new Map<string, string>();
    for (const other of to)
      if (other.term !== term && !known.has(other.term)) known.set(other.term, other.word);
    synonyms.set(term, known);
  }
}

function wordsIn(line: string): readonly KnownWord[] {
  return line.split(" ").map((word) => ({ term: termOf(word), word }));
}
