/**
 * Finds, among many facts, the pairs that contradict each other, say the same, or are near-copies from different sources.
 *
 * Each fact is compared with those that share its rarest words, so that the work grows with the number of facts and not with its
 * square.
 */
import { makeSlices } from "../engine/timing.ts";
import type { Claim } from "./claims.ts";
import { relationOf } from "./conflicts.ts";
import { SharedWords } from "./shared-words.ts";
import { isTelling, weightsInCommon } from "./topic.ts";
import { WEIGHTS } from "./weights.ts";

export interface Sourced {
  readonly claim: Claim;
  /** Where it comes from, such as an import. */
  readonly source: string;
}

export interface RelatedPair {
  /** Places in the given list, the smaller one first. */
  readonly places: readonly [number, number];
  readonly relation: "contradict" | "same" | "near";
}

/** Yields to others meanwhile. The pairs of each fact with those before it follow each other. */
export async function relatedPairs(facts: readonly Sourced[]): Promise<readonly RelatedPair[]> {
  const rest = makeSlices();
  const words = new SharedWords();
  for (const { claim } of facts) words.add(claim);
  const close = facts.map((): Set<number> => new Set());
  for (const [place, { claim }] of facts.entries()) {
    for (const other of words.closest(claim))
      if (other !== place) close[Math.max(place, other)]?.add(Math.min(place, other));
    await rest();
  }
  const related: RelatedPair[] = [];
  for (const [place, fact] of facts.entries()) {
    for (const other of close[place] ?? []) {
      const relation = compared(facts[other] ?? fact, fact);
      if (relation !== undefined) related.push({ places: [other, place], relation });
    }
    await rest();
  }
  return related;
}

function compared(one: Sourced, other: Sourced): RelatedPair["relation"] | undefined {
  const relation = relationOf(one.claim, other.claim);
  if (relation === "contradict") return relation;
  if (relation === "same" && !saysMore(one.claim, other.claim)) return relation;
  const isNear = relation !== "none" && one.source !== other.source && isNearCopy(one.claim, other.claim);
  return isNear ? "near" : undefined;
}

/**
 * Each has a content word that the other lacks, and they share no value: "nginx proxies the billing service", and the search
 * service. A search only puts the newer one first; here one would be offered in place of the other.
 */
function saysMore(one: Claim, other: Claim): boolean {
  const sharesValue = [...one.values].some(([kind, values]) => {
    return !values.isDisjointFrom(other.values.get(kind) ?? new Set());
  });
  return !sharesValue && hasOwnWord(one, other) && hasOwnWord(other, one);
}

function hasOwnWord(one: Claim, other: Claim): boolean {
  const common = weightsInCommon(one.topic, one.readings, other.around);
  return one.topic.some((word, place) => isTelling(word) && common[place] === 0);
}

/** Nearly all words of one are in the other, most of the other's in it, and no value of both differs. */
function isNearCopy(one: Claim, other: Claim): boolean {
  const [less = 0, more = 0] = [shareOf(one, other), shareOf(other, one)].sort((a, b) => a - b);
  const { shared, words } = WEIGHTS.copies;
  if (Math.min(one.topic.length, other.topic.length) < words) return false;
  const differs = [...one.values].some(([kind, values]) => {
    const theirs = other.values.get(kind);
    return theirs !== undefined && theirs.symmetricDifference(values).size > 0;
  });
  return more >= shared && less >= shared / 2 && !differs;
}

function shareOf(one: Claim, other: Claim): number {
  const common = weightsInCommon(one.topic, one.readings, other.topic).reduce(
    (sum, weight) => sum + weight,
    0,
  );
  return (
    common /
    Math.max(
      1,
      one.topic.reduce((sum, { weight }) => sum + weight, 0),
    )
  );
}
