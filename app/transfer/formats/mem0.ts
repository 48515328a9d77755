/**
 * The response of mem0's `get_all` (its documented export), saved as JSON: a list of memories, or an object with memories in
 * `results` and a graph in `relations` (docs.mem0.ai, "Export Stored Memories" and the API reference of "Get Memories", November
 * 2026). Its TypeScript library uses camel case for the same fields. The result of an export job has a custom shape and is not
 * supported.
 *
 * The key is the memory's id, which mem0 keeps when it updates the memory. A fact has one category: the first that can be one. The
 * others are tags.
 */
import * as z from "zod/mini";
import { defined } from "../../../engine/defined.ts";
import { HelmdeckError } from "../../../engine/errors.ts";
import { FACT_LIMITS } from "../../../engine/facts/facts-policy.ts";
import { readDay, readTime } from "../../../engine/rfc3339.ts";
import {
  canBeCategory,
  type ImportItem,
  MOST_NOTE_TAGS,
  noteItem,
  type Place,
  type ReadContext,
  type ReadItems,
} from "./format.ts";
import { looksLike } from "./guess-format.ts";
import { keyOfParts, nameOfText, Repetitions, slugOf } from "./note-keys.ts";
import { readWhole } from "./whole-text.ts";

const MOST_MIB = 64;
const ROOT = "mem0";
const FURTHER_PAGES = "further pages of mem0's response, which are not in the file";
/** The memory's owner in mem0. */
const OWNERS = ["user_id", "agent_id", "app_id", "run_id"] as const;

/** Names in the TypeScript library. */
const OTHER_NAMES = new Set("createdAt updatedAt expirationDate userId agentId appId runId".split(" "));

const text = z.optional(z.nullable(z.string()));
const memory = z.looseObject({
  id: text,
  memory: z.string(),
  categories: z.optional(z.nullable(z.array(z.string()))),
  metadata: z.optional(z.nullable(z.record(z.string(), z.unknown()))),
  created_at: text,
  updated_at: text,
  expiration_date: text,
  ...{ user_id: text, agent_id: text, app_id: text, run_id: text },
});
type Memory = z.infer<typeof memory>;

const relation = z.looseObject({ source: z.string(), relationship: z.string(), target: z.string() });

/** The content of one file. */
interface Answer {
  readonly memories: readonly unknown[];
  readonly relations: readonly unknown[];
  /** There are further pages that are not in the file. */
  readonly isPage: boolean;
}

export const readMem0: ReadItems = async function* (files, context) {
  const repetitions = new Repetitions();
  for (const file of files) {
    const { memories, relations, isPage } = answerIn(file.name, await readWhole(file, MOST_MIB));
    const place = (index: number): Place => ({ file: file.name, line: index + 1 });
    for (const [index, given] of memories.entries())
      yield memoryItem(place(index), given, repetitions, context);
    const seen = memories.length;
    for (const [index, given] of relations.entries()) {
      yield relationItem(place(seen + index), given, repetitions, context);
    }
    if (isPage) yield { ...place(seen + relations.length), leftOut: FURTHER_PAGES };
  }
};

function answerIn(name: string, json: string): Answer {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    throw new HelmdeckError("invalid_input", `${name} is not JSON: ${looksLike(json)}.`);
  }
  if (Array.isArray(parsed)) return { memories: parsed, relations: [], isPage: false };
  const { results, relations, next } = { ...Object(parsed) } as Readonly<Record<string, unknown>>; // any JSON value
  if (Array.isArray(results)) {
    return { memories: results, relations: Array.isArray(relations) ? relations : [], isPage: next != null };
  }
  throw new HelmdeckError(
    "invalid_input",
    `${name} is not a response of mem0's get_all: a list of memories, or an object with them in "results". Results of export jobs have another shape; save the response of get_all instead.`,
  );
}

function relationItem(
  place: Place,
  given: unknown,
  repetitions: Repetitions,
  context: ReadContext,
): ImportItem {
  const read = relation.safeParse(given);
  if (!read.success) return refused(place, "This is not a relation of mem0's graph.");
  const parts = [read.data.source, read.data.relationship, read.data.target];
  const value = parts.join(" ");
  const key = keyOfParts([ROOT, "relations", ...parts.map((part) => slugOf(part))]);
  return repetitions.has(key, value)
    ? { ...place, leftOut: "a repetition" }
    : noteItem(place, ROOT, { key, value }, context);
}

function refused(place: Place, problem: string): ImportItem {
  return { ...place, problem: new HelmdeckError("invalid_input", problem) };
}

function memoryItem(
  place: Place,
  given: unknown,
  repetitions: Repetitions,
  context: ReadContext,
): ImportItem {
  const read = memory.safeParse(inSnakeCase(given));
  if (!read.success) {
    const field = String(read.error.issues[0]?.path[0] ?? "");
    const problem =
      field === ""
        ? "This is not a mem0 memory."
        : `This memory's ${field} does not have the type that mem0 writes.`;
    return refused(place, problem);
  }
  const found = read.data;
  const value = found.memory.trim();
  const name = slugOf(found.id ?? "") || nameOfText(value);
  const key = keyOfParts([ROOT, name]);
  if (repetitions.has(key, value)) return { ...place, leftOut: "a repetition" };
  const times = defined({
    createdAt: timeOf(found.created_at),
    updatedAt: timeOf(found.updated_at),
    endsAt: timeOf(found.expiration_date),
  });
  const categories = (found.categories ?? []).map((name) => name.trim());
  const category = categories.find(canBeCategory);
  const others = categories.filter((name) => name !== category);
  const note = { key, value, tags: tagsOf(found, others), ...defined({ category }) };
  return noteItem(place, ROOT, { ...note, ...times }, context);
}

/** Other categories, owners, and one-word metadata. Drops tags that are too long. */
function tagsOf(found: Memory, categories: readonly string[]): readonly string[] {
  const owners = OWNERS.flatMap((name) => (found[name] ? [`${name}=${found[name]}`] : []));
  const said = Object.entries(found.metadata ?? {})
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
    .map(([name, value]) => `${name}=${value}`);
  const tags = [...categories, ...owners, ...said].map((tag) => tag.trim());
  const short = tags.filter((tag) => tag !== "" && Buffer.byteLength(tag) <= FACT_LIMITS.tagBytes);
  return [...new Set(short)].slice(0, MOST_NOTE_TAGS);
}

function inSnakeCase(given: unknown): unknown {
  if (typeof given !== "object" || given === null) return given;
  const ours = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [OTHER_NAMES.has(name) ? ours(name) : name, value]),
  );
}

/** A date means its beginning, and a time without a zone is UTC. */
function timeOf(text: string | null | undefined): number | undefined {
  if (!text) return undefined;
  return readDay(text) ?? readTime(/(?:Z|[+-]\d\d:\d\d)$/i.test(text) ? text : `${text}Z`);
}
