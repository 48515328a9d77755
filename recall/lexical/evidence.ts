/** What speaks for a unit: gathered for every posting of the query's terms first, then closely for the best of them. */
import type { Ranking } from "../ranking.ts";
import type { LexicalIndex } from "./lexical-index.ts";
import type { AnalysedQuery } from "./query.ts";
import { BODY_COUNT, IN_CATEGORY, IN_KEY, IN_TAGS, IN_TITLE, unitOf } from "./terms.ts";

/** A unit with the shares of the query it answers, each 0 to 1 (BM25's may pass 1 a little). */
export interface Evidence {
  readonly unit: number;
  /** BM25 over all fields, as a share of what one plain occurrence of every concept would give. */
  readonly bm25: number;
  /** Weight of the concepts that occur at all, as a share of the query's. */
  readonly coverage: number;
  /** How many concepts occur. */
  readonly matched: number;
}

/** Scratch rows, one per unit, kept between queries so that none is allocated while searching. */
export class Scoreboard {
  bm25 = new Float32Array(0);
  coverage = new Float32Array(0);
  matched = new Uint8Array(0);
  /** Last concept that touched the unit, so that two spellings of one concept count once. */
  lastConcept = new Uint8Array(0);
  touched: number[] = [];

  reset(units: number): void {
    if (this.bm25.length < units) {
      const length = Math.ceil(units * 1.25);
      this.bm25 = new Float32Array(length);
      this.coverage = new Float32Array(length);
      this.matched = new Uint8Array(length);
      this.lastConcept = new Uint8Array(length);
    } else {
      for (const unit of this.touched) this.#clear(unit);
    }
    this.touched = [];
  }

  #clear(unit: number): void {
    this.bm25[unit] = 0;
    this.coverage[unit] = 0;
    this.matched[unit] = 0;
    this.lastConcept[unit] = 0;
  }
}

/** Goes once over the postings of every concept. */
export function gather(board: Scoreboard, query: AnalysedQuery, index: LexicalIndex, ranking: Ranking): void {
  board.reset(index.unitEnd);
  const frequencies = frequencyTable(ranking);
  query.concepts.forEach((concept, number) => {
    const share = concept.weight / query.weight;
    for (const { term, quality } of concept.terms) {
      addPostings(board, index, ranking, frequencies, term, share * quality, number + 1);
    }
  });
}

function addPostings(
  board: Scoreboard,
  index: LexicalIndex,
  ranking: Ranking,
  frequencies: Float32Array,
  term: number,
  share: number,
  concept: number,
): void {
  const postings = index.terms.postings(term);
  const lengthStep = ranking.lengthNorm / index.meanBodyLength;
  for (let at = 0; at < postings.length; at += 1) {
    const posting = postings[at] ?? 0;
    const unit = unitOf(posting);
    if (board.matched[unit] === 0) board.touched.push(unit);
    if (board.lastConcept[unit] === concept) continue;
    board.lastConcept[unit] = concept;
    const norm = 1 - ranking.lengthNorm + lengthStep * index.bodyLength(unit);
    const frequency = frequencies[posting & 255] ?? 0;
    const gain = (frequency * (1 + ranking.saturation)) / (frequency + ranking.saturation * norm);
    board.bm25[unit] = (board.bm25[unit] ?? 0) + share * gain;
    board.coverage[unit] = (board.coverage[unit] ?? 0) + share;
    board.matched[unit] = (board.matched[unit] ?? 0) + 1;
  }
}

/** How often a term counts, for each of the 256 ways to stand in a unit. */
function frequencyTable(ranking: Ranking): Float32Array {
  const table = new Float32Array(256);
  for (let where = 0; where < 256; where += 1) {
    table[where] =
      (where & BODY_COUNT) +
      ((where & IN_KEY) > 0 ? ranking.keyWeight : 0) +
      ((where & IN_TAGS) > 0 ? ranking.tagWeight : 0) +
      ((where & IN_TITLE) > 0 ? ranking.titleWeight : 0) +
      ((where & IN_CATEGORY) > 0 ? ranking.categoryWeight : 0);
  }
  return table;
}

/** The units with the most BM25, at most `count`; order is of no meaning. */
export function bestUnits(board: Scoreboard, count: number): number[] {
  if (board.touched.length <= count) return [...board.touched];
  const scores = Float32Array.from(board.touched, (unit) => board.bm25[unit] ?? 0).sort();
  const least = scores[scores.length - count] ?? 0;
  const above = board.touched.filter((unit) => (board.bm25[unit] ?? 0) > least);
  const level = board.touched.filter((unit) => board.bm25[unit] === least);
  return [...above, ...level.slice(0, count - above.length)];
}
