/** The same text stored twice is one answer: the newest stands for all of them. */

import type { FusedMatch } from "./fusion.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";

/** `others`: how many with the same text were left out. */
export type Unique = FusedMatch & { readonly others: number };

/**
 * Best first, as given. Texts are the same when they are made of the same words in the same order, whatever their case,
 * endings and punctuation. Lines of a conversation are left alone: that something was said twice is part of it.
 */
export function withoutDuplicates(matches: readonly FusedMatch[], index: LexicalIndex): readonly Unique[] {
  const groups = Map.groupBy(matches, (match) => textOf(match, index));
  return [...groups.values()].flatMap((group) => {
    const [best] = group;
    if (best === undefined) return [];
    const newest = group.reduce((one, other) => (isNewer(other, one) ? other : one));
    return [{ ...newest, score: best.score, others: group.length - 1 }];
  });
}

/** The groups stand in the order of their best matches. */
function textOf({ document, evidence }: FusedMatch, index: LexicalIndex): string {
  if (evidence.inThread) return document.id;
  return document.units.map((unit) => index.bodyTerms(unit).join(" ")).join("\n");
}

function isNewer({ document: one }: FusedMatch, { document: other }: FusedMatch): boolean {
  return one.updatedAt > other.updatedAt;
}
