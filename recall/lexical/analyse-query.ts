/** Turns a query into weighted concepts: the terms of this namespace that may answer each word. */
import { otherTermOf } from "../analysis/english.ts";
import type { Query, WordRole } from "../analysis/query.ts";
import { hasUnspaced, pairsAndSingles, umlautSpellings, type Word } from "../analysis/words.ts";
import { isTelling, type Topic } from "../topic.ts";
import { WEIGHTS } from "../weights.ts";
import type { LexicalIndex } from "./lexical-index.ts";
import { synonymsOf } from "./synonyms.ts";
import type { Terms } from "./terms.ts";

/** Longer queries are truncated: they are pasted text, and its beginning says what it is about. */
const MOST_CONCEPTS = 48;
/** Only the first few unknown words are looked up by walking the dictionary. */
const MOST_UNKNOWN_LOOKED_UP = 4;

interface ConceptTerm {
  readonly term: number;
  /** How well the term matches the word, 0 to 1. */
  readonly quality: number;
}

export interface WeightedTerms {
  /** Empty when the word is not in the namespace. */
  readonly terms: readonly ConceptTerm[];
  /** Synonyms: weaker evidence, without effect on the share. */
  readonly synonyms: readonly ConceptTerm[];
  /** Share of the query's weight: rarity times the word's own weight. */
  readonly share: number;
}

export interface Concept extends WeightedTerms {
  /** Word position in the query. */
  readonly position: number;
  /** A name, number or identifier: a document about another one is no answer. */
  readonly isName: boolean;
  readonly isTelling: boolean;
}

interface QueryWord extends WordRole {
  readonly spellings: readonly string[];
  /** Used when the whole name is not in the namespace. */
  readonly parts: readonly string[];
}

/** The concepts of a query, in order; empty when it has no words. */
export function analyseQuery(query: Query, index: LexicalIndex): readonly Concept[] {
  const words = queryWords(query, index).flatMap((word) => splitUnknownName(word, index));
  let lookUps = MOST_UNKNOWN_LOOKED_UP;
  const weighed = words.map((word) => {
    const date = numbersOf(word.dateTerm === undefined ? [] : [word.dateTerm], index);
    const known = [
      ...numbersOf(word.spellings, index),
      ...date.map((one) => ({ ...one, quality: WEIGHTS.words.date })),
    ];
    const isLookedUp = known.length === 0 && lookUps-- > 0;
    const terms = isLookedUp ? relatedTerms(word, index.terms) : known;
    const weight = word.commonness * rarity(terms, index);
    const synonyms = word.isName ? [] : synonymTerms(word.spellings, index); // names have none
    return { word, terms, synonyms, weight };
  });
  const kept = distinct(weighed).slice(0, MOST_CONCEPTS);
  const hasTelling = kept.some(({ word }) => word.isTelling);
  return shared(kept, hasTelling).map(({ word: { position, isName, isTelling }, terms, synonyms, share }) => {
    return { terms, synonyms, share, position, isName, isTelling };
  });
}

/** The same for a topic, as topics are compared with each other: by its words and their synonyms. */
export function conceptsOf(topic: Topic, index: LexicalIndex): readonly WeightedTerms[] {
  const weighed = topic.slice(0, MOST_CONCEPTS).map((word) => {
    // A topic has a whole run of a script without spaces, and an index its pairs.
    const indexed = word.terms.flatMap((term) => (hasUnspaced(term) ? termsOfRun(term) : term));
    const terms = numbersOf(indexed, index);
    const synonyms = synonymTerms(word.terms, index);
    return { terms, synonyms, weight: word.weight * rarity(terms, index) };
  });
  return shared(weighed, topic.some(isTelling));
}

function termsOfRun(run: string): readonly string[] {
  const { pairs, singles } = pairsAndSingles(run);
  return pairs.length > 0 ? pairs : singles;
}

function shared<One extends { readonly weight: number }>(
  weighed: readonly One[],
  hasTelling: boolean,
): readonly (One & { readonly share: number })[] {
  const sum = weighed.reduce((total, { weight }) => total + weight, 0);
  if (sum === 0) return [];
  // Everyday words alone, as in "where do I live", never make a whole question.
  const total = hasTelling ? sum : sum / WEIGHTS.words.everyday;
  return weighed.map((one) => ({ ...one, share: one.weight / total }));
}

function queryWords({ words, roles }: Query, index: LexicalIndex): readonly QueryWord[] {
  const compounds = words.map((word, at) => compoundOf(word, words[at + 1], index));
  const all = words.flatMap((word, at) => {
    const role = roles[at];
    if (role === undefined) return [];
    if (word.unspaced) return pairsOf(word, role);
    // A compound of two words is a form of both.
    const beside = [compounds[at - 1], compounds[at]].filter((term) => term !== undefined);
    const forms = [word.text, ...umlautSpellings(word.raw)];
    const others = forms.map(otherTermOf).filter((term) => term !== undefined);
    const spellings = [...forms.map((form) => index.termOf(form)), ...beside, ...others];
    return [{ ...role, spellings, parts: word.parts.map((part) => index.termOf(part)) }];
  });
  const content = all.filter((word) => word.commonness > 0);
  return content.length > 0 ? content : all.map((word) => ({ ...word, commonness: 1, isTelling: true }));
}

