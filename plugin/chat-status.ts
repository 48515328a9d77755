/** /helmdeck: status, search and help, for callers who may see the agent's memory. */
import type { Memory, RecallQuery, SearchAnswer } from "../app/memory.ts";
import { statusText } from "../app/presenters/status-text.ts";
import { localMinute, possiblyRelated, unmatchedText } from "../app/presenters/words.ts";
import { ANSWER_LIMITS } from "../engine/answer-limits.ts";
import { defined } from "../engine/defined.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import { frameOf, quotedText } from "../engine/projections/frame.ts";
import type { FactNamed } from "../pages/viewer.ts";
import { type Admitted, isQuiet } from "./identity.ts";
import { processReceipts, type Receipt, type Receipts, receiptsOf } from "./receipts.ts";

const CHAT_HITS = 5;
const RECEIPTS = 5;
const WHY_ALONE = "Only in a direct chat with the agent, which nobody else can read: /helmdeck why.";
const VOICE = { command: "openclaw helmdeck" };

/** The text typed after /helmdeck. */
export type ChatRequest =
  | { readonly kind: "status" }
  | { readonly kind: "help" }
  | { readonly kind: "why" }
  | { readonly kind: "search"; readonly query: string };

/** No text means status. Unknown text, or a search without words, means help. */
export function parseChatRequest(typed: string): ChatRequest {
  const [word = ""] = typed.split(/\s/, 1);
  const rest = typed.slice(word.length).trim().slice(0, ANSWER_LIMITS.queryCharacters);
  const name = word.toLowerCase();
  if (name === "search" && rest !== "") return { kind: "search", query: rest };
  if (name === "why" && rest === "") return { kind: "why" };
  return name === "" || (name === "status" && rest === "") ? { kind: "status" } : { kind: "help" };
}

export async function helmdeckReply(
  memory: Memory,
  verdict: Admitted,
  typed: string,
  warnings: readonly string[] | undefined,
): Promise<string> {
  const request = parseChatRequest(typed);
  if (request.kind === "search") return searchReply(memory, verdict, request.query);
  const receipts = processReceipts();
  // Everybody in an opened group would see the keys.
  if (request.kind === "why")
    return verdict.opened === undefined
      ? whyText(receiptsOf(receipts, verdict.subject, RECEIPTS))
      : WHY_ALONE;
  const counts = countsLine(receipts);
  const lines = [...(warnings ?? []), ...(counts === undefined ? [] : [counts])];
  return statusText(await memory.status(verdict.subject), VOICE, lines);
}

export async function searchReply(memory: Memory, verdict: Admitted, query: string): Promise<string> {
  const quiet = isQuiet(verdict);
  const asked: RecallQuery = { query, limit: CHAT_HITS, ...(quiet && { recall: "quiet" }) };
  const { unmatched, hint, ...found }: SearchAnswer = await memory.search(verdict.subject, asked);
  // A count would tell strangers how much there is that they may not see.
  return answerText(query, { ...found, ...(!quiet && defined({ unmatched, hint })) });
}

/** Enough of a passage to recognise it. */
const PASSAGE_MAX_LINES = 4;

/** Hits in chat, as plain text without control characters. */
function answerText(query: string, answer: SearchAnswer): string {
  const reason = answer.reason === undefined ? [] : [`(${plainLine(answer.reason)})`];
  if (answer.results.length === 0) return [nothingFound(query, answer), ...reason].join("\n");
  const heading = answer.results[0]?.possible
    ? [`Nothing answers "${plainLine(query)}" with certainty; these hits are only possibly related.`]
    : [];
  const hits = answer.results.map((hit, index) =>
    [
      `${index + 1}. ${frameOf(hit, { isForPerson: true })}${hit.possible ? `  (${possiblyRelated(hit.why)})` : ""}`,
      ...passageLines(hit.snippet).map((line) => `   ${line}`),
    ].join("\n"),
  );
  return [...heading, ...hits, ...reason].join("\n\n");
}

function nothingFound(query: string, { unmatched, hint }: SearchAnswer): string {
  const counted = unmatched === undefined ? "" : ` ${unmatchedText(unmatched, `/memories shows the newest`)}`;
  return `Nothing found for "${plainLine(query)}".${counted}${hint === undefined ? "" : ` ${hint}`}`;
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

/** The reply of /helmdeck why. */
export function whyText(receipts: readonly Receipt[]): string {
  if (receipts.length === 0) return NOTHING_SAID;
  return receipts.map(receiptText).join("\n\n");
}

const NOTHING_SAID =
  "Nothing was added to a message unasked, and no request was kept, since OpenClaw started. autoRecall and captureRequests in the plugin's configuration turn this on.";

function receiptText({ at, outcome, added, withheld, kept }: Receipt): string {
  const listed = (word: string, facts: readonly FactNamed[]) =>
    facts.map(({ key, why }) => `  ${word} ${harmlessLine(key)}: ${harmlessLine(why)}`);
  const nothing = outcome ?? (added.length === 0 ? "nothing is sure" : undefined);
  return [
    `Message of ${localMinute(at)}: ${added.length} added${nothing === undefined ? "" : ` (${nothing})`}`,
    ...listed("added", added),
    ...listed("not added", withheld),
    ...(kept === undefined
      ? []
      : [`  kept your request as ${harmlessLine(kept)}; to undo this: /forget ${harmlessLine(kept)}`]),
  ].join("\n");
}

/** One line for status; undefined if nothing happened. */
function countsLine({ counts }: Receipts): string | undefined {
  const { turns, turnsWithFacts, facts, late, failed, kept } = counts;
  if (turns + late + failed + kept === 0) return undefined;
  const trouble = late + failed === 0 ? "" : `; ${late} late, ${failed} failed`;
  return `unasked, since OpenClaw started: ${facts} facts for ${turnsWithFacts} of ${turns} messages, ${kept} requests kept${trouble}`;
}
