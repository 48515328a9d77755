/**
 * A question in the memory's own words: "ship to production" where nobody ever wrote "ship" but somebody wrote "deploy". A
 * small model that misses the kinship of two words finds the text all the same.
 */
import { commonnessOf } from "../analysis/commonness.ts";
import { termOf } from "../analysis/english.ts";
import { fold } from "../analysis/fold.ts";
import { kindredOf } from "../lexical/kindred.ts";
import type { LexicalIndex } from "../lexical/lexical-index.ts";

const WORD = /\p{L}[\p{L}\p{M}]*/gu;
/** A longer text is pasted, and has words enough. */
const LONGEST = 300;

/** Each word that the memory has never heard of, replaced by kin that it knows; undefined where there is none. */
export function rewordedQuestion(question: string, index: LexicalIndex): string | undefined {
  if (question.length > LONGEST) return undefined;
  const words = question.match(WORD) ?? [];
  const commonness = commonnessOf(words.map(fold));
  let at = -1;
  const reworded = question.replace(WORD, (word) => {
    at += 1;
    return commonness[at] === 0 ? word : (knownKin(word, index) ?? word);
  });
  return reworded === question ? undefined : reworded;
}

function knownKin(word: string, { terms }: LexicalIndex): string | undefined {
  const term = termOf(fold(word));
  if (terms.numberOf(term) !== undefined) return undefined;
  for (const [kin, itsWord] of kindredOf(term)) if (terms.numberOf(kin) !== undefined) return itsWord;
  return undefined;
}