function pairsOf(word: Word, role: WordRole): readonly QueryWord[] {
  const terms = termsOfRun(word.text);
  const own = { ...role, commonness: role.commonness / terms.length, isName: false, dateTerm: undefined };
  return terms.map((term) => ({ ...own, spellings: [term], parts: [] }));
}

/** "data base" may be stored as "database", and "e-mail" as "email". */
function compoundOf(first: Word, second: Word | undefined, index: LexicalIndex): string | undefined {
  if (second === undefined || first.unspaced || second.unspaced) return undefined;
  const compound = first.text + second.text;
  return /^\p{L}{4,}$/u.test(compound) ? index.termOf(compound) : undefined;
}

/** getUserProfile is searched by its parts when the whole name is not in the namespace. */
function splitUnknownName(word: QueryWord, index: LexicalIndex): readonly QueryWord[] {
  const isKnown = word.spellings.some((spelling) => index.terms.numberOf(spelling) !== undefined);
  if (isKnown || word.parts.length < 2) return [word];
  return word.parts.map((part) => ({ ...word, spellings: [part], parts: [] }));
}

function numbersOf(terms: readonly string[], index: LexicalIndex): readonly ConceptTerm[] {
  const numbers = terms.flatMap((term) => index.terms.numberOf(term) ?? []);
  return [...new Set(numbers)].map((term) => ({ term, quality: 1 }));
}

function synonymTerms(terms: readonly string[], index: LexicalIndex): readonly ConceptTerm[] {
  const synonyms = new Map(terms.flatMap((term) => [...synonymsOf(term)]));
  return [...synonyms].flatMap(([synonym, { closeness: quality }]) => {
    const term = index.terms.numberOf(synonym);
    return term === undefined ? [] : [{ term, quality }];
  });
}

/** BM25's inverse document frequency of the most frequent term; an unknown word counts as found once. */
function rarity(terms: readonly ConceptTerm[], index: LexicalIndex): number {
  const documents = Math.max(1, ...terms.map(({ term }) => index.terms.documentCount(term)));
  return Math.log(1 + (index.documentCount - documents + 0.5) / (documents + 0.5));
}

/** Repeated words count once. Unknown words stay, since they lower a candidate's coverage. */
function distinct<One extends { readonly word: QueryWord; readonly terms: readonly ConceptTerm[] }>(
  words: readonly One[],
): readonly One[] {
  const seen = new Set<number | string>();
  return words.filter(({ word, terms }) => {
    const identity = terms[0]?.term ?? word.spellings[0] ?? "";
    if (seen.has(identity)) return false;
    seen.add(identity);
    return true;
  });
}

const MOST_RELATED = 8;

/** Other forms of the stem, and typing errors, of a word that is not in the namespace, most frequent first. Their first three letters agree. */
function relatedTerms(
  { spellings: [unknown = ""], isName }: QueryWord,
  terms: Terms,
): readonly ConceptTerm[] {
  const related: number[] = [];
  for (const [name, number] of terms.beginningLike(unknown)) {
    const isTypo = !isName && unknown.length >= WEIGHTS.words.shortestTypo && isOneSlip(unknown, name);
    if (isTypo || isFamily(unknown, name)) related.push(number);
  }
  return related
    .sort((left, right) => terms.documentCount(right) - terms.documentCount(left) || left - right)
    .slice(0, MOST_RELATED)
    .map((term) => ({ term, quality: WEIGHTS.words.related }));
}

function isFamily(left: string, right: string): boolean {
  const longest = Math.max(left.length, right.length);
  const { sharedLetters, sharedShare } = WEIGHTS.words;
  const needed = Math.max(sharedLetters, Math.ceil(sharedShare * longest));
  return Math.min(left.length, right.length) >= needed && left.slice(0, needed) === right.slice(0, needed);
}

/** One letter inserted, deleted or replaced, or two neighbours swapped. */
function isOneSlip(left: string, right: string): boolean {
  if (Math.abs(left.length - right.length) > 1) return false;
  let start = 0;
  while (start < left.length && left[start] === right[start]) start += 1;
  let end = 0;
  const most = Math.min(left.length, right.length) - start;
  while (end < most && left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
  const restLeft = left.slice(start, left.length - end);
  const restRight = right.slice(start, right.length - end);
  if (restLeft.length <= 1 && restRight.length <= 1) return true;
  return (
    restLeft.length === 2 &&
    restRight.length === 2 &&
    restLeft[0] === restRight[1] &&
    restLeft[1] === restRight[0]
  );
}
