/** Texts about what stands elsewhere: one line, a list with what can be done, a diff, and the receipt. */
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import type { NotedCopy } from "../keys/store-notes.ts";
import type { Forgotten } from "../memory.ts";
import type { Trace, Traces } from "../traces/find-traces.ts";
import type { Place, ReadNote } from "../traces/take-out.ts";
import type { TraceKind } from "../traces/walk.ts";
import { coveredText, nameStaysText } from "./forget-texts.ts";
import { counted, firstWords, isCopyable, localMinute, shellWord } from "./words.ts";

const SHOWN_UNREAD = 20;
const SHOWN_SESSIONS = 5;
const SHOWN_KEYS = 20;
const SHOWN_LINES = 20;
const DIFF_LINE_CHARACTERS = 200;

const NAMES: Readonly<Record<TraceKind, readonly [one: string, many: string]>> = {
  note: ["note", "notes"],
  dream: ["dream diary", "dream diaries"],
  index: ["index of notes", "indexes of notes"],
  transcript: ["conversation", "conversations"],
  state: ["database of OpenClaw's state", "databases of OpenClaw's state"],
  export: ["export", "exports"],
  import: ["imported file", "imported files"],
  file: ["other file", "other files"],
};

/** A backup that may hold what was forgotten, or an export. */
export interface KeptCopy extends NotedCopy {
  readonly isThere: boolean;
}

export interface Receipt {
  readonly writtenAt: number;
  /** Whose memory. */
  readonly caller: string;
  /** Absent when nothing was forgotten: a look alone. */
  readonly forgotten?: Pick<Forgotten, "scope" | "deleted" | "former" | "erased" | "nameStays">;
  readonly takenOut: readonly { readonly path: string; readonly lines: number }[];
  readonly remaining: Traces;
  /** Keys of other facts of the same memory. */
  readonly inMemory: readonly string[];
  /** The state folder of the OpenClaw that was searched. */
  readonly searched: string;
  readonly backups: readonly KeptCopy[];
  /** When a restored backup would expire what was forgotten. Unix milliseconds. */
  readonly until?: number;
  /** Nothing was looked for. */
  readonly isBlind: boolean;
  /** What of it was not looked for. */
  readonly notLookedFor: readonly string[];
  /** Where else it may be. */
  readonly notKnown: readonly string[];
}

/** What this search could not know, besides what none can. */
export const GAPS = ["memory", "someFacts", "remote", "server", "olderCopies"] as const;
export type Gap = (typeof GAPS)[number];

const GAP_TEXTS: Readonly<Record<Gap, string>> = {
  memory: "This memory itself was not looked in.",
  someFacts: "Not all facts of this memory were looked at.",
  remote: "A server keeps this memory: its backups, exports and imports are known there.",
  server: "The database server's own backups and logs are not known here.",
  olderCopies: "Only the newest 200 backups, exports and imports are known.",
};

export function notKnown(gaps: readonly Gap[]): readonly string[] {
  return [
    "The same in other words, in pictures, encoded (base64, encrypted), or as single words in OpenClaw's word indexes is not found.",
    "Backups, exports and imports of version 0.2.0 and older, exports to standard output, imports from it, and copies of files are not known.",
    "Not searched: OpenClaw's own backups and logs, other OpenClaw gateways with this memory, chat services, model providers.",
    ...gaps.map((gap) => GAP_TEXTS[gap]),
  ];
}

export function notLookedFor(what: {
  readonly isPartial: boolean;
  readonly unreadable: number;
  readonly leftOut: number;
  readonly hasRecords: boolean;
}): readonly string[] {
  const { isPartial, unreadable, leftOut, hasRecords } = what;
  return [
    ...(isPartial ? ["the facts after the first 500"] : []),
    ...(unreadable > 0 ? [`${counted(unreadable, "fact")} whose value cannot be read`] : []),
    ...(leftOut > 0 ? [`${counted(leftOut, "value")} too short or too common: give the words yourself`] : []),
    ...(hasRecords ? ["records of runs"] : []),
  ];
}

/** `It also stands in 2 notes and 1 conversation.` */
export function alsoText(receipt: Receipt): string {
  const { remaining, backups, isBlind, notLookedFor } = receipt;
  if (isBlind) return blindText(receipt);
  const where = whereText(receipt);
  const unread = remaining.unread.length;
  return [
    where === ""
      ? `Nothing of it was found in ${counted(remaining.files, "file")} of OpenClaw and known exports.`
      : `It also stands in ${where}.`,
    ...(backups.length === 0 ? [] : [`${counted(backups.length, "backup")} may hold it.`]),
    ...(unread === 0 ? [] : [`${counted(unread, "place was", "places were")} not read.`]),
    ...(notLookedFor.length === 0 ? [] : [`Not looked for: ${notLookedFor.join("; ")}.`]),
  ].join(" ");
}

