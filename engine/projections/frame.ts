/**
 * The frame of a document: one trusted line that says what it is, its key and category, when it was stored and by whom.
 *
 * An attacker who can get a fact stored (a web page that an agent read, an imported file) chooses its key and its value, and both
 * go into a model's context. A key may look like the record of a run, and a value may fake headings, a category and a second hit.
 * So the key is quoted as JSON, on one line, and each line of the text begins with ">", as no line of ours does. Stored text
 * cannot end either quotation.
 */
import { harmlessBlock, harmlessLine } from "../facts/hostile-text.ts";
import { dateOf, isKnownTime } from "../rfc3339.ts";
import type { UnixMs } from "../store/memory-store.ts";
import { isPersons, type Writer } from "../store/writer.ts";
import type { DocumentKind } from "./corpus.ts";

/** The properties that a frame shows. */
export interface Framed {
  readonly kind: DocumentKind;
  readonly key: string;
  readonly category: string;
  readonly createdAt: UnixMs;
  readonly updatedAt: UnixMs;
  readonly writer?: Writer;
}

export interface FramedHit extends Framed {
  readonly conflictsWith?: readonly Conflicting[];
}

/** Another fact that says something else of the same thing. */
export interface Conflicting {
  readonly key: string;
  readonly updatedAt: UnixMs;
}

export interface FrameOptions {
  /** Formats a time. Default: the day, in UTC. */
  readonly time?: (at: UnixMs) => string;
  /** Omits the category of a run, because its key begins with it, and says "you". */
  readonly isForPerson?: boolean;
  /** In UTF-16 units. A longer frame loses the end of the key first, then the writer. Default: no limit. */
  readonly most?: number;
}

const KIND_WORDS = { fact: "fact", pack: "pack call", pipeline: "pipeline run", tool: "tool call" } as const;
/** The shortest key to show, including its quotes. */
const LEAST_KEY = 16;
/** Conflicts to name, and the length of each key. */
const MOST_CONFLICTS = 2;
const MOST_OTHER_KEY = 80;
/** Length of each part of a writer's name. */
const MOST_NAME = 40;
/** Empty lines at the end of a quotation. */
const EMPTY_LINES = /(?:\n(?:> ?)?)+$/;
const PLAIN_NAME = /^[\w.@-]+$/;

/**
 * `fact "deploy/preference" in work, stored 2026-11-20, updated 2026-11-22 by agent main (direct)`, and of a fact that others
 * contradict also `; contradicts "deploy/friday" of 2026-04-01`.
 */
export function frameOf(
  document: FramedHit,
  { time = dateOf, isForPerson, most }: FrameOptions = {},
): string {
  const { kind, key, category, createdAt, updatedAt, writer, conflictsWith = [] } = document;
  const updated = updatedAt === createdAt ? "" : `, updated ${time(updatedAt)}`;
  const stored = isKnownTime(createdAt) ? `, stored ${time(createdAt)}${updated}` : "";
  const place = isForPerson && kind !== "fact" ? "" : ` in ${harmlessLine(category)}`;
  const dated = `${place}${stored}`;
  const by = writer === undefined ? "" : ` by ${writerText(writer, isForPerson ? "person" : "model")}`;
  const conflict = conflictText(conflictsWith, time);
  if (most === undefined) return `${nameOf({ kind, key })}${dated}${by}${conflict}`;
  const needed = KIND_WORDS[kind].length + 1 + dated.length + by.length + conflict.length;
  const tail = most - LEAST_KEY < needed ? dated + conflict : dated + by + conflict;
  return `${nameOf({ kind, key }, most - tail.length)}${tail}`;
}

