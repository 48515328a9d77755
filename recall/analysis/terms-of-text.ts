/** From stored text to index terms: the words in order, and further terms that stand for names, parts and single characters. */
import { termOf } from "./english.ts";
import { pairsAndSingles } from "./scripts.ts";
import { type Word, wordsOf } from "./words.ts";

export interface TextTerms {
  /** In the order of the text: what phrase and distance are measured on. */
  readonly ordered: readonly string[];
  /** Joined names, parts of camelCase names, single characters of unspaced scripts. */
  readonly beside: readonly string[];
}

export function termsOfText(text: string): TextTerms {
  const ordered: string[] = [];
  const beside: string[] = [];
  for (const word of wordsOf(text)) appendWord(word, ordered, beside);
  return { ordered, beside };
}

function appendWord(word: Word, ordered: string[], beside: string[]): void {
  if (word.joined !== undefined) beside.push(termOf(word.joined));
  if (word.unspaced) {
    const { pairs, singles } = pairsAndSingles(word.text);
    ordered.push(...(pairs.length > 0 ? pairs : singles));
    if (pairs.length > 0) beside.push(...singles);
    return;
  }
  ordered.push(termOf(word.text));
  for (const part of word.parts) beside.push(termOf(part));
}
