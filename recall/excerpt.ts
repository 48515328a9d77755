/** Excerpts of a passage around what answers: the sentence with the query's words and what follows them. "…" stands where text is cut. */
import { ANSWER_LIMITS } from "../engine/answer-limits.ts";
import type { Query } from "./analysis/query.ts";
import { TextAnalyser } from "./analysis/terms-of-text.ts";
import { placedRunsOf } from "./analysis/words.ts";
import { analyseQuery } from "./lexical/analyse-query.ts";
import {
  bodyOf,
  countLines,
  type IndexedDocument,
  type Passage,
  wholeCharacters,
} from "./lexical/indexed-document.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";

const MARK = "…";
/** Some text before a matching word helps to understand it. */
const BEFORE = 30;
/** What answers mostly follows the words that ask for it. */
const AFTER = 40;
const BEGINNING = /(?<=[.!?;]\s+|\n\s*)\S/gu;

/** Room for the frame of a hit, so that it cuts nothing off a snippet. */
const MOST = {
  sure: ANSWER_LIMITS.snippetCharacters - ANSWER_LIMITS.frameCharacters,
  possible: ANSWER_LIMITS.possibleExcerptCharacters,
};

export interface Excerpt extends Pick<Passage, "startLine" | "endLine"> {
  readonly snippet: string;
}

/** For the hits of one query. A text that fits is returned whole. */
export function excerptFor(
  query: Query,
  index: LexicalIndex,
): (document: IndexedDocument, passage: Passage, kind: keyof typeof MOST) => Excerpt {
  let asked: ReadonlyMap<number, AskedWord> | undefined;
  return (document, passage, kind) => {
    const { content } = document;
    let { start, end } = passage;
    const body = bodyOf(document);
    const isWhole = start <= body.start && end >= body.end;
    const most = isWhole ? MOST[kind] : MOST[kind] - 2 * MARK.length;
    if (end - start > most) {
      asked ??= askedTerms(query, index);
      const text = content.slice(start, end);
      const [from, to] = bestWindow(text, placesOf(text, asked, index), MOST[kind] - 2 * MARK.length);
      [start, end] = [start + from, start + to];
    }
    const startLine = passage.startLine + countLines(content, passage.start, start);
    return {
      snippet: `${start > body.start ? MARK : ""}${content.slice(start, end)}${end < body.end ? MARK : ""}`,
      startLine,
      endLine: startLine + countLines(content, start, end),
    };
  };
}

/** A query word for a term: its position among the words, and its share of the query. */
interface AskedWord {
  readonly word: number;
  readonly share: number;
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
): readonly (AskedWord & { readonly at: number })[] {
  const analyser = new TextAnalyser((term) => asked.get(index.terms.numberOf(term) ?? -1));
  return placedRunsOf(text).flatMap(({ run, at }) => {
    const { ordered, beside } = analyser.termsOf(run);
    return [...ordered, ...beside].flatMap((word) => (word === undefined ? [] : [{ at, ...word }]));
  });
}

type Window = readonly [from: number, to: number];

/** The first window that covers most of the query, and what follows. They begin at the text's start, a sentence's, or a little before a word. */
function bestWindow(
  text: string,
  places: readonly (AskedWord & { readonly at: number })[],
  most: number,
): Window {
  const beginnings = [0, ...[...text.matchAll(BEGINNING)].map(({ index: at }) => at)];
  const starts = [...beginnings, ...places.map(({ at }) => wordStart(text, at))];
  const windows = starts.toSorted((a, b) => a - b).map((from) => windowFrom(text, from, most));
  const rated = windows.map((window) => {
    const inside = places.filter(({ at }) => at >= window[0] && at < window[1]);
    const shares = new Map(inside.map(({ word, share }) => [word, share]));
    const last = Math.max(window[0], ...inside.map(({ at }) => at));
    const sentenceEnd = beginnings.find((at) => at > last) ?? text.length;
    const after = Math.min(AFTER, sentenceEnd - last, window[1] - last) / Math.min(AFTER, sentenceEnd - last);
    return { window, share: [...shares.values()].reduce((sum, share) => sum + share, 0), after };
  });
  const covering = Math.max(...rated.map(({ share }) => share));
  const best = rated.filter(({ share }) => share === covering);
  return best.reduce((one, other) => (other.after > one.after ? other : one)).window;
}

/** Ends after the last word that fits; text without spaces is cut between characters. */
function windowFrom(text: string, from: number, most: number): Window {
  const cut = text.slice(from, from + most);
  if (from + cut.length >= text.length) return [from, text.length];
  const lastSpace = Math.max(cut.lastIndexOf(" "), cut.lastIndexOf("\n"));
  const whole = lastSpace > most / 2 ? cut.slice(0, lastSpace) : cut.slice(0, wholeCharacters(cut));
  return [from, from + whole.trimEnd().length];
}

/** The start of a word, about the helpful distance before `at`. */
function wordStart(text: string, at: number): number {
  if (at <= BEFORE) return 0;
  const before = text.slice(at - BEFORE, at);
  const [space] = /\s+/u.exec(before) ?? [];
  return space === undefined ? at : at - BEFORE + before.indexOf(space) + space.length;
}
