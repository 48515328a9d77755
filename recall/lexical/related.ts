/** Finds terms for a word that is not in the namespace: other forms of the stem, and typing errors. */
import { WEIGHTS } from "../weights.ts";
import type { Terms } from "./terms.ts";

const MOST_RELATED = 8;

/** Terms similar to an unknown word, most frequent first. Their first three letters agree. */
export function relatedTerms(unknown: string, terms: Terms, allowTypo: boolean): readonly number[] {
  const related: number[] = [];
  for (const [name, number] of terms.beginningLike(unknown)) {
    const isTypo = allowTypo && unknown.length >= WEIGHTS.words.shortestTypo && isOneSlip(unknown, name);
    if (isTypo || isFamily(unknown, name)) related.push(number);
  }
  return related
    .sort((left, right) => terms.documentCount(right) - terms.documentCount(left) || left - right)
    .slice(0, MOST_RELATED);
}

function isFamily(left: string, right: string): boolean {
  const longest = Math.max(left.length, right.length);
  const { sharedLetters, sharedShare } = WEIGHTS.words;
  const needed = Math.max(sharedLetters, Math.ceil(sharedShare * longest));
  return Math.min(left.length, right.length) >= needed && left.slice(0, needed) === right.slice(0, needed);
}

/** One letter inserted, deleted or replaced, or two neighbours swapped. */
function isOneSlip(left: string, right: string): boolean {
  if (Math.abs(left.length - right.length) > 1) return false;
  let start = 0;
  while (start < left.length && left[start] === right[start]) start += 1;
  let end = 0;
  const most = Math.min(left.length, right.length) - start;
  while (end < most && left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
  const restLeft = left.slice(start, left.length - end);
  const restRight = right.slice(start, right.length - end);
  if (restLeft.length <= 1 && restRight.length <= 1) return true;
  return (
    restLeft.length === 2 &&
    restRight.length === 2 &&
    restLeft[0] === restRight[1] &&
    restLeft[1] === restRight[0]
  );
}
