/** Hits in chat, as plain text without control characters. */

import type { SearchAnswer } from "../app/memory.ts";
import { unmatchedText } from "../app/presenters/words.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import { frameOf, quotedText } from "../engine/projections/frame.ts";

/** Enough of a passage to recognise it. */
const PASSAGE_MAX_LINES = 4;

export function answerText(query: string, answer: SearchAnswer): string {
  const reason = answer.reason === undefined ? [] : [`(${plainLine(answer.reason)})`];
  if (answer.results.length === 0) return [nothingFound(query, answer), ...reason].join("\n");
  const heading = answer.results[0]?.possible
    ? [`Nothing answers "${plainLine(query)}" with certainty; these hits are only possibly related.`]
    : [];
  const hits = answer.results.map((hit, index) =>
    [
      `${index + 1}. ${frameOf(hit, { bare: true })}${hit.possible ? "  (only possibly related)" : ""}`,
      ...passageLines(hit.snippet).map((line) => `   ${line}`),
    ].join("\n"),
  );
  return [...heading, ...hits, ...reason].join("\n\n");
}

function nothingFound(query: string, { unmatched }: SearchAnswer): string {
  const counted = unmatched === undefined ? "" : ` ${unmatchedText(unmatched, `/memories shows the newest`)}`;
  return `Nothing found for "${plainLine(query)}".${counted}`;
}

function passageLines(snippet: string): readonly string[] {
  const lines = quotedText(snippet)
    .split("\n")
    .filter((line) => line !== ">");
  return lines.length > PASSAGE_MAX_LINES ? [...lines.slice(0, PASSAGE_MAX_LINES), "…"] : lines;
}

function plainLine(text: string): string {
  return harmlessLine(text).trim();
}
