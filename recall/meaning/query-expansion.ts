/**
 * A question in the memory's own words: "ship to production" where nobody ever wrote "ship" but somebody wrote "deploy". A
 * small model that misses that two words mean the same finds the text all the same.
 */
import { commonnessOf } from "../analysis/commonness.ts";
import { termOf } from "../analysis/english.ts";
import { fold } from "../analysis/fold-letters.ts";
import type { LexicalIndex } from "../lexical/lexical-index.ts";
import { synonymsOf } from "../lexical/synonyms.ts";

const WORD = /\p{L}[\p{L}\p{M}]*/gu;
/** A longer text is pasted, and has words enough. */
const LONGEST = 300;

/** Each word that the memory has never heard of, replaced by a synonym that it knows; undefined where there is none. */
export function expandedQuery(question: string, index: LexicalIndex): string | undefined {
  if (question.length > LONGEST) return undefined;
  const words = question.match(WORD) ?? [];
  const commonness = commonnessOf(words.map(fold));
  let at = -1;
  const expanded = question.replace(WORD, (word) => {
    at += 1;
    return commonness[at] === 0 ? word : (knownSynonym(word, index) ?? word);
  });
  return expanded === question ? undefined : expanded;
}

function knownSynonym(word: string, { terms }: LexicalIndex): string | undefined {
  const term = termOf(fold(word));
  if (terms.numberOf(term) !== undefined) return undefined;
  for (const [synonym, itsWord] of synonymsOf(term))
    if (terms.numberOf(synonym) !== undefined) return itsWord;
  return undefined;
}
