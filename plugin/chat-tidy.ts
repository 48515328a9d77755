/** `/memories tidy`: what a review found, with the commands that settle it, and what those do. */
import type { FactView, Memory, ReviewFinding } from "../app/memory.ts";
import { lineOf } from "../app/presenters/forget-texts.ts";
import {
  findingTitle,
  foundText,
  mergePreview,
  NOTHING_TO_TIDY,
  sourceText,
} from "../app/presenters/tidy-text.ts";
import { isCopyable } from "../app/presenters/words.ts";
import { mergeFacts, toKeep } from "../app/tidying.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import { type Admitted, byPerson } from "./identity.ts";

const MOST_SHOWN = 5;
const TIDY = /^tidy(?:\s+(keep|both|again)\s+(\S.*))?$/is;
/** The number is the revision of the list that the command was copied from. */
const NAMES = /^(\S+)\s+over\s+(\S.*?)(?:\s+(\d{1,15}))?$/is;
const KEYS = /^(\S.*?)(?:\s+(\d{1,15}))?$/s;

const HOW_TO_KEEP =
  "/memories tidy keep <key> over <other keys> <number>: copy the whole line from /memories tidy, which shows what it settles.";
const HOW_TO_KEEP_BOTH =
  "/memories tidy both <keys> <number>: copy the whole line from /memories tidy, which shows what it settles.";

/** Undefined: these are words to search for. */
export function tidyReply(memory: Memory, verdict: Admitted, typed: string): Promise<string> | undefined {
  const [whole, verb = "", rest = ""] = TIDY.exec(typed) ?? [];
  if (whole === undefined) return undefined;
  switch (verb.toLowerCase()) {
    case "keep":
      return keepReply(memory, verdict, rest);
    case "both":
      return bothReply(memory, verdict, rest);
    case "again":
      return againReply(memory, verdict, rest);
    default:
      return listReply(memory, verdict);
  }
}

async function listReply(memory: Memory, { subject }: Admitted): Promise<string> {
  const { findings, found, revision } = await memory.review(subject, { limit: MOST_SHOWN });
  if (findings.length === 0) return NOTHING_TO_TIDY;
  const all = Object.values(found).reduce((sum, count) => sum + count, 0);
  return [
    `${foundText(found)}. Nothing is changed yet.`,
    ...findings.flatMap((finding) => findingLines(finding, revision)),
    ...(all > findings.length
      ? [`The first ${findings.length}; openclaw helmdeck tidy goes through all of them.`]
      : []),
    "/forget <key> forgets one for good.",
  ].join("\n");
}

function findingLines(finding: ReviewFinding, revision: number): readonly string[] {
  const { kind, facts } = finding;
  const kept = toKeep(finding);
  if (kept === undefined) return [];
  return [
    `${findingTitle(finding)}:`,
    ...facts.map(
      (fact) => `- ${fact.pinned ? "Pinned: " : ""}${lineOf(fact)}${inBrackets(sourceText(fact))}`,
    ),
    ...(kind === "expiring" ? [keepingLine(kept)] : settlingLines(kept, facts, revision)),
  ];
}

function keepingLine(fact: FactView): string {
  return `To keep it: ${fact.pinned ? "/pin" : "openclaw helmdeck renew"} ${nameInChat(fact)}`;
}

function settlingLines(kept: FactView, facts: readonly FactView[], revision: number): readonly string[] {
  const others = facts.filter((fact) => fact !== kept);
  const all = facts.length === 2 ? "both" : "all";
  return [
    mergePreview(kept, others),
    `To do that: /memories tidy keep ${nameInChat(kept)} over ${others.map(nameInChat).join(" ")} ${revision}`,
    `To keep ${all}: /memories tidy both ${facts.map(nameInChat).join(" ")} ${revision}`,
  ];
}

async function keepReply(memory: Memory, verdict: Admitted, typed: string): Promise<string> {
  const [, name, over = "", shown] = NAMES.exec(typed) ?? [];
  if (name === undefined || shown === undefined) return HOW_TO_KEEP;
  const merge = { key: name, over: over.split(/\s+/), upTo: Number(shown) };
  const { key, superseded = [] } = await mergeFacts(memory, verdict.subject, merge, byPerson(verdict));
  const names = superseded.map((other) => harmlessLine(other)).join(", ");
  const also = names === "" ? "" : `; its history has ${names}`;
  return `Kept ${harmlessLine(key)}${also}.\nTo undo this: /undo ${harmlessLine(key)}`;
}

async function bothReply(memory: Memory, { subject }: Admitted, typed: string): Promise<string> {
  const [, names = "", shown] = KEYS.exec(typed) ?? [];
  if (shown === undefined) return HOW_TO_KEEP_BOTH;
  const { keys } = await memory.keepApart(subject, { keys: names.split(/\s+/), upTo: Number(shown) });
  return `Kept ${keys.map((key) => harmlessLine(key)).join(" and ")}, until one of them gets another value.\nTo undo this: /memories tidy again ${names}`;
}

async function againReply(memory: Memory, { subject }: Admitted, typed: string): Promise<string> {
  const { keys } = await memory.keepApart(subject, { keys: typed.split(/\s+/), apart: false });
  return `/memories tidy shows ${keys.map((key) => harmlessLine(key)).join(" and ")} beside each other again, if they still say the same or contradict each other.`;
}

/** One word: its path if the key is more than that. */
function nameInChat({ key, path }: Pick<FactView, "key" | "path">): string {
  return isCopyable(key) && !/\s/.test(key) ? key : path;
}

export function inBrackets(text: string): string {
  return text === "" ? "" : ` (${harmlessLine(text)})`;
}
