/**
 * What words tell of each unit, in two passes: one walks the postings of the query's terms and sums BM25, to choose the units for a
 * closer look; the other tells which words a unit matches, how well, and what its neighbours add.
 */
import { WEIGHTS } from "../weights.ts";
import type { Concept, WeightedTerms } from "./analyse-query.ts";
import type { IndexedDocument } from "./indexed-document.ts";
import type { LexicalIndex } from "./lexical-index.ts";
import { FIELD, unitOf as numberOf, unitOf } from "./terms.ts";

/** Features from words; shares are of the query's weight. */
export interface WordFeatures {
  /** Share of the words that occur in it. */
  readonly coverage: number;
  /** Share of the words that are missing but have a synonym in it, by its closeness (recall/lexical/synonyms.ts). */
  readonly synonyms: number;
  /** BM25 over all fields: 1 when each word occurs once in a text of average length. */
  readonly bm25: number;
  /** How closely the words follow each other as in the query, 0 to 1. */
  readonly proximity: number;
  /** Share that only its neighbours match, decreasing with distance. */
  readonly context: number;
  /** Whether it matches none of the words, or one of several. */
  readonly fewWords: boolean;
  /** Share of the words that are not in the namespace; and of those that are names and numbers. */
  readonly unknown: number;
  readonly unknownNames: number;
  /** Whether it has every word of the query, everyday ones aside, as written. */
  readonly hasAll: boolean;
  /** Whether it is one of several consecutive lines. */
  readonly inThread: boolean;
  /** Whether the query gives its key, docid or path. */
  readonly isNamed: boolean;
}

/** Reused between queries, to avoid allocations. */
type Scratch = Readonly<{ scores: CandidateScores; marks: ConceptMarks; matches: Matches }>;

/** For one query, whose concepts are marked and whose candidates are scored. */
export function featureExtractor(
  concepts: readonly Concept[],
  index: LexicalIndex,
  { scores, marks, matches }: Scratch,
): (unit: number, document: IndexedDocument, isNamed: boolean) => WordFeatures {
  const { saturation, lengthNorm } = WEIGHTS.bm25;
  const known = new Map<number, number>();
  const proximityOf = proximityIn(concepts, marks);
  matches.wipe();

  /** Where the unit's matches begin. */
  const answersOf = (unit: number): number => {
    const before = known.get(unit);
    if (before !== undefined) return before;
    const from = matches.take(concepts.length);
    known.set(unit, from);
    const relativeLength = index.bodyLength(unit) / index.meanBodyLength;
    const norm = saturation * (1 - lengthNorm + lengthNorm * relativeLength);
    for (const posting of index.postingsOfUnit(unit))
      if (marks.has(numberOf(posting))) match(from, posting, norm);
    return from;
  };

  const match = (from: number, posting: number, norm: number): void => {
    const term = numberOf(posting);
    const { qualities, gains, synonyms } = matches;
    const synonym = from + marks.synonymPlaceOf(term);
    if (synonym >= from) synonyms[synonym] = Math.max(marks.closenessOf(term), synonyms[synonym] ?? 0);
    const own = from + marks.placeOf(term);
    if (own < from) return;
    const quality = marks.qualityOf(term);
    const count = FIELD_COUNTS[posting & 255] ?? 0;
    const gain = (quality * count * (1 + saturation)) / (count + norm);
    if (quality > (qualities[own] ?? 0)) qualities[own] = quality;
    if (gain > (gains[own] ?? 0)) gains[own] = gain;
  };

  const bestUnitOf = ({ units }: IndexedDocument): number | undefined => {
    let best: number | undefined;
    for (const unit of units)
      if (scores.sumOf(unit) > (best === undefined ? 0 : scores.sumOf(best))) best = unit;
    return best;
  };

  const surroundingsOf = (unit: number, document: IndexedDocument, own: number) => {
    const { context: most, decay, leastLines } = WEIGHTS.thread;
    const neighbours = index.neighbours.around(document);
    if (neighbours.length === 0 && document.units.length === 1) return { context: 0, inThread: false };
    const around = new Float32Array(concepts.length);
    const lend = (other: number, weight: number) => {
      const from = answersOf(other);
      for (let place = 0; place < around.length; place += 1)
        around[place] = Math.max(around[place] ?? 0, weight * (matches.gains[from + place] ?? 0));
    };
    const place = document.units.indexOf(unit);
    for (const beside of [document.units[place - 1], document.units[place + 1]])
      if (beside !== undefined) lend(beside, most);
    for (const { document: other, distance } of neighbours) {
      const best = bestUnitOf(other);
      if (best !== undefined) lend(best, most * decay ** (distance - 1));
    }
    const { qualities } = matches;
    const context = concepts.reduce((sum, { share }, place) => {
      return sum + share * (1 - (qualities[own + place] ?? 0)) * Math.min(most, around[place] ?? 0);
    }, 0);
    return { context, inThread: neighbours.length >= leastLines };
  };

  return (unit, document, isNamed) => {
    const own = answersOf(unit);
    const { context, inThread } = surroundingsOf(unit, document, own);
    const { qualities, gains, synonyms: closest } = matches;
    let [coverage, bm25, synonyms, matched, unknown, unknownNames] = [0, 0, 0, 0, 0, 0];
    let hasAll = true;
    concepts.forEach(({ share, terms, isName, isTelling }, place) => {
      const quality = qualities[own + place] ?? 0;
      if (isTelling && quality < 1) hasAll = false;
      coverage += share * quality;
      bm25 += share * (gains[own + place] ?? 0);
      if (quality > 0) matched += 1;
      else synonyms += share * (closest[own + place] ?? 0);
      if (terms.length > 0) return;
      unknown += share;
      if (isName) unknownNames += share;
    });
    const proximity = matched < 2 ? 0 : proximityOf(index.bodyTerms(unit));
    const fewWords = matched < Math.min(2, concepts.length);
    const found = { coverage, synonyms, bm25, proximity, context, fewWords };
    return { ...found, unknown, unknownNames, hasAll, inThread, isNamed };
  };
}

