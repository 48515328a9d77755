/** From what was asked to concepts with weights: which terms of this namespace may answer each word of the query. */
import { commonnessOf } from "../analysis/commonness.ts";
import { termOf } from "../analysis/english.ts";
import { umlautSpellings } from "../analysis/fold.ts";
import { dictionaryWords, pairsAndSingles } from "../analysis/scripts.ts";
import { type Word, wordsOf } from "../analysis/words.ts";
import type { LexicalIndex } from "./lexical-index.ts";

/** More of a query than this is not read: it is a pasted text, and its beginning says what it is about. */
const LONGEST_QUERY = 10_000;
const MOST_CONCEPTS = 48;
/** Rarity is judged as if a namespace had at least this many entries, so that small ones behave like grown ones. */
const LEAST_ENTRIES = 200;

export interface Concept {
  /** Numbers of the terms that stand for it, and how well each does, 0 to 1. Empty when the namespace has none. */
  readonly terms: readonly { readonly term: number; readonly quality: number }[];
  /** Rarity times how much the word says. */
  readonly weight: number;
  /** Word position in the query. */
  readonly position: number;
}

export interface AnalysedQuery {
  readonly concepts: readonly Concept[];
  /** Sum of the concepts' weights. */
  readonly weight: number;
}

interface QueryWord {
  readonly spellings: readonly string[];
  readonly share: number;
  readonly position: number;
}

export function analyseQuery(query: string, index: LexicalIndex): AnalysedQuery {
  const words = queryWords(query.slice(0, LONGEST_QUERY));
  const concepts = distinct(words.map((word) => conceptOf(word, index))).slice(0, MOST_CONCEPTS);
  return { concepts, weight: concepts.reduce((sum, concept) => sum + concept.weight, 0) };
}

function queryWords(query: string): readonly QueryWord[] {
  const words = wordsOf(query).flatMap(unspacedWords);
  const shares = commonnessOf(words.map((word) => word.text));
  const content = words.flatMap((word, position) => termsOfWord(word, shares[position] ?? 0, position));
  return content.some((word) => word.share > 0)
    ? content.filter((word) => word.share > 0)
    : content.map(asContent);
}

/** A query of nothing but common words means them. */
function asContent(word: QueryWord): QueryWord {
  return { ...word, share: 1 };
}

function unspacedWords(word: Word): readonly Word[] {
  if (!word.unspaced) return [word];
  return dictionaryWords(word.text).map((text) => ({ ...word, text, raw: text }));
}

function termsOfWord(word: Word, share: number, position: number): readonly QueryWord[] {
  if (!word.unspaced) {
    const spellings = [word.text, ...umlautSpellings(word.raw)];
    return [{ spellings: spellings.map(termOf), share, position }];
  }
  const { pairs, singles } = pairsAndSingles(word.text);
  const terms = pairs.length > 0 ? pairs : singles;
  return terms.map((term) => ({ spellings: [term], share: share / terms.length, position }));
}

function conceptOf(word: QueryWord, index: LexicalIndex): Concept {
  const terms = word.spellings.flatMap((spelling) => {
    const term = index.terms.numberOf(spelling);
    return term === undefined ? [] : [{ term, quality: 1 }];
  });
  const count = Math.max(0, ...terms.map(({ term }) => index.terms.documentCount(term)));
  return { terms, weight: word.share * rarity(count, index.documentCount), position: word.position };
}

/** BM25's inverse document frequency. */
function rarity(documents: number, all: number): number {
  const total = Math.max(all, LEAST_ENTRIES);
  return Math.log(1 + (total - documents + 0.5) / (documents + 0.5));
}

/** A word asked twice counts once; a word the namespace does not know stays, since it says what is missing. */
function distinct(concepts: readonly Concept[]): readonly Concept[] {
  const seen = new Set<number>();
  return concepts.filter((concept) => {
    const term = concept.terms[0]?.term;
    if (term === undefined) return true;
    if (seen.has(term)) return false;
    seen.add(term);
    return true;
  });
}
