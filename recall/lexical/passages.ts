/**
 * Splits a chunk into passages for search and display: short chunks stay whole, long ones are split at paragraphs, lines or
 * sentences.
 */
import { ANSWER_LIMITS } from "../../engine/answer-limits.ts";

/** A passage is shown whole. */
export const LONGEST_SNIPPET = ANSWER_LIMITS.snippetCharacters;
/** A passage ends at the first boundary after this many characters. */
const ENOUGH = 350;

/** Part of a chunk's content: [start, end) in UTF-16 units, and its lines, counted from 1. */
export interface Passage {
  readonly start: number;
  readonly end: number;
  readonly startLine: number;
  readonly endLine: number;
}

/** The passages of [from, to) in order; none is longer than a snippet, or begins or ends with white space. */
export function passagesOf(content: string, from: number, to: number, firstLine: number): readonly Passage[] {
  const passages: Passage[] = [];
  let start = skipSpace(content, from, to);
  let line = firstLine + countLines(content, from, start);
  while (start < to) {
    const cut = cutOf(content, start, to);
    const end = start + content.slice(start, cut).trimEnd().length;
    const endLine = line + countLines(content, start, end);
    passages.push({ start, end, startLine: line, endLine });
    const next = skipSpace(content, cut, to);
    line = endLine + countLines(content, end, next);
    start = next;
  }
  return passages;
}

/** The end of the passage that begins at `start`: the last paragraph, line, sentence or word boundary that fits. */
function cutOf(content: string, start: number, to: number): number {
  if (to - start <= LONGEST_SNIPPET) return to;
  const window = content.slice(start, start + LONGEST_SNIPPET);
  for (const boundary of [/\n\s*\n/gu, /\n/gu, /[.!?]\s|[。！？]/gu, /\s/gu]) {
    const cut = boundaryIn(window, boundary);
    if (cut > 0) return start + cut;
  }
  return start + wholeCharacters(window);
}

/** The first boundary after ENOUGH, or the last one before it that leaves a reasonable piece. */
function boundaryIn(window: string, boundary: RegExp): number {
  let last = 0;
  for (const match of window.matchAll(boundary)) {
    const end = match.index + match[0].length;
    if (end >= ENOUGH) return end;
    last = end;
  }
  return last >= ENOUGH / 2 ? last : 0;
}

/** Length without half a surrogate pair at the end. */
export function wholeCharacters(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
}

function skipSpace(content: string, from: number, to: number): number {
  let at = from;
  while (at < to && /\s/u.test(content[at] ?? "")) at += 1;
  return at;
}

export function countLines(content: string, from: number, to: number): number {
  let lines = 0;
  for (let at = content.indexOf("\n", from); at !== -1 && at < to; at = content.indexOf("\n", at + 1))
    lines += 1;
  return lines;
}
