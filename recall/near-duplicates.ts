/** The same text stored twice is one answer: the newest stands for all of them. */

import type { LexicalIndex } from "./lexical/lexical-index.ts";
import type { Match } from "./lexical/lexical-search.ts";

/** `others`: how many with the same text were left out. */
export type Unique<T extends Match> = T & { readonly others: number };

/** Best first, as given. Lines of a conversation are left alone: that something was said twice is part of it. */
export function withoutDuplicates<T extends Match>(
  matches: readonly T[],
  index: LexicalIndex,
): readonly Unique<T>[] {
  return folded(matches, (match) => (match.features.inThread ? match.document.id : textOf(match, index)));
}

/** The same for a handful of places, which no text may take twice, not even the lines of a conversation. */
export function withDistinctTexts<T extends Match>(
  matches: readonly T[],
  index: LexicalIndex,
): readonly Unique<T>[] {
  return folded(matches, (match) => textOf(match, index));
}

/** The groups stand in the order of their best matches. */
function folded<T extends Match>(
  matches: readonly T[],
  identityOf: (match: T) => string,
): readonly Unique<T>[] {
  const groups = Map.groupBy(matches, identityOf);
  return [...groups.values()].flatMap((group) => {
    const [best] = group;
    if (best === undefined) return [];
    const newest = group.reduce((one, other) => (isNewer(other, one) ? other : one));
    return [{ ...newest, score: best.score, others: group.length - 1 }];
  });
}

/** Texts are the same when they are made of the same words in the same order, whatever their case, endings and punctuation. */
function textOf({ document }: Match, index: LexicalIndex): string {
  return document.units.map((unit) => index.bodyTerms(unit).join(" ")).join("\n");
}

function isNewer({ document: one }: Match, { document: other }: Match): boolean {
  return one.updatedAt > other.updatedAt;
}
