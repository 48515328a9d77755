/**
 * Copies of one text. Where meaning ranks, the same text stored twice is one answer: the newest stands for all of them.
 *
 * Near-copies, which differ in a word here and there, may each say something else ("room 12", "room 13"), and so may the same
 * text under several keys. None is hidden; but where places are few they count as one, so that no flood of them takes the places of other
 * answers.
 */

import type { Judged } from "./judge.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import { WEIGHTS } from "./weights.ts";

/** Best first, as given, each text once. Lines of a conversation are left alone: that something was said twice is part of it. */
export function withoutDuplicates(judged: readonly Judged[], index: LexicalIndex): readonly Judged[] {
  return folded(judged, (one) => (one.features.inThread ? one.document.id : textOf(one, index)));
}

/** The same for a handful of places, which no text may take twice, not even the lines of a conversation. */
export function withDistinctTexts(judged: readonly Judged[], index: LexicalIndex): readonly Judged[] {
  return folded(judged, (one) => textOf(one, index));
}

/** Words compared, from the beginnings of two texts. */
const WORDS_COMPARED = 200;

/** The best so many, as given: of near-copies one, and the others in what places are left. */
export function bestApart(
  matches: readonly Judged[],
  index: LexicalIndex,
  places: number,
): readonly Judged[] {
  if (matches.length <= places) return matches;
  const apart: Judged[] = [];
  const copies: Judged[] = [];
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

/** Sorted, so that two texts can be compared in one go. */
function wordsOf({ document }: Judged, index: LexicalIndex): Uint32Array {
  const words: number[] = [];
  for (const unit of document.units) {
    words.push(...index.bodyTerms(unit).subarray(0, WORDS_COMPARED - words.length));
    if (words.length === WORDS_COMPARED) break;
  }
  return Uint32Array.from(words).sort();
}

/** Ends at the first word too many that one of them has alone: most texts have little in common. */
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

/** The groups stand in the order of their best; the newest of each is shown. */
function folded(judged: readonly Judged[], identityOf: (judged: Judged) => string): readonly Judged[] {
  const groups = Map.groupBy(judged, identityOf);
  return [...groups.values()].flatMap((group) => {
    const [best] = group;
    if (best === undefined) return [];
    const newest = group.reduce((one, other) => (isNewer(other, one) ? other : one));
    return [{ ...newest, score: best.score, certainty: best.certainty }];
  });
}

/** Texts are the same when they are made of the same words in the same order, whatever their case, endings and punctuation. */
function textOf({ document }: Judged, index: LexicalIndex): string {
  return document.units.map((unit) => index.bodyTerms(unit).join(" ")).join("\n");
}

function isNewer({ document: one }: Judged, { document: other }: Judged): boolean {
  return one.updatedAt > other.updatedAt;
}
