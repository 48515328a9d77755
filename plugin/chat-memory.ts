/** /remember, /undo, /forget, /pin, /unpin and /memories: store, undo, forget, pin and list without a model. */

import { isWideForget } from "../app/forgetting.ts";
import type { Forgotten, Memory, StoredFact } from "../app/memory.ts";
import { endingNote, pinText } from "../app/presenters/ending-text.ts";
import {
  alsoInNotes,
  coveredText,
  forgetPreview,
  lineOf,
  nameStaysText,
  newerText,
  similarKeysText,
  wouldForget,
} from "../app/presenters/forget-texts.ts";
import { undoText } from "../app/presenters/history-text.ts";
import { endedText, firstWords, keyForText, localMinute } from "../app/presenters/words.ts";
import { notesHolding } from "../app/traces/count-notes.ts";
import type { NotesCount } from "../app/traces/find-traces.ts";
import { defined } from "../engine/defined.ts";
import { isHelmdeckError } from "../engine/errors.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import { isKnownTime } from "../engine/rfc3339.ts";
import { factAt } from "./capture-hook.ts";
import { helmdeckReply, searchReply } from "./chat-status.ts";
import { inBrackets, tidyReply } from "./chat-tidy.ts";
import { type Admitted, byPerson } from "./identity.ts";
import type { ChatCommand } from "./tool-names.ts";

const NEWEST = 10;
/** `deploy/preference = we deploy through Konflux` */
const NAMED = /^([^\s=]+)\s+=\s+(\S.*)$/s;
/** Phones replace two hyphens with one dash. The number is that of the preview. */
const YES = /\s(?:--|—|–)yes(?:\s+(\d{1,15}))?$/i;
const PIN = /^(?:--|—|–)pin\s+/i;
const DRY_RUN = /\s(?:--|—|–)dry-run$/i;

const HOW_TO_REMEMBER =
  "/remember <text> stores the text under a key made from its words. /remember <key> = <text> stores it under that key and replaces the old value. /remember --pin … also pins it.";
const HOW_TO_UNDO = "/undo <key> undoes the last store of a fact, and restores what was there before.";
const HOW_TO_PIN =
  "/pin <key> keeps a fact in every prompt, for a year; again for another year. /unpin <key> takes it out. /memories lists the keys.";
const HOW_TO_FORGET =
  "/forget <key> forgets one fact; /forget category:<name>, import:<id> and all first show what would go. /memories lists the keys.";
const NOTHING_YET = "Nothing has been stored yet. Start with: /remember <text>";

export const HELP =
  "/remember <text> · /memories [words] · /memories tidy · /undo <key> · /forget <key> · /pin <key> · /unpin <key> · /helmdeck status · /helmdeck search <words> · /helmdeck why · /helmdeck help";

/** What a reply may know of the host. */
interface ReplyHost {
  readonly warnings?: readonly string[];
  /** The folder in which the agent keeps its notes; absent if unknown. */
  readonly workspace?: string;
}

type Reply = (memory: Memory, verdict: Admitted, typed: string, host: ReplyHost) => Promise<string>;

export const REPLIES: Readonly<Record<ChatCommand, Reply>> = {
  helmdeck: (memory, verdict, typed, { warnings }) => helmdeckReply(memory, verdict, typed, warnings),
  remember: rememberReply,
  undo: undoReply,
  forget: forgetReply,
  pin: (memory, verdict, typed) => pinReply(memory, verdict, typed, true),
  unpin: (memory, verdict, typed) => pinReply(memory, verdict, typed, false),
  memories: memoriesReply,
};

async function rememberReply(memory: Memory, verdict: Admitted, typed: string): Promise<string> {
  if (typed === "") return HOW_TO_REMEMBER;
  const { subject } = verdict;
  const given = typed.replace(PIN, "");
  const [, named, text = given] = NAMED.exec(given) ?? [];
  const key = named ?? (await keyForText(text, (candidate) => factAt(memory, subject, candidate)));
  const stored = await memory.storeFact(subject, { key, value: text }, byPerson(verdict));
  if (given === typed) return storedText(stored);
  return `${storedText(stored)}\n${await pinnedText(memory, subject, stored)}`;
}

/** What was remembered stays remembered, even if it cannot be pinned. */
async function pinnedText(memory: Memory, subject: string, { key, revision }: StoredFact): Promise<string> {
  try {
    const asked = { key, ...defined({ ifRevision: revision }) };
    return pinText(await memory.pinFact(subject, asked, IN_CHAT), "/pin");
  } catch (error) {
    if (isHelmdeckError(error)) return `It is not pinned. ${harmlessLine(error.message)}`;
    throw error;
  }
}

async function pinReply(memory: Memory, { subject }: Admitted, typed: string, pinned: boolean) {
  if (typed === "") return HOW_TO_PIN;
  return pinText(await memory.pinFact(subject, { key: typed, pinned }, IN_CHAT), "/pin");
}

/** A person types the commands. */
const IN_CHAT = { surface: "chat", isPerson: true } as const;

