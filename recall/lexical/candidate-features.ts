/** Detailed features of one unit: which query words it matches, how well, and what its neighbours add. */
import { WEIGHTS } from "../weights.ts";
import type { Concept } from "./analyse-query.ts";
import { type CandidateScores, FIELD_COUNTS } from "./candidate-scores.ts";
import type { IndexedDocument } from "./indexed-document.ts";
import type { LexicalIndex } from "./lexical-index.ts";
import { unitOf as numberOf } from "./terms.ts";

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
  /** Whether it is one of several consecutive lines. */
  readonly inThread: boolean;
  /** Whether the query gives its key, docid or path. */
  readonly isNamed: boolean;
}

type Surroundings = Pick<WordFeatures, "context" | "inThread">;

const NOTHING_AROUND: Surroundings = { context: 0, inThread: false };

/** One per query. */
export class FeatureExtractor {
  readonly #concepts: readonly Concept[];
  readonly #index: LexicalIndex;
  readonly #scores: CandidateScores;
  readonly #marks: ConceptMarks;
  readonly #known = new Map<number, number>();
  /** The matches of one unit, one slot per concept: quality of the match, and BM25's gain. */
  #qualities = new Float32Array(0);
  #gains = new Float32Array(0);
  /** The closeness of the closest synonym. */
  #synonyms = new Float32Array(0);

  constructor(
    concepts: readonly Concept[],
    index: LexicalIndex,
    scores: CandidateScores,
    marks: ConceptMarks,
  ) {
    this.#concepts = concepts;
    this.#index = index;
    this.#scores = scores;
    this.#marks = marks;
  }

