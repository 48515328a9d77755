/** Excerpts of a passage around the query's words: enough to tell whether the rest is worth reading. */
import { ANSWER_LIMITS } from "../engine/answer-limits.ts";
import type { Query } from "./analysis/query.ts";
import { TextAnalyser } from "./analysis/terms-of-text.ts";
import { placedRunsOf } from "./analysis/words.ts";
import { analyseQuery } from "./lexical/analyse-query.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import { countLines, type Passage, wholeCharacters } from "./lexical/passages.ts";

const LONGEST_EXCERPT = ANSWER_LIMITS.possibleExcerptCharacters;
/** Some text before a matching word helps to understand it. */
const BEFORE = 30;
/** The beginning of a sentence or a line. */
const BEGINNING = /(?<=[.!?]\s+|\n\s*)\S/gu;

/** For the passages of one query. A text that fits is returned whole. */
export function excerptFor(
  query: Query,
  index: LexicalIndex,
): (content: string, passage: Passage) => Passage {
  const asked = askedTerms(query, index);
  return (content, passage) => {
    if (passage.end - passage.start <= LONGEST_EXCERPT) return passage;
    const text = content.slice(passage.start, passage.end);
    const [from, to] = bestWindow(text, placesOf(text, asked, index));
    const start = passage.start + from;
    const startLine = passage.startLine + countLines(content, passage.start, start);
    const end = passage.start + to;
    return { start, end, startLine, endLine: startLine + countLines(content, start, end) };
  };
}

/** A query word for a term: its position among the words, and its share of the query. */
interface AskedWord {
  readonly word: number;
  readonly share: number;
}

interface Place extends AskedWord {
  readonly at: number;
}

function askedTerms(query: Query, index: LexicalIndex): ReadonlyMap<number, AskedWord> {
  const asked = new Map<number, AskedWord>();
  for (const [word, { terms, synonyms, share }] of analyseQuery(query, index).entries()) {
    for (const { term } of synonyms) if (!asked.has(term)) asked.set(term, { word, share });
    for (const { term } of terms) asked.set(term, { word, share });
  }
  return asked;
}

function placesOf(
  text: string,
  asked: ReadonlyMap<number, AskedWord>,
  index: LexicalIndex,
): readonly Place[] {
  const analyser = new TextAnalyser((term) => asked.get(index.terms.numberOf(term) ?? -1));
  return placedRunsOf(text).flatMap(({ run, at }) => {
    const { ordered, beside } = analyser.termsOf(run);
    return [...ordered, ...beside].flatMap((word) => (word === undefined ? [] : [{ at, ...word }]));
  });
}

/**
 * The first of the windows that cover most of the query. Windows begin at the start of the text, of a sentence, or a little
 * before a word.
 */
function bestWindow(text: string, places: readonly Place[]): readonly [from: number, to: number] {
  const beginnings = [...text.matchAll(BEGINNING)].map(({ index: at }) => at);
  const starts = [...beginnings, ...places.map(({ at }) => wordStart(text, at))].sort((a, b) => a - b);
  let best = windowFrom(text, 0);
  let most = shareIn(best, places);
  for (const start of new Set(starts)) {
    const window = windowFrom(text, start);
    const share = shareIn(window, places);
    if (share <= most) continue;
    best = window;
    most = share;
  }
  return best;
}

function shareIn([from, to]: readonly [number, number], places: readonly Place[]): number {
  const inside = places.filter(({ at }) => at >= from && at < to);
  const shares = new Map(inside.map(({ word, share }) => [word, share]));
  return [...shares.values()].reduce((sum, share) => sum + share, 0);
}

/** Ends after the last word that fits; text without spaces is cut between characters. */
function windowFrom(text: string, from: number): readonly [from: number, to: number] {
  const cut = text.slice(from, from + LONGEST_EXCERPT);
  if (from + cut.length >= text.length) return [from, text.length];
  const lastSpace = Math.max(cut.lastIndexOf(" "), cut.lastIndexOf("\n"));
  const isFair = lastSpace > LONGEST_EXCERPT / 2;
  const whole = isFair ? cut.slice(0, lastSpace) : cut.slice(0, wholeCharacters(cut));
  return [from, from + whole.trimEnd().length];
}

/** The start of a word, about the helpful distance before `at`. */
function wordStart(text: string, at: number): number {
  if (at <= BEFORE) return 0;
  const before = text.slice(at - BEFORE, at);
  const [space] = /\s+/u.exec(before) ?? [];
  return space === undefined ? at : at - BEFORE + before.indexOf(space) + space.length;
}
