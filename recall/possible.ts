/**
 * What is shown where nothing answers surely: the best candidates, marked as only possibly related. A reader tells "the wifi is
 * called Kolibri" from a coincidence at a glance; from silence nobody can tell that the fact is there.
 */
import type { RecallMode } from "../engine/index.ts";
import type { PossibleRule } from "./ranking.ts";

/** How many of them one question is shown, of so many hits asked for. */
export function mostPossible(mode: RecallMode, limit: number, rule: PossibleRule): number {
  if (mode === "quiet") return 0;
  if (mode === "eager") return Math.min(limit, rule.mostEager);
  return limit < rule.few ? 1 : Math.min(limit, rule.most);
}

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
