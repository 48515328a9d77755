/**
 * Handles copies of a text. In semantic search, the same text stored twice is one answer; the newest copy represents it.
 *
 * Near-copies may carry different facts ("room 12", "room 13"), and so may the same text under several keys. None is hidden; but
 * when slots are few, near-copies share one, so that they cannot crowd out other answers.
 */

import type { LexicalIndex } from "./lexical/lexical-index.ts";
import type { ScoredCandidate } from "./scoring.ts";
import { WEIGHTS } from "./weights.ts";

/** Keeps each text once, in the given order. Lines of a conversation are kept: a repetition is part of it. */
export function withoutDuplicates(
  scored: readonly ScoredCandidate[],
  index: LexicalIndex,
): readonly ScoredCandidate[] {
  return folded(scored, (one) => (one.features.inThread ? one.document.id : textOf(one, index)));
}

/** The same for a few slots: no text takes two, not even lines of a conversation. */
export function withDistinctTexts(
  scored: readonly ScoredCandidate[],
  index: LexicalIndex,
): readonly ScoredCandidate[] {
  return folded(scored, (one) => textOf(one, index));
}

/** Words to compare, from the beginnings of two texts. */
const WORDS_COMPARED = 200;

/** The best ones in the given order: one per group of near-copies first, then the others in the remaining slots. */
export function bestApart(
  matches: readonly ScoredCandidate[],
  index: LexicalIndex,
  places: number,
): readonly ScoredCandidate[] {
  if (matches.length <= places) return matches;
  const apart: ScoredCandidate[] = [];
  const copies: ScoredCandidate[] = [];
  const texts: Uint32Array[] = [];
  for (const match of matches) {
    const words = wordsOf(match, index);
    const isCopy = texts.some((text) => areNear(text, words));
    (isCopy ? copies : apart).push(match);
    if (!isCopy) texts.push(words);
    if (apart.length === places) break;
  }
  const chosen = new Set([...apart, ...copies].slice(0, places));
  return matches.filter((match) => chosen.has(match));
}

/** Sorted, so that two texts can be compared in one pass. */
function wordsOf({ document }: ScoredCandidate, index: LexicalIndex): Uint32Array {
  const words: number[] = [];
  for (const unit of document.units) {
    words.push(...index.bodyTerms(unit).subarray(0, WORDS_COMPARED - words.length));
    if (words.length === WORDS_COMPARED) break;
  }
  return Uint32Array.from(words).sort();
}

/** Stops once one text has too many words of its own: most texts have little in common. */
function areNear(one: Uint32Array, other: Uint32Array): boolean {
  const needed = WEIGHTS.copies.shared * Math.max(one.length, other.length);
  let spareHere = one.length - needed;
  let spareThere = other.length - needed;
  let [left, right] = [0, 0];
  while (spareHere >= 0 && spareThere >= 0 && left < one.length && right < other.length) {
    const order = (one[left] ?? 0) - (other[right] ?? 0);
    if (order < 0) spareHere -= 1;
    if (order > 0) spareThere -= 1;
    if (order <= 0) left += 1;
    if (order >= 0) right += 1;
  }
  return spareHere >= one.length - left && spareThere >= other.length - right;
}

/** The groups keep the order of their best members; each shows its newest. */
function folded(
  scored: readonly ScoredCandidate[],
  identityOf: (scored: ScoredCandidate) => string,
): readonly ScoredCandidate[] {
  const groups = Map.groupBy(scored, identityOf);
  return [...groups.values()].flatMap((group) => {
    const [best] = group;
    if (best === undefined) return [];
    const newest = group.reduce((one, other) => (isNewer(other, one) ? other : one));
    return [{ ...newest, score: best.score, certainty: best.certainty }];
  });
}

/** Equal texts have the same words in the same order, regardless of case, endings and punctuation. */
function textOf({ document }: ScoredCandidate, index: LexicalIndex): string {
  return document.units.map((unit) => index.bodyTerms(unit).join(" ")).join("\n");
}

function isNewer({ document: one }: ScoredCandidate, { document: other }: ScoredCandidate): boolean {
  return one.updatedAt > other.updatedAt;
}
