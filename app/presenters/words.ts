/** Words for people: the beginning of a value, and numbers of things. */
import type { PossibleReason } from "../../engine/answer-limits.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { cutText } from "../../engine/projections/frame.ts";
import { dateOf, isDay, isKnownTime } from "../../engine/rfc3339.ts";
import type { EndedMonth } from "../../engine/store/memory-store.ts";
import type { FactView, StoredCounts } from "../memory.ts";

export const SEMANTIC_OFF =
  "Semantic search is off: helmdeck-memory model install turns it on (in OpenClaw: openclaw helmdeck model install).";
export const OTHER_LANGUAGE = "Most of what is stored is in another language than the question.";
export const NOTHING_STORED = "Nothing has been stored yet.";

/** Escaped, on one line; at most this many UTF-16 units, in whole words if possible; "…" marks a cut. */
export function firstWords(value: string, most = 80): string {
  const line = harmlessLine(
    cutText(value, 4 * most)
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
  if (line.length <= most && value.length <= 4 * most) return line;
  const cut = cutText(line, most - 1);
  const lastSpace = cut.lastIndexOf(" ");
  return `${lastSpace > most / 2 ? cut.slice(0, lastSpace) : cut}…`;
}

/** `1 fact`, `12 facts` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `only possibly related: words` */
export function possiblyRelated(why: PossibleReason | undefined): string {
  return why === undefined ? "only possibly related" : `only possibly related: ${why}`;
}

/** `12 facts, none matched; helmdeck/my-memory.md lists them.` `listing`: the end of the sentence. */
export function unmatchedText({ facts, auditRows, ended }: StoredCounts, listing: string): string {
  const there = [
    ...(facts === 0 ? [] : [counted(facts, "fact")]),
    ...(auditRows === 0 ? [] : [`${counted(auditRows, "record")} of tool runs`]),
  ];
  if (there.length === 0) return endedText(ended) || NOTHING_STORED;
  return `${there.join(" and ")}, none matched; ${listing}. ${endedText(ended)}`.trimEnd();
}

const MONTHS = "January February March April May June July August September October November December".split(
  " ",
);

/** `31 facts ended in November 2026, 4 in December 2026.` Empty when none ended. */
export function endedText(ended: readonly EndedMonth[] = []): string {
  const said = ended.map(({ month, facts }, at) => {
    const [year, number] = month.split("-");
    return `${at === 0 ? `${counted(facts, "fact")} ended` : facts} in ${MONTHS[Number(number) - 1]} ${year}`;
  });
  return said.length === 0 ? "" : `${said.join(", ")}.`;
}

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/**
 * Formats a text as one word of a shell command to copy.
 *
 * Quotes it for a POSIX shell if needed. Only for a line without hidden characters, as by {@link isCopyable}.
 */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Whether it survives display and copying unchanged, and cannot be mistaken for an option. */
export function isCopyable(text: string): boolean {
  return harmlessLine(text) === text && !text.startsWith("-");
}

const MOST_WORDS = 4;
const MOST_CHARACTERS = 40;
/** The key for a text without letters, such as emoji. */
const NAMELESS = "note";
/** Words that do not help to tell facts apart, in the most common language; in other languages keys are longer. */
const EMPTY_WORDS = new Set(
  "a an the i we you he she it they my our your his her its their me us is are was were be been am do does did have has had will would can could should to of in on at for from with by as and or but if so that this these those there not always please remember".split(
    " ",
  ),
);

/**
 * Derives a key from a text without one: its first meaningful words.
 *
 * `i always deploy via Konflux` → `deploy-via-konflux`. A key in use by another value gets a number, so that nothing is replaced
 * unasked; the same value keeps its key. `factAt` reads the fact with a key.
 */
export async function keyForText(
  text: string,
  factAt: (key: string) => Promise<Pick<FactView, "value"> | undefined>,
): Promise<string> {
  const name = nameFor(text);
  for (let number = 1; ; number += 1) {
    const key = number === 1 ? name : `${name}-${number}`;
    const there = await factAt(key);
    if (there === undefined || there.value === text) return key;
  }
}

function nameFor(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const telling = words.filter((word) => !EMPTY_WORDS.has(word));
  let name = "";
  for (const word of (telling.length > 0 ? telling : words).slice(0, MOST_WORDS)) {
    const longer = name === "" ? cutText(word, MOST_CHARACTERS) : `${name}-${word}`;
    if (longer.length > MOST_CHARACTERS) break;
    name = longer;
  }
  return name === "" ? NAMELESS : name;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Times for people on a command line.
 *
 * `2026-11-20 22:53`, in the local time zone; `2026-11-20` for a day, in every zone.
 */
export function localMinute(at: number): string {
  if (!isKnownTime(at)) return "an unknown time";
  if (isDay(at)) return dateOf(at);
  const date = new Date(at);
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** `in 89 days`, `in 5 hours`, `never`. */
export function expiryFrom(now: number, expiresAt: number | undefined): string {
  if (expiresAt === undefined) return "never";
  const left = expiresAt - now;
  if (left <= 0) return "expired";
  if (left >= 2 * DAY) return `in ${Math.round(left / DAY)} days`;
  if (left >= 2 * HOUR) return `in ${Math.round(left / HOUR)} hours`;
  const minutes = Math.max(1, Math.round(left / MINUTE));
  return minutes === 1 ? "in 1 minute" : `in ${minutes} minutes`;
}

function two(part: number): string {
  return String(part).padStart(2, "0");
}

interface EmbedderWords {
  readonly provider: string;
  /** Absent for the built-in model. */
  readonly url?: string;
  readonly model: string;
}

/** What embeds, and where. */
export function embedderText({ provider, url, model }: EmbedderWords): string {
  return url === undefined ? `${model}, built in` : `${provider} at ${url}, model ${model}`;
}

type Parts = Readonly<Record<string, { readonly value: number; readonly weight: number }>>;

/** Why a candidate was found, and what speaks against it, in a person's words. */
export function whyFound(parts: Parts, mode: "keyword" | "hybrid", tellsWords = true): readonly string[] {
  const moves = (name: string): boolean => (parts[name]?.value ?? 0) * (parts[name]?.weight ?? 0) !== 0;
  const nearness = parts.nearness?.value ?? 0;
  const said: readonly (string | false)[] = [
    moves("isNamed") && "The query names its key or path.",
    moves("isBeside") && "It belongs to a fact that was found, and is newer or a person's.",
    tellsWords && moves("bm25") && "It has words of the query.",
    moves("synonyms") && "It has synonyms of the query's words.",
    moves("proximity") && "The words are close together, as in the query.",
    moves("context") && "Neighbouring facts have words of the query.",
    mode === "hybrid" &&
      nearness > 0 &&
      `Its meaning is ${nearness >= 1.5 ? "close" : "fairly close"} to the query.`,
    moves("unknownNames") && "Against it: a name or number of the query is not in this memory.",
    !moves("unknownNames") &&
      moves("unknown") &&
      "Against it: some words of the query are not in this memory.",
    moves("fewWords") && "Against it: it has none or only one of the query's words.",
    moves("lacking") && "Against it: whom or what the query asks about is not in it.",
    moves("otherMatter") && "Against it: only the person or thing of the query is in it.",
  ];
  const given = said.filter((text) => typeof text === "string");
  return given.length > 0 || !tellsWords ? given : ["It was recorded at the time that the query names."];
}
