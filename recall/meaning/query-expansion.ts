/**
 * Rewrites a question with words from the memory: "ship to production" becomes "deploy …" when the memory has "deploy" but not
 * "ship". This helps small models that miss the synonym.
 */
import { commonnessOf } from "../analysis/commonness.ts";
import { termOf } from "../analysis/english.ts";
import { fold } from "../analysis/fold-letters.ts";
import type { LexicalIndex } from "../lexical/lexical-index.ts";
import { synonymsOf } from "../lexical/synonyms.ts";

const WORD = /\p{L}[\p{L}\p{M}]*/gu;
/** A longer text is pasted and has enough words. */
const LONGEST = 300;

/** Replaces each word that the memory lacks by a synonym that it has; undefined when there is none. */
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