/** The matches of the units of a query, with a place for each of its words. Reused between queries. */
export class Matches {
  /** How well the word itself matches, and BM25's gain. */
  qualities = new Float32Array(0);
  gains = new Float32Array(0);
  /** The closeness of the closest synonym. */
  synonyms = new Float32Array(0);
  #end = 0;

  wipe(): void {
    for (const column of [this.qualities, this.gains, this.synonyms]) column.fill(0, 0, this.#end);
    this.#end = 0;
  }

  /** Where so many new places begin. */
  take(places: number): number {
    const from = this.#end;
    this.#end += places;
    if (this.#end > this.gains.length) {
      const length = Math.max(FIRST_MATCHES, 2 * this.#end);
      this.qualities = grown(this.qualities, length);
      this.gains = grown(this.gains, length);
      this.synonyms = grown(this.synonyms, length);
    }
    return from;
  }
}

const FIRST_MATCHES = 2_048;

function grown(column: Float32Array<ArrayBuffer>, length: number): Float32Array<ArrayBuffer> {
  const longer = new Float32Array(length);
  longer.set(column);
  return longer;
}

const PLACE_BITS = 8;
const PLACE = 2 ** PLACE_BITS - 1;

/** Maps each term of the namespace to a query word. Reused between queries and cleared after each. */
export class ConceptMarks {
  /** One more than the place; in the high byte, of which it is a synonym. One access tells that most terms are neither. */
  #places = new Uint16Array(0);
  #qualities = new Float32Array(0);
  #closeness = new Float32Array(0);

  set(concepts: readonly Concept[], termEnd: number): void {
    if (this.#places.length < termEnd) {
      this.#places = new Uint16Array(Math.ceil(termEnd * 1.25));
      this.#qualities = new Float32Array(this.#places.length);
      this.#closeness = new Float32Array(this.#places.length);
    }
    concepts.forEach(({ terms, synonyms }, place) => {
      for (const { term, quality } of synonyms) {
        if (this.synonymPlaceOf(term) >= 0) continue;
        this.#places[term] = (this.#places[term] ?? 0) | ((place + 1) << PLACE_BITS);
        this.#closeness[term] = quality;
      }
      for (const { term, quality } of terms) {
        if (this.placeOf(term) >= 0) continue;
        this.#places[term] = (this.#places[term] ?? 0) | (place + 1);
        this.#qualities[term] = quality;
      }
    });
  }

  wipe(concepts: readonly Concept[]): void {
    for (const { terms, synonyms } of concepts) {
      for (const { term } of terms) this.#places[term] = 0;
      for (const { term } of synonyms) this.#places[term] = 0;
    }
  }

  /** Whether a term is in the query, or a synonym of one that is. */
  has(term: number): boolean {
    return this.#places[term] !== 0;
  }

  /** -1 for a term that is not in the query. */
  placeOf(term: number): number {
    return ((this.#places[term] ?? 0) & PLACE) - 1;
  }

  /** The first word of which it is a synonym; -1 for none. */
  synonymPlaceOf(term: number): number {
    return ((this.#places[term] ?? 0) >>> PLACE_BITS) - 1;
  }

  closenessOf(term: number): number {
    return this.#closeness[term] ?? 0;
  }

  qualityOf(term: number): number {
    return this.#qualities[term] ?? 0;
  }
}

/**
 * How closely the query's words occur together in a passage, weighted by the words' weights: 0 (scattered) to 1 (adjacent and in the
 * query's order). One per query, with memory that is reused for the next passage.
 */
function proximityIn(concepts: readonly Concept[], marks: ConceptMarks): (body: Uint32Array) => number {
  const weights = concepts.slice(1).map(({ share }, place) => Math.min(concepts[place]?.share ?? 0, share));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const lastSeen = new Int32Array(concepts.length);
  const closeness = new Float32Array(concepts.length);
  /** Records the best closeness so far of the words `place` and `place + 1`. */
  const note = (place: number): void => {
    const [first, second] = [lastSeen[place] ?? -1, lastSeen[place + 1] ?? -1];
    if (first < 0 || second < 0) return;
    const asked = (concepts[place + 1]?.position ?? 0) - (concepts[place]?.position ?? 0);
    const detour = second > first ? Math.max(0, second - first - asked) : first - second + 1;
    closeness[place] = Math.max(closeness[place] ?? 0, 1 / (1 + detour / WEIGHTS.words.halvingDetour));
  };
  return (body) => {
    if (total === 0) return 0;
    lastSeen.fill(-1);
    closeness.fill(0);
    for (let at = 0; at < body.length; at += 1) {
      const place = marks.placeOf(body[at] ?? 0);
      if (place < 0) continue;
      lastSeen[place] = at;
      if (place > 0) note(place - 1);
      if (place < weights.length) note(place);
    }
    return weights.reduce((sum, weight, place) => sum + weight * (closeness[place] ?? 0), 0) / total;
  };
}

/** Words in more than this share of the units are skipped when rarer ones exist; the second pass still scores them. */
const COMMON_SHARE = 0.25;
/** In smaller namespaces every word is walked. */
const SMALL = 5000;
const BUCKETS = 1024;

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

  /** So many units with the highest sums, in no particular order; `among` the result of a call for more, if given. */
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

function walked(concepts: readonly WeightedTerms[], index: LexicalIndex): readonly number[] {
  const sizes = concepts.map(({ terms, synonyms }) =>
    [...terms, ...synonyms].reduce((sum, { term }) => sum + index.terms.documentCount(term), 0),
  );
  const all = [...sizes.keys()].filter((number) => (sizes[number] ?? 0) > 0);
  if (index.unitEnd < SMALL) return all;
  const rare = all.filter((number) => (sizes[number] ?? 0) <= COMMON_SHARE * index.unitEnd);
  return rare.length > 0 ? rare : all;
}

/** How much an occurrence counts, for each of the 256 field combinations. */
export const FIELD_COUNTS = Float32Array.from({ length: 256 }, (_, where) => {
  const short = ((where & FIELD.key) > 0 ? 1 : 0) + ((where & FIELD.tags) > 0 ? 1 : 0);
  const less = ((where & FIELD.title) > 0 ? 1 : 0) + ((where & FIELD.category) > 0 ? 1 : 0);
  return (where & FIELD.bodyCount) + short + WEIGHTS.bm25.lessField * less;
});
