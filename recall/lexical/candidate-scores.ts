/** First pass: walks the postings of the query's terms once and selects the units for a closer look. */
import { WEIGHTS } from "../weights.ts";
import type { WeightedTerms } from "./analyse-query.ts";
import type { LexicalIndex } from "./lexical-index.ts";
import { BODY_COUNT, IN_CATEGORY, IN_KEY, IN_TAGS, IN_TITLE, unitOf } from "./terms.ts";

/** Words in more than this share of the units are skipped when rarer ones exist; the second pass still scores them. */
const COMMON_SHARE = 0.25;
/** In smaller namespaces every word is walked. */
const SMALL = 5000;
const BUCKETS = 1024;

/** Sums per unit, reused between queries to avoid allocations. */
export class CandidateScores {
  #sums = new Float32Array(0);
  #lastConcepts = new Uint8Array(0);
  #touched = new Uint32Array(0);
  #touchedCount = 0;

  /** BM25 over all fields, as a share of the query; 0 when no walked word occurs in the unit. */
  sumOf(unit: number): number {
    return this.#sums[unit] ?? 0;
  }

  /** Clears the last query's sums and computes new ones. */
  fill(concepts: readonly WeightedTerms[], index: LexicalIndex): void {
    this.#reset(index.unitEnd);
    for (const number of walked(concepts, index)) {
      const concept = concepts[number];
      const share = concept?.share ?? 0;
      for (const { term, quality } of concept?.terms ?? [])
        this.#walk(term, share * quality, number + 1, index);
      const { related } = WEIGHTS.words;
      for (const { term, quality } of concept?.synonyms ?? [])
        this.#walk(term, share * related * quality, number + 1, index);
    }
  }

  /**
   * `count` units with the highest sums, in no particular order.
   *
   * @param among the result of a call with a higher count. Default: all
   */
  best(count: number, among?: readonly number[]): readonly number[] {
    const touched = among ?? this.#touched.subarray(0, this.#touchedCount);
    if (touched.length <= count) return [...touched];
    const least = this.#leastOfBest(touched, count);
    const best: number[] = [];
    const level: number[] = [];
    for (const unit of touched) {
      const bucket = bucketOf(this.sumOf(unit));
      if (bucket > least) best.push(unit);
      else if (bucket === least) level.push(unit);
    }
    level.sort((left, right) => this.sumOf(right) - this.sumOf(left) || left - right);
    return [...best, ...level.slice(0, count - best.length)];
  }

  #leastOfBest(touched: ArrayLike<number> & Iterable<number>, count: number): number {
    const sizes = new Uint32Array(BUCKETS);
    for (const unit of touched) {
      const bucket = bucketOf(this.sumOf(unit));
      sizes[bucket] = (sizes[bucket] ?? 0) + 1;
    }
    let above = 0;
    for (let bucket = BUCKETS - 1; bucket > 0; bucket -= 1) {
      above += sizes[bucket] ?? 0;
      if (above >= count) return bucket;
    }
    return 0;
  }

  #reset(units: number): void {
    if (this.#sums.length < units) {
      const length = Math.ceil(units * 1.25);
      this.#sums = new Float32Array(length);
      this.#lastConcepts = new Uint8Array(length);
      this.#touched = new Uint32Array(length);
    } else {
      for (const unit of this.#touched.subarray(0, this.#touchedCount)) {
        this.#sums[unit] = 0;
        this.#lastConcepts[unit] = 0;
      }
    }
    this.#touchedCount = 0;
  }

  #walk(term: number, share: number, concept: number, index: LexicalIndex): void {
    const { saturation, lengthNorm: norm } = WEIGHTS.bm25;
    const sums = this.#sums;
    const lastConcepts = this.#lastConcepts;
    const lengths = index.bodyLengths;
    const fixedNorm = saturation * (1 - norm);
    const lengthNorm = (saturation * norm) / index.meanBodyLength;
    const most = share * (1 + saturation);
    for (const posting of index.terms.postings(term)) {
      const unit = unitOf(posting);
      const last = lastConcepts[unit];
      if (last === concept) continue; // another spelling of the same word
      if (last === 0) this.#touched[this.#touchedCount++] = unit;
      lastConcepts[unit] = concept;
      const count = FIELD_COUNTS[posting & 255] ?? 0;
      sums[unit] =
        (sums[unit] ?? 0) + (most * count) / (count + fixedNorm + lengthNorm * (lengths[unit] ?? 0));
    }
  }
}

function bucketOf(sum: number): number {
  return Math.min(BUCKETS - 1, Math.floor(sum * (BUCKETS / 2)));
}

/** Indexes of the concepts to walk. */
function walked(concepts: readonly WeightedTerms[], index: LexicalIndex): readonly number[] {
  const sizes = concepts.map((concept) => sizeOf(concept, index));
  const all = [...sizes.keys()].filter((number) => (sizes[number] ?? 0) > 0);
  if (index.unitEnd < SMALL) return all;
  const rare = all.filter((number) => (sizes[number] ?? 0) <= COMMON_SHARE * index.unitEnd);
  return rare.length > 0 ? rare : all;
}

function sizeOf({ terms, synonyms }: WeightedTerms, index: LexicalIndex): number {
  let size = 0;
  for (const { term } of terms) size += index.terms.documentCount(term);
  for (const { term } of synonyms) size += index.terms.documentCount(term);
  return size;
}

/** How much an occurrence counts, for each of the 256 field combinations. */
export const FIELD_COUNTS = Float32Array.from({ length: 256 }, (_, where) => {
  const short = ((where & IN_KEY) > 0 ? 1 : 0) + ((where & IN_TAGS) > 0 ? 1 : 0);
  const less = ((where & IN_TITLE) > 0 ? 1 : 0) + ((where & IN_CATEGORY) > 0 ? 1 : 0);
  return (where & BODY_COUNT) + short + WEIGHTS.bm25.lessField * less;
});