  featuresOf(unit: number, document: IndexedDocument): Omit<WordFeatures, "isNamed"> {
    const own = this.#answers(unit);
    const { context, inThread } = this.#context(unit, document, own);
    let coverage = 0;
    let bm25 = 0;
    let synonyms = 0;
    let matched = 0;
    let unknown = 0;
    let unknownNames = 0;
    this.#concepts.forEach(({ share, terms, isName }, place) => {
      const quality = this.#qualities[own + place] ?? 0;
      coverage += share * quality;
      bm25 += share * (this.#gains[own + place] ?? 0);
      if (quality > 0) matched += 1;
      else synonyms += share * (this.#synonyms[own + place] ?? 0);
      if (terms.length > 0) return;
      unknown += share;
      if (isName) unknownNames += share;
    });
    const proximity = matched < 2 ? 0 : proximityOf(this.#index.bodyTerms(unit), this.#marks, this.#concepts);
    const fewWords = matched < Math.min(2, this.#concepts.length);
    return { coverage, synonyms, bm25, proximity, context, fewWords, unknown, unknownNames, inThread };
  }

  /** The offset of the unit's matches in the slabs. */
  #answers(unit: number): number {
    const known = this.#known.get(unit);
    if (known !== undefined) return known;
    const from = this.#known.size * this.#concepts.length;
    if (from + this.#concepts.length > this.#gains.length) this.#grow();
    this.#known.set(unit, from);
    const { saturation, lengthNorm } = WEIGHTS.bm25;
    const relativeLength = this.#index.bodyLength(unit) / this.#index.meanBodyLength;
    const norm = saturation * (1 - lengthNorm + lengthNorm * relativeLength);
    for (const posting of this.#index.postingsOfUnit(unit)) {
      const synonymPlace = this.#marks.synonymPlaceOf(numberOf(posting));
      if (synonymPlace >= 0) {
        const closeness = this.#marks.closenessOf(numberOf(posting));
        this.#synonyms[from + synonymPlace] = Math.max(closeness, this.#synonyms[from + synonymPlace] ?? 0);
      }
      const place = this.#marks.placeOf(numberOf(posting));
      if (place < 0) continue;
      const quality = this.#marks.qualityOf(numberOf(posting));
      const count = FIELD_COUNTS[posting & 255] ?? 0;
      const gain = (quality * count * (1 + saturation)) / (count + norm);
      if (quality > (this.#qualities[from + place] ?? 0)) this.#qualities[from + place] = quality;
      if (gain > (this.#gains[from + place] ?? 0)) this.#gains[from + place] = gain;
    }
    return from;
  }

  #grow(): void {
    const length = Math.max(512 * this.#concepts.length, 2 * this.#gains.length);
    const [qualities, gains, synonyms] = [
      new Float32Array(length),
      new Float32Array(length),
      new Float32Array(length),
    ];
    qualities.set(this.#qualities);
    gains.set(this.#gains);
    synonyms.set(this.#synonyms);
    this.#qualities = qualities;
    this.#gains = gains;
    this.#synonyms = synonyms;
  }

  #context(unit: number, document: IndexedDocument, own: number): Surroundings {
    const { context: most, decay, leastLines } = WEIGHTS.thread;
    const neighbours = this.#index.neighbours.around(document);
    if (neighbours.length === 0 && document.units.length === 1) return NOTHING_AROUND;
    const around = new Float32Array(this.#concepts.length);
    for (const passage of besides(unit, document)) this.#lend(around, passage, most);
    for (const { document: other, distance } of neighbours) {
      const best = this.#bestUnitOf(other);
      if (best !== undefined) this.#lend(around, best, most * decay ** (distance - 1));
    }
    const context = this.#concepts.reduce((sum, { share }, place) => {
      return sum + share * (1 - (this.#qualities[own + place] ?? 0)) * Math.min(most, around[place] ?? 0);
    }, 0);
    return { context, inThread: neighbours.length >= leastLines };
  }

  #lend(around: Float32Array, unit: number, weight: number): void {
    const from = this.#answers(unit);
    for (let place = 0; place < around.length; place += 1) {
      around[place] = Math.max(around[place] ?? 0, weight * (this.#gains[from + place] ?? 0));
    }
  }

  #bestUnitOf(document: IndexedDocument): number | undefined {
    let best: number | undefined;
    for (const unit of document.units) {
      if (this.#scores.sumOf(unit) > (best === undefined ? 0 : this.#scores.sumOf(best))) best = unit;
    }
    return best;
  }
}

/** The passages before and after this one in a long text. */
function besides(unit: number, { units }: IndexedDocument): readonly number[] {
  const place = units.indexOf(unit);
  return [units[place - 1], units[place + 1]].filter((other) => other !== undefined);
}

/** Maps each term of the namespace to a query word. Reused between queries and cleared after each. */
export class ConceptMarks {
  #places = new Uint8Array(0);
  #qualities = new Float32Array(0);
  #synonymPlaces = new Uint8Array(0);
  #closeness = new Float32Array(0);

  set(concepts: readonly Concept[], termEnd: number): void {
    if (this.#places.length < termEnd) {
      this.#places = new Uint8Array(Math.ceil(termEnd * 1.25));
      this.#qualities = new Float32Array(this.#places.length);
      this.#synonymPlaces = new Uint8Array(this.#places.length);
      this.#closeness = new Float32Array(this.#places.length);
    }
    concepts.forEach(({ terms, synonyms }, place) => {
      for (const { term, quality } of synonyms) {
        if (this.#synonymPlaces[term] !== 0) continue;
        this.#synonymPlaces[term] = place + 1;
        this.#closeness[term] = quality;
      }
      for (const { term, quality } of terms) {
        if (this.#places[term] !== 0) continue;
        this.#places[term] = place + 1;
        this.#qualities[term] = quality;
      }
    });
  }

  wipe(concepts: readonly Concept[]): void {
    for (const { terms, synonyms } of concepts) {
      for (const { term } of terms) this.#places[term] = 0;
      for (const { term } of synonyms) this.#synonymPlaces[term] = 0;
    }
  }

  /** -1 for a term that is not in the query. */
  placeOf(term: number): number {
    return (this.#places[term] ?? 0) - 1;
  }

  /** The first word of which it is a synonym; -1 for none. */
  synonymPlaceOf(term: number): number {
    return (this.#synonymPlaces[term] ?? 0) - 1;
  }

  closenessOf(term: number): number {
    return this.#closeness[term] ?? 0;
  }

  qualityOf(term: number): number {
    return this.#qualities[term] ?? 0;
  }
}

interface Places {
  /** The query word that a term stands for, or -1. */
  placeOf(term: number): number;
}

/**
 * Measures how closely the query's words occur together in a passage: as a phrase, near each other, or scattered.
 *
 * 0 (scattered) to 1 (in the query's order and adjacent), weighted by the words' weights.
 */
function proximityOf(body: Uint32Array, places: Places, concepts: readonly Concept[]): number {
  if (concepts.length < 2) return 0;
  const lastSeen = new Int32Array(concepts.length).fill(-1);
  const closeness = new Float32Array(concepts.length);
  for (let at = 0; at < body.length; at += 1) {
    const place = places.placeOf(body[at] ?? 0);
    if (place < 0) continue;
    lastSeen[place] = at;
    if (place > 0) note(closeness, place - 1, lastSeen, concepts);
    if (place + 1 < concepts.length) note(closeness, place, lastSeen, concepts);
  }
  return weighted(closeness, concepts);
}

/** Records the best closeness so far of the words `place` and `place + 1`. */
function note(
  closeness: Float32Array,
  place: number,
  lastSeen: Int32Array,
  concepts: readonly Concept[],
): void {
  const first = lastSeen[place] ?? -1;
  const second = lastSeen[place + 1] ?? -1;
  if (first < 0 || second < 0) return;
  const asked = (concepts[place + 1]?.position ?? 0) - (concepts[place]?.position ?? 0);
  const detour = second > first ? Math.max(0, second - first - asked) : first - second + 1;
  closeness[place] = Math.max(closeness[place] ?? 0, 1 / (1 + detour / WEIGHTS.words.halvingDetour));
}

function weighted(closeness: Float32Array, concepts: readonly Concept[]): number {
  let sum = 0;
  let total = 0;
  for (let place = 0; place + 1 < concepts.length; place += 1) {
    const weight = Math.min(concepts[place]?.share ?? 0, concepts[place + 1]?.share ?? 0);
    sum += weight * (closeness[place] ?? 0);
    total += weight;
  }
  return total === 0 ? 0 : sum / total;
}