function storedText(stored: StoredFact): string {
  const { expiresAt, replaced, sameAs = [], similar = [] } = stored;
  const key = harmlessLine(stored.key);
  const end = dayOf(expiresAt);
  const before = replaced === undefined ? "" : dayOf(replaced.updatedAt);
  const replacement = `It replaced the ${before === "" ? "old value" : `value from ${before}`}.`;
  return [
    replaced?.refreshed
      ? `Remembered already, as ${key}${before === "" ? "" : `, since ${before}`}; now until ${end}.`
      : `Remembered as ${key}, until ${end}.`,
    ...(replaced?.refreshed === false ? [`${replacement} To restore that: /undo ${key}`] : []),
    ...sameAs.map((other) => `The same value is stored under ${harmlessLine(other)}.`),
    ...similar.map(
      ({ key: other, value, contradicts }) =>
        `${contradicts ? "Contradicts" : "Similar"}: ${harmlessLine(other)}: ${firstWords(value)}`,
    ),
    ...(replaced === undefined ? [`To undo this: /forget ${key}`] : []),
  ].join("\n");
}

async function undoReply(memory: Memory, { subject }: Admitted, typed: string): Promise<string> {
  if (typed === "") return HOW_TO_UNDO;
  const { answer, notes } = undoText(await memory.undoFact(subject, { key: typed }), "/undo");
  return [...answer, ...notes].join("\n");
}

async function forgetReply(
  memory: Memory,
  { subject }: Admitted,
  typed: string,
  { workspace }: ReplyHost,
): Promise<string> {
  const [yes, shown] = YES.exec(typed) ?? [];
  const isDryRun = DRY_RUN.test(typed);
  const scope = typed.replace(YES, "").replace(DRY_RUN, "").trim();
  if (scope === "") return HOW_TO_FORGET;
  const upTo = shown === undefined ? undefined : Number(shown);
  const would = await memory.forget(subject, { scope, dryRun: true, ...defined({ upTo }) });
  if (would.deleted + (would.former ?? 0) === 0 && upTo === undefined) return missText(would);
  const wantsYes = isWideForget(scope) || would.deleted > 1;
  // Without a number nobody knows what the person has seen, unless memory gives none.
  const isSure = yes !== undefined && (upTo !== undefined || would.revision === undefined);
  if (isDryRun || (wantsYes && !isSure)) return previewText(memory, subject, would, wantsYes);
  const workspaces = workspace === undefined ? [] : [workspace];
  const inNotes = await notesHolding({ memory, subject, scope, workspaces });
  const forgotten = await memory.forget(subject, { scope, ...defined({ upTo: upTo ?? would.revision }) });
  return forgottenText(forgotten, inNotes);
}

function missText(would: Forgotten): string {
  const near = similarKeysText(would) ?? "Keys are exact, and case matters: /memories shows them.";
  return `Nothing is remembered under ${harmlessLine(would.scope)}, so nothing was forgotten. ${near}`;
}

async function previewText(
  memory: Memory,
  subject: string,
  would: Forgotten,
  wantsYes: boolean,
): Promise<string> {
  const { scope, revision } = would;
  const shown = harmlessLine(scope);
  return [
    await wouldForget(memory, subject, would),
    ...(await forgetPreview(memory, subject, scope)).map((line) => `- ${line}`),
    `To do it: /forget ${[shown, ...(wantsYes ? ["--yes", revision] : [])].join(" ").trimEnd()}`,
  ].join("\n");
}

function forgottenText(forgotten: Forgotten, inNotes: NotesCount | undefined): string {
  const { deleted, former = 0, erased } = forgotten;
  if (deleted + former === 0) return newerText(forgotten) ?? missText(forgotten);
  return [
    `Forgot ${coveredText(forgotten)}, for good.`,
    ...(erased === "pending" ? ["The encrypted bytes are erased from the database file shortly."] : []),
    nameStaysText(forgotten),
    inNotes && alsoInNotes(inNotes),
    newerText(forgotten),
  ]
    .filter((part) => part !== undefined)
    .join(" ");
}

async function memoriesReply(memory: Memory, verdict: Admitted, typed: string): Promise<string> {
  if (typed !== "") return tidyReply(memory, verdict, typed) ?? searchReply(memory, verdict, typed);
  const page = await memory.listFacts(verdict.subject, { limit: NEWEST });
  const { facts, unreadable, nextCursor, ended } = page;
  const { expiring } = await memory.myMemory(verdict.subject);
  if (facts.length + unreadable.length === 0) return endedText(ended) || NOTHING_YET;
  return [
    ...endingNote(expiring, TO_KEEP),
    ...facts.map(
      (fact) => `- ${fact.pinned ? "Pinned: " : ""}${lineOf(fact)}${inBrackets(dayOf(fact.updatedAt))}`,
    ),
    ...(ended ? [endedText(ended)] : []),
    ...unreadable.map((key) => `- ${harmlessLine(key)} (cannot be opened; run openclaw helmdeck doctor)`),
    ...(nextCursor === undefined ? [] : [`The newest ${NEWEST}; openclaw helmdeck list shows all.`]),
    "/memories <words> searches, /memories tidy shows duplicates and conflicts, /forget <key> forgets one.",
  ].join("\n");
}

const TO_KEEP = { renew: "openclaw helmdeck renew", pin: "/pin" };

function dayOf(at: number): string {
  return isKnownTime(at) ? localMinute(at).slice(0, "2026-01-01".length) : "";
}