function conflictText(others: readonly Conflicting[], time: (at: UnixMs) => string): string {
  if (others.length === 0) return "";
  const named = others
    .slice(0, MOST_CONFLICTS)
    .map(({ key, updatedAt }) => `${quotedKey(key, MOST_OTHER_KEY)} of ${time(updatedAt)}`);
  const more = others.length > MOST_CONFLICTS ? ` and ${others.length - MOST_CONFLICTS} more` : "";
  return `; contradicts ${named.join(" and ")}${more}`;
}

/** `fact "deploy/preference"`; the key is truncated to fit. */
export function nameOf({ kind, key }: Pick<Framed, "kind" | "key">, most?: number): string {
  const word = KIND_WORDS[kind];
  const room = most === undefined ? undefined : Math.max(LEAST_KEY, most - word.length - 1);
  return `${word} ${quotedKey(key, room)}`;
}

/** Where somebody writes, by surface: for a person, and for a model, whose lines have little room. */
const WAYS: Readonly<Record<string, readonly [way: string, short: string]>> = {
  cli: ["on a command line", "cli"],
  pages: ["on a page", "pages"],
  "openclaw-request": ["in OpenClaw", "message"],
  "openclaw-chat": ["by a chat command in OpenClaw", "chat"],
  openclaw: ["in OpenClaw", "agent"],
  rest: ["over REST", "REST caller"],
  "rest-person": ["over REST", "REST"],
  pack: ["over MCP", "MCP caller"],
};

/**
 * Who stored it. To a person: `you, in OpenClaw`, `agent main, in OpenClaw (direct)`, `an import`; to a model: `the user (message)`,
 * `agent main (direct)`, `an import`. No name of an agent or a caller can pass for a person.
 */
export function writerText(writer: Writer, reader: "person" | "model" = "model"): string {
  const { surface, agent, sessionKind } = writer;
  const shown = plainName(surface);
  const known = Object.hasOwn(WAYS, surface) ? WAYS[surface] : undefined;
  const [way, short] = known ?? [`through ${shown}`, `${shown} caller`];
  const isForPerson = reader === "person";
  if (isPersons({ writer })) return isForPerson ? `you, ${way}` : `the user (${short})`;
  if (agent === undefined && surface === "import") return "an import";
  const name = agent === undefined ? "" : ` ${plainName(agent)}`;
  const kind = sessionKind === undefined || sessionKind === "other" ? "" : ` (${plainName(sessionKind)})`;
  if (!isForPerson) return `${short}${name}${kind}`;
  return `${surface === "openclaw" ? "agent" : "caller"}${name}, ${way}${kind}`;
}

/** A key quoted as JSON, with "…" after the quotes when it was truncated to this many UTF-16 units. */
export function quotedKey(key: string, most = Number.POSITIVE_INFINITY): string {
  const line = harmlessLine(key);
  const whole = JSON.stringify(line);
  if (whole.length <= most) return whole;
  let kept = cutText(line, most);
  while (kept !== "" && JSON.stringify(kept).length >= most) kept = cutText(kept, kept.length - 1);
  return `${JSON.stringify(kept)}…`;
}

/** The stored text as a quotation: each line begins with "> ", and "…" marks a text truncated to this many UTF-16 units. */
export function quotedText(text: string, most = Number.POSITIVE_INFINITY): string {
  // Of two characters, at least one is shown: no more of a long text is looked at.
  const lines = harmlessBlock(cutText(text, 2 * most)).split("\n");
  const whole = lines.map((line) => (line === "" ? ">" : `> ${line}`)).join("\n");
  return whole.length <= most ? whole : `${cutText(whole, most - 1).replace(EMPTY_LINES, "")}…`;
}

/** Truncates to this many UTF-16 units without splitting a surrogate pair. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = /[\uD800-\uDBFF]/.test(text.charAt(most - 1)) ? most - 1 : most;
  return text.slice(0, end);
}

/** A name as it stands, or quoted if it could pass for other words. */
export function plainName(name: string): string {
  return PLAIN_NAME.test(name) && name.length <= MOST_NAME ? name : quotedKey(name, MOST_NAME);
}
