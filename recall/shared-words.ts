/** Finds the facts that have the most and the rarest words in common with a fact, in about the same time among any number of them. */
import { type Claim, termsOf } from "./claims.ts";
import { WEIGHTS } from "./weights.ts";

/** Facts with one of its words that are counted for a fact, the rarest word first, and the closest of them. */
const MOST_COUNTED = 1_000;
const MOST_CLOSE = 12;

export class SharedWords {
  /** Of each fact, by place. */
  readonly #terms: ReadonlySet<string>[] = [];
  readonly #places = new Map<string, number[]>();
  /** What one fact has in common with each other; all 0 between two of them. */
  #common = new Float64Array();

  /** The first fact has the place 0, the next one 1. */
  add(claim: Claim): void {
    const terms = new Set(termsOf(claim.around));
    const place = this.#terms.push(terms) - 1;
    for (const term of terms) {
      const places = this.#places.get(term);
      if (places === undefined) this.#places.set(term, [place]);
      else places.push(place);
    }
  }

  /**
   * The places of at most 12 facts, the closest first, itself among them if it was added. Synonyms count less than the words.
   * Left out is what has only words of little weight in common, compared with all words of the shorter one.
   */
  closest(claim: Claim): readonly number[] {
    if (this.#common.length < this.#terms.length) this.#common = new Float64Array(2 * this.#terms.length);
    const common = this.#common;
    const met: number[] = [];
    let left = MOST_COUNTED;
    for (const { closeness, places } of this.#rarestFirst(claim)) {
      for (const place of left < places.length ? places.slice(0, left) : places) {
        if (common[place] === 0) met.push(place);
        common[place] = (common[place] ?? 0) + closeness * this.#rarity(places.length);
      }
      left = Math.max(0, left - places.length);
    }
    const own = this.#telling(new Set(termsOf(claim.around)));
    const isEnough = (place: number): boolean =>
      (common[place] ?? 0) >=
      WEIGHTS.conflicts.near * Math.min(own, this.#telling(this.#terms[place] ?? new Set()));
    const best = bestOf(met, common).filter(isEnough);
    for (const place of met) common[place] = 0;
    return best;
  }

  #rarestFirst({ around, readings }: Claim) {
    const closeness = new Map(
      [...readings].map(([term, read]) => [term, Math.max(...read.map((one) => one.closeness))]),
    );
    for (const term of termsOf(around)) closeness.set(term, 1);
    return [...closeness]
      .map(([term, close]) => ({ closeness: close, places: this.#places.get(term) ?? [] }))
      .sort((one, other) => one.places.length - other.places.length);
  }

  #rarity(having: number): number {
    return Math.log(1 + this.#terms.length / Math.max(1, having));
  }

  /** How rare the words of a fact are together. */
  #telling(terms: ReadonlySet<string>): number {
    let sum = 0;
    for (const term of terms) sum += this.#rarity(this.#places.get(term)?.length ?? 0);
    return sum;
  }
}

/** The places with the most, best first; of equals, those that come first. */
function bestOf(places: readonly number[], common: Float64Array): readonly number[] {
  const best: number[] = [];
  const at = (place: number | undefined): number => (place === undefined ? 0 : (common[place] ?? 0));
  for (const place of places) {
    if (best.length === MOST_CLOSE && at(best.at(-1)) >= at(place)) continue;
    const behind = best.findIndex((other) => at(other) < at(place));
    best.splice(behind === -1 ? best.length : behind, 0, place);
    if (best.length > MOST_CLOSE) best.pop();
  }
  return best;
}
