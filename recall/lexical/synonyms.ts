/**
 * A small English thesaurus of software work and daily life (recall/data/thesaurus.json).
 *
 * People forget with which word they stored something: "ship to production" should find a text with "deploy". An entry covers all
 * forms of its words, since stems are compared. Synonyms apply to queries only, as weaker evidence than the word itself
 * (`synonyms` in recall/weights.ts). recall/meaning/questions.ts also embeds the query with unknown words replaced by
 * synonyms. In keyword search, synonyms alone produce possible hits at most.
 *
 * To extend: a line of `same` holds words that are interchangeable in most sentences, so "set", which has many senses, is in
 * none. A word may be in several lines. In `kinds`, a query for the kind matches any member, and a query for a member matches the
 * kind, but members are not synonyms of each other. Add only generally true entries, never entries for one memory or one test
 * set.
 */
import { termOf } from "../analysis/english.ts";
import thesaurus from "../data/thesaurus.json" with { type: "json" };

interface KnownWord {
  readonly term: string;
  readonly word: string;
}

const NO_SYNONYMS: ReadonlyMap<string, string> = new Map();
/** By term; loaded with the first question. */
let synonymsByTerm: ReadonlyMap<string, ReadonlyMap<string, string>> | undefined;

/** The synonyms of a term, by their terms, closest first; most terms have none. */
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
