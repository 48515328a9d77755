/** Texts about what stands elsewhere: one line, a list with what can be done, a diff, and the receipt. */
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import type { NotedCopy } from "../keys/store-notes.ts";
import type { Forgotten } from "../memory.ts";
import type { Trace, Traces } from "../traces/find-traces.ts";
import type { Place, ReadNote } from "../traces/take-out.ts";
import type { TraceKind } from "../traces/walk.ts";
import { entries } from "./forget-texts.ts";
import { counted, firstWords, isCopyable, localMinute, shellWord } from "./words.ts";

const SHOWN_UNREAD = 20;
const SHOWN_SESSIONS = 5;
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
  readonly forgotten?: Pick<Forgotten, "scope" | "deleted" | "former" | "erased">;
  readonly takenOut: readonly { readonly path: string; readonly lines: number }[];
  readonly remaining: Traces;
  readonly backups: readonly KeptCopy[];
  /** When a restored backup would expire what was forgotten. Unix milliseconds. */
  readonly until?: number;
  /** Not all values were looked for. */
  readonly isPartial: boolean;
  /** Nothing was telling enough to be looked for. */
  readonly isBlind: boolean;
}

/** `Also in 2 notes and 1 conversation.` */
export function alsoText({ remaining, backups, isBlind }: Receipt): string {
  if (isBlind) return TOO_COMMON;
  const where = whereText(remaining.found);
  const unread = remaining.unread.length;
  const more = unread === 0 ? "" : ` ${counted(unread, "place was", "places were")} not read.`;
  const kept = backups.length === 0 ? "" : ` ${counted(backups.length, "backup")} may hold it.`;
  if (where === "")
    return `Nothing of it was found in ${counted(remaining.files, "file")} of OpenClaw and known exports.${kept}${more}`;
  return `It also stands in ${where}.${kept}${more}`;
}

const TOO_COMMON =
  "It was not looked for elsewhere: it is too short or too common. Give the words yourself: traces without a key asks for them.";

/** `2 notes and 1 conversation`; empty when there are none. */
function whereText(found: readonly Trace[]): string {
  const parts = kindsOf(found).map(([kind, count]) => counted(count, ...NAMES[kind]));
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

/** Two lines for each: where, and what can be done. */
export function tracesLines(found: readonly Trace[]): readonly string[] {
  return found.flatMap((trace) => [
    `${NAMES[trace.kind][0]}: ${harmlessLine(trace.path)}${placeText(trace)} (${dayAt(trace.changedAt)})`,
    `  ${remedyFor(trace)}`,
  ]);
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
    return `It follows its source: after that is changed, run openclaw memory index${agent === undefined ? "" : ` --agent ${agent}`}.`;
  if (kind === "transcript")
    return table === undefined ? transcriptFile(trace) : transcriptRows(trace, agent);
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
    ? "OpenClaw's record of a run: it drops it after 7 days."
    : "OpenClaw's own notes on conversations: openclaw memory forget --session KEY --dry-run shows what it would remove.";
}

function transcriptRows({ sessions = [] }: Trace, agent = "ID"): string {
  const [only] = sessions;
  const key = sessions.length === 1 && only !== undefined && isCopyable(only) ? shellWord(only) : "KEY";
  return `openclaw sessions delete ${key}, then openclaw memory forget --agent ${agent} --session ${key}. A main session is protected: /new starts another one.`;
}

function transcriptFile({ path }: Trace): string {
  return path.includes("/cold/")
    ? "It belongs to a stored conversation: openclaw sessions delete KEY removes both."
    : "A transcript that OpenClaw kept: delete the file.";
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
  const { takenOut, remaining, backups, isPartial, isBlind } = receipt;
  return [
    `Receipt of ${new Date(receipt.writtenAt).toISOString()}`,
    ...erasedLines(receipt),
    ...takenOut.map(({ path, lines }) => `Taken out: ${counted(lines, "line")} of ${harmlessLine(path)}`),
    ...(isBlind ? [`Remaining: unknown. ${TOO_COMMON}`] : remainingLines(remaining)),
    ...backups.map((copy) => backupLine(copy, receipt)),
    ...(isPartial ? ["Not looked for: the facts after the first 500."] : []),
    ...remaining.unread
      .slice(0, SHOWN_UNREAD)
      .map(({ path, why }) => `Not read: ${harmlessLine(path)}: ${harmlessLine(why)}`),
    ...(remaining.unread.length > SHOWN_UNREAD
      ? [`Not read: ${remaining.unread.length - SHOWN_UNREAD} more; --json lists all.`]
      : []),
    UNKNOWN_COPIES,
  ];
}

const UNKNOWN_COPIES =
  "Not searched: OpenClaw's own backups, exports to standard output, other copies of these files, chat services, model providers.";

function erasedLines({ forgotten, caller }: Receipt): readonly string[] {
  if (forgotten === undefined) return [];
  const { scope, deleted, former, erased } = forgotten;
  const when = erased === "pending" ? "; the database overwrites the encrypted bytes a little later" : "";
  return [`Erased: ${entries(deleted, former)} of ${harmlessLine(caller)}: ${harmlessLine(scope)}${when}`];
}

function remainingLines({ found, files }: Traces): readonly string[] {
  if (found.length === 0) return [`Remaining: nothing was found in ${counted(files, "file")}`];
  return ["Remaining:", ...tracesLines(found).map((line) => `  ${line}`)];
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
