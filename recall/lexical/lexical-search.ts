/** Keyword search over one namespace's index: finds candidate passages and their word features. */
import type { UnixMs } from "../../engine/store/memory-store.ts";
import type { Query } from "../analysis/query.ts";
import type { Topic } from "../topic.ts";
import { analyseQuery, conceptsOf } from "./analyse-query.ts";
import {
  CandidateScores,
  ConceptMarks,
  featureExtractor,
  Matches,
  type WordFeatures,
} from "./candidate-features.ts";
import type { IndexedDocument, Passage } from "./indexed-document.ts";
import type { LexicalIndex } from "./lexical-index.ts";

/** How many passages get a closer look. */
const LOOKED_AT = 150;
/** Neighbours of this many of the best get a closer look too, since their context may lift them above others. */
const PULLING = 50;

export interface Candidate {
  readonly unit: number;
  readonly document: IndexedDocument;
  readonly passage: Passage;
  readonly features: WordFeatures;
}

/** Holds scratch memory, so it runs one search at a time; a search is synchronous. */
export class LexicalSearch {
  readonly #scores = new CandidateScores();
  readonly #scratch = { scores: this.#scores, marks: new ConceptMarks(), matches: new Matches() };

  /** The passages that match any word, and those that are named; unordered, none expired. */
  candidates(
    query: Query,
    index: LexicalIndex,
    now: UnixMs,
    others: readonly number[] = [],
  ): readonly Candidate[] {
    const concepts = index.documentCount === 0 ? [] : analyseQuery(query, index);
    if (concepts.length === 0) return [];
    this.#scores.fill(concepts, index);
    this.#scratch.marks.set(concepts, index.terms.end);
    const featuresOf = featureExtractor(concepts, index, this.#scratch);
    const isNamed = namedBy(query.text);
    const candidates: Candidate[] = [];
    const units = this.#units(index);
    for (const unit of others) units.add(unit);
    for (const unit of units) {
      const document = index.documentOf(unit);
      const passage = index.passageOf(unit);
      if (document === undefined || passage === undefined || document.expiresAt <= now) continue;
      const features = featuresOf(unit, document, isNamed(document));
      candidates.push({ unit, document, passage, features });
    }
    this.#scratch.marks.wipe(concepts);
    return candidates;
  }

  /** As many passages as asked for with the highest sums of BM25 over the topic's words, and those that are named. */
  closest(
    topic: Topic,
    index: LexicalIndex,
    count: number,
    others: readonly number[],
  ): ReadonlyMap<number, number> {
    this.#scores.fill(index.documentCount === 0 ? [] : conceptsOf(topic, index), index);
    const units = [...this.#scores.best(count), ...others];
    return new Map(units.map((unit) => [unit, this.#scores.sumOf(unit)]));
  }

  #units(index: LexicalIndex): Set<number> {
    const best = this.#scores.best(LOOKED_AT);
    const units = new Set(best);
    for (const unit of this.#scores.best(PULLING, best)) {
      const document = index.documentOf(unit);
      if (document === undefined) continue;
      for (const { document: other } of index.neighbours.around(document)) {
        for (const near of other.units) if (this.#scores.sumOf(near) > 0) units.add(near);
      }
    }
    return units;
  }
}

const AROUND = /^[("'`<]+|[)"'`>.,;:!?]+$/gu;
/** A compound such as "projects/atlas/deploy": a plain word of a sentence does not count as a key, even when a key equals it. */
const JOINED = /\p{L}[^\p{L}]+\p{L}/u;

/** By key, docid or path, in any case: as the whole question, or as a compound word of it. */
function namedBy(question: string): (document: IndexedDocument) => boolean {
  const words = question.split(/\s+/).map((word) => word.replace(AROUND, ""));
  const written = [question.trim(), ...words.filter((word) => JOINED.test(word))];
  const names = new Set(written.map((name) => name.toLowerCase()));
  const lengths = new Set([...names].map(({ length }) => length));
  // Only "İ" has another length when lower-cased.
  const areOfOtherLength = [...names].some((name) => name.includes("i\u0307"));
  // Lower-casing all names of all candidates takes longer than finding them.
  const has = (name: string) =>
    (lengths.has(name.length) || areOfOtherLength) && names.has(name.toLowerCase());
  return ({ key, docid, path }) => has(key) || has(docid) || has(path);
}