function blindText({ notLookedFor }: Receipt): string {
  const what = notLookedFor.length === 0 ? "nothing of it is known" : notLookedFor.join("; ");
  return `It was not looked for elsewhere: ${what}. To look for words: traces without a key asks for them.`;
}

/** `2 notes and 1 conversation`; empty when there are none. */
function whereText({ remaining, inMemory }: Receipt): string {
  const parts = kindsOf(remaining.found).map(([kind, count]) => counted(count, ...NAMES[kind]));
  if (inMemory.length > 0) parts.push(counted(inMemory.length, "other fact", "other facts"));
  return parts.length <= 1 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/** How many of each kind: files, and of transcripts conversations. */
function kindsOf(found: readonly Trace[]): readonly (readonly [TraceKind, number])[] {
  const things = new Map<TraceKind, Set<string>>();
  for (const { kind, path, sessions = [] } of found) {
    const known = things.get(kind) ?? new Set<string>();
    things.set(kind, known);
    for (const thing of kind === "transcript" && sessions.length > 0 ? sessions : [path]) known.add(thing);
  }
  return [...things].map(([kind, { size }]) => [kind, size]);
}

/** A line for each place, and under those with the same remedy what can be done. */
export function tracesLines(found: readonly Trace[]): readonly string[] {
  return [...Map.groupBy(found, remedyFor)].flatMap(([remedy, traces]) => [
    ...traces.map(traceLine),
    `  ${remedy}`,
  ]);
}

function traceLine(trace: Trace): string {
  return `${NAMES[trace.kind][0]}: ${harmlessLine(trace.path)}${placeText(trace)} (${dayAt(trace.changedAt)})`;
}

function placeText({ lines = [], table, rows = 0, sessions = [], isUnused }: Trace): string {
  if (isUnused) return ", in bytes that no row uses";
  if (table !== undefined) {
    const named = sessions.slice(0, SHOWN_SESSIONS).map((key) => harmlessLine(key));
    const more = sessions.length > SHOWN_SESSIONS ? ` and ${sessions.length - SHOWN_SESSIONS} more` : "";
    const whose = named.length === 0 ? "" : `, ${named.join(", ")}${more}`;
    return `, ${counted(rows, "row")} of ${harmlessLine(table)}${whose}`;
  }
  const shown = lines.slice(0, SHOWN_LINES).join(", ");
  if (shown === "") return "";
  const more = lines.length > SHOWN_LINES ? ` and ${lines.length - SHOWN_LINES} more` : "";
  return `, ${lines.length === 1 ? "line" : "lines"} ${shown}${more}`;
}

/** OpenClaw 2026.9.6, docs/cli/sessions.md, docs/cli/memory.md, docs/automation/tasks.md and docs/cli/doctor/sqlite-maintenance.md. */
function remedyFor(trace: Trace): string {
  const { kind, isEditable, isUnused, table } = trace;
  const agent = agentOf(trace);
  if (isUnused) return COMPACT[kind === "state" ? "state" : "agent"];
  if (isEditable) return "Its lines can be taken out here, one by one.";
  if (kind === "index")
    return `Change its source first, then run openclaw memory index${agent === undefined ? "" : ` --agent ${agent}`}.`;
  if (kind === "transcript")
    return table === undefined ? transcriptFile(trace, agent) : transcriptRows(trace, agent);
  if (kind === "state") return stateRows(table);
  if (kind === "export") return "An export in plain text: delete the file.";
  if (kind === "import") return "Facts were imported from it: change or delete the file.";
  return "Look at the file, and change or delete it yourself.";
}

const COMPACT = {
  agent:
    "OpenClaw overwrites them in time. Now, with the gateway stopped: openclaw doctor --session-sqlite compact --session-sqlite-all-agents.",
  state:
    "OpenClaw overwrites them in time. Now, with the gateway stopped: openclaw doctor --state-sqlite compact.",
} as const;

function stateRows(table: string | undefined): string {
  return table === "task_runs"
    ? "OpenClaw's record of a run: OpenClaw deletes it after 7 days."
    : "OpenClaw's own notes on conversations: openclaw memory forget --session KEY --dry-run shows what it would remove.";
}

/** Tried with OpenClaw 2026.9.6: neither `sessions cleanup` nor `memory forget` drops it. */
const KEPT_AFTER_DELETION =
  "OpenClaw keeps a deleted conversation here and in a file ….deleted…, and has no command that removes it: its limit on size (session.maintenance.maxDiskBytes) does, oldest first.";

function transcriptRows({ sessions = [], table = "" }: Trace, agent = "ID"): string {
  if (table === "session_transcript_archives") return KEPT_AFTER_DELETION;
  if (table.includes("_fts_")) return "It goes when its conversation is deleted.";
  const [only] = sessions;
  const key = sessions.length === 1 && only !== undefined && isCopyable(only) ? shellWord(only) : "KEY";
  return `openclaw sessions delete ${key}, then openclaw memory forget --agent ${agent} --session ${key}. Then look again, because OpenClaw archives what it deletes. A main session cannot be deleted: /new starts another one.`;
}

function transcriptFile({ path }: Trace, agent = "ID"): string {
  return path.includes("/cold/")
    ? "It belongs to a stored conversation: openclaw sessions delete KEY removes both."
    : `A transcript that OpenClaw kept: delete the file, then run openclaw memory index --agent ${agent} --force. Its database has it, too.`;
}

function agentOf({ path }: Trace): string | undefined {
  const id = /[\\/]agents[\\/]([^\\/]+)[\\/]/.exec(path)?.[1];
  return id !== undefined && isCopyable(id) ? shellWord(id) : undefined;
}

/** The lines to take out, with one line before and after. Values are shown: a person decides on them. */
export function diffLines({ path, lines }: ReadNote, { first, last }: Place): readonly string[] {
  const shown: string[] = [`--- ${harmlessLine(path)}`];
  for (let number = Math.max(1, first - 1); number <= Math.min(lines.length, last + 1); number++) {
    const isOut = number >= first && number <= last;
    const text = firstWords(lines[number - 1] ?? "", DIFF_LINE_CHARACTERS);
    shown.push(`${isOut ? "-" : " "} ${String(number).padStart(5)}  ${text}`);
  }
  return shown;
}

/** Everything that is known, without a value. */
export function receiptLines(receipt: Receipt): readonly string[] {
  const { takenOut, remaining, backups, isBlind, notLookedFor } = receipt;
  const { unread } = remaining;
  return [
    `Receipt of ${new Date(receipt.writtenAt).toISOString()}`,
    ...erasedLines(receipt),
    ...takenOut.map(({ path, lines }) => `Taken out: ${counted(lines, "line")} of ${harmlessLine(path)}`),
    ...(isBlind ? [`Remaining: unknown. ${blindText(receipt)}`] : remainingLines(receipt)),
    ...backups.map((copy) => backupLine(copy, receipt)),
    ...(isBlind ? [] : notLookedFor.map((what) => `Not looked for: ${what}`)),
    ...unread
      .slice(0, SHOWN_UNREAD)
      .map(({ path, why }) => `Not read: ${harmlessLine(path)}: ${harmlessLine(why)}`),
    ...(unread.length > SHOWN_UNREAD
      ? [`Not read: ${unread.length - SHOWN_UNREAD} more; --json lists all.`]
      : []),
    ...receipt.notKnown,
  ];
}

function erasedLines({ forgotten, caller }: Receipt): readonly string[] {
  if (forgotten === undefined) return [];
  const when =
    forgotten.erased === "pending" ? "; the database overwrites the encrypted bytes a little later" : "";
  const name = nameStaysText(forgotten);
  return [
    `Erased: ${coveredText(forgotten)} of ${harmlessLine(caller)}${when}`,
    ...(name === undefined ? [] : [name]),
  ];
}

function remainingLines({ remaining, inMemory, searched }: Receipt): readonly string[] {
  const { found, files } = remaining;
  const where = `${counted(files, "file")} of ${harmlessLine(searched)}, its workspaces, and known exports and imports`;
  if (found.length + inMemory.length === 0) return [`Remaining: nothing was found in ${where}`];
  const shown = inMemory.slice(0, SHOWN_KEYS).map((key) => harmlessLine(key));
  const more = inMemory.length > SHOWN_KEYS ? ` and ${inMemory.length - SHOWN_KEYS} more` : "";
  return [
    `Remaining, of ${where}:`,
    ...tracesLines(found).map((line) => `  ${line}`),
    ...(inMemory.length === 0
      ? []
      : [`  this memory: ${shown.join(", ")}${more}`, "    Forget each by its key."]),
  ];
}

function backupLine({ path, at, isThere }: KeptCopy, { until, forgotten }: Receipt): string {
  const name = `${harmlessLine(path)} of ${at.slice(0, "2026-01-01".length)}`;
  if (!isThere) return `Backup: ${name} is no longer there; it may have been moved.`;
  const back =
    forgotten === undefined || until === undefined
      ? ""
      : ` A restore would bring it back, until ${dayAt(until)}.`;
  return `Backup: ${name} may hold it, encrypted, until the file is deleted.${back}`;
}

function dayAt(at: number): string {
  return localMinute(at).slice(0, "2026-01-01".length);
}
