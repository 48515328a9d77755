/**
 * Finds, among many facts, the pairs that contradict each other, say the same, or are near-copies from different sources.
 *
 * Only facts with words in common are compared. Rare words come first, and each fact is compared with a bounded number of others, so
 * that the work grows with the number of facts and not with its square.
 */
import { makeSlices } from "../engine/timing.ts";
import { type Claim, termsOf } from "./claims.ts";
import { relationOf } from "./conflicts.ts";
import { weightsInCommon } from "./topic.ts";
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

/** Facts with words in common that are looked at, and the closest of them that are compared, for each fact. */
const LOOKED_AT = 200;
const COMPARED = 10;

/** Yields to others meanwhile. */
export async function relatedPairs(facts: readonly Sourced[]): Promise<readonly RelatedPair[]> {
  const rest = makeSlices();
  const words = new SharedWords(facts);
  const related: RelatedPair[] = [];
  for (const [place, fact] of facts.entries()) {
    for (const other of words.closestBefore(place)) {
      const relation = compared(facts[other] ?? fact, fact);
      if (relation !== undefined) related.push({ places: [other, place], relation });
    }
    await rest();
  }
  return related;
}

function compared(one: Sourced, other: Sourced): RelatedPair["relation"] | undefined {
  const relation = relationOf(one.claim, other.claim);
  if (relation === "contradict" || relation === "same") return relation;
  const isNear = relation === "near" && one.source !== other.source && isNearCopy(one.claim, other.claim);
  return isNear ? "near" : undefined;
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

/** Which facts have which words, grown fact by fact. */
class SharedWords {
  readonly #terms: readonly (readonly string[])[];
  /** How many of all facts have a term. */
  readonly #counts = new Map<string, number>();
  /** The places of the facts so far, in order. */
  readonly #places = new Map<string, number[]>();
  /** How telling the words of each fact so far are together. */
  readonly #telling: number[] = [];

  constructor(facts: readonly Sourced[]) {
    this.#terms = facts.map(({ claim }) => [...new Set(termsOf(claim.around))]);
    for (const term of this.#terms.flat()) this.#counts.set(term, (this.#counts.get(term) ?? 0) + 1);
  }

  /** The facts before this place with the most and rarest words in common. To be asked for each place in order. */
  closestBefore(place: number): readonly number[] {
    const scores = new Map<number, number>();
    const terms = (this.#terms[place] ?? []).toSorted((a, b) => this.#count(a) - this.#count(b));
    let left = LOOKED_AT;
    let telling = 0;
    for (const term of terms) {
      const having = this.#places.get(term) ?? [];
      const rarity = Math.log(1 + this.#terms.length / this.#count(term));
      telling += rarity;
      for (const other of left > 0 ? having.slice(-left) : [])
        scores.set(other, (scores.get(other) ?? 0) + rarity);
      left -= having.length;
      if (having.push(place) === 1) this.#places.set(term, having);
    }
    this.#telling.push(telling);
    const enough = ([other, score]: readonly [number, number]) =>
      score >= WEIGHTS.conflicts.near * Math.min(telling, this.#telling[other] ?? 0);
    const closest = [...scores].filter(enough).sort(([, a], [, b]) => b - a);
    return closest.slice(0, COMPARED).map(([other]) => other);
  }

  #count(term: string): number {
    return this.#counts.get(term) ?? 1;
  }
}
