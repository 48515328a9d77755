/** Memory's status, and hits in chat, as plain text for people: no control characters, no values unasked. */
import {
  frameOf,
  harmlessLine,
  type MemoryStatus,
  quotedText,
  type SearchAnswer,
  unmatchedText,
} from "../app/index.ts";

import { MY_MEMORY_PATH } from "./boundary.ts";

/** Enough of a passage to recognise it by. */
const PASSAGE_MAX_LINES = 4;

export function statusText(status: MemoryStatus, warnings: readonly string[] = []): string {
  const lines = [
    `helmdeck memory: ${status.state}${status.error ? ` (${status.error.code})` : ""}`,
    ...(status.error
      ? [`  ${plainLine(status.error.message)}`, "  Look further: openclaw helmdeck doctor"]
      : []),
    `  database: ${plainLine(status.databasePath)} (${plainLine(status.driver)})`,
    `  key:      ${plainLine(status.keySource)}`,
    `  search:   ${status.mode === "hybrid" ? "by words and meaning" : "by words"}`,
    ...meaningLines(status.embeddings),
  ];
  const { subject } = status;
  if (subject) {
    lines.push(
      `  ${plainLine(subject.name)}: ${counted(subject.facts, "fact")}, ${counted(subject.auditRows, "record")} of tool runs`,
      ...expiringLines(subject.expiring),
    );
  }
  return [...lines, ...warnings.map((warning) => `  ${warning}`)].join("\n");
}

/** With the command that keeps them. */
function expiringLines(expiring: NonNullable<MemoryStatus["subject"]>["expiring"]): readonly string[] {
  if (expiring === undefined) return [];
  const keys = expiring.soonest.map(({ key }) => plainLine(key)).join(", ");
  const more = expiring.count > expiring.soonest.length ? ", …" : "";
  return [
    `  ending within 14 days: ${counted(expiring.count, "fact")}: ${keys}${more}`,
    "            openclaw helmdeck renew <key> keeps one",
  ];
}

function meaningLines(embeddings: MemoryStatus["embeddings"]): readonly string[] {
  if (embeddings === undefined || embeddings.provider === "none") return [];
  if (embeddings.provider === "unusable") return [`  meaning:  off: ${plainLine(embeddings.problem)}`];
  const { provider, url, model, embedded, waiting, refused, failure } = embeddings;
  const known = [
    `${embedded} embedded`,
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
    ...(refused > 0 ? [`${refused} refused`] : []),
  ];
  return [
    `  meaning:  ${plainLine(model)} by ${provider} at ${plainLine(url)}: ${known.join(", ")}`,
    ...(failure === undefined ? [] : [`            last failure: ${plainLine(failure)}`]),
  ];
}

export function answerText(query: string, answer: SearchAnswer): string {
  const reason = answer.reason === undefined ? [] : [`(${plainLine(answer.reason)})`];
  if (answer.results.length === 0) return [nothingFound(query, answer), ...reason].join("\n");
  const heading = answer.results[0]?.possible
    ? [`Nothing answers "${plainLine(query)}" surely; what follows is only possibly related.`]
    : [];
  const hits = answer.results.map((hit, index) =>
    [
      `${index + 1}. ${hit.score.toFixed(2)}  ${frameOf(hit)}${hit.possible ? "  (only possibly related)" : ""}`,
      `   ${plainLine(hit.path)}:${hit.startLine}-${hit.endLine}`,
      ...passageLines(hit.snippet).map((line) => `   ${line}`),
    ].join("\n"),
  );
  return [...heading, ...hits, ...reason].join("\n\n");
}

function nothingFound(query: string, { unmatched }: SearchAnswer): string {
  const counted =
    unmatched === undefined ? "" : ` ${unmatchedText(unmatched, `${MY_MEMORY_PATH} lists them`)}`;
  return `Nothing found for "${plainLine(query)}".${counted}`;
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
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
