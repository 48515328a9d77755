/**
 * What is shown where nothing answers surely: the best candidates, marked as only possibly related. A reader tells "the wifi is
 * called Kolibri" from a coincidence at a glance; from silence nobody can tell that the fact is there.
 */
import type { PossibleRule } from "./ranking.ts";

/** The candidates good enough to be shown, best first as they came, with scores that stay below every sure hit's. */
export function possibleAmong<T extends { readonly score: number }>(
  candidates: readonly T[],
  { floor, ratio, scale }: PossibleRule,
): readonly T[] {
  const least = Math.max(floor, ratio * (candidates[0]?.score ?? 0));
  return candidates
    .filter(({ score }) => score >= least)
    .map((candidate) => ({ ...candidate, score: scale * candidate.score }));
}
