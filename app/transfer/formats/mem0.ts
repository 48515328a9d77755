/**
 * What mem0 answers to `get_all` (its documentation's way to export everything), saved as JSON: a list of memories, or an object
 * with them in `results` (docs.mem0.ai, "Export Stored Memories" and the API reference of "Get Memories", November 2026). An export
 * job's answer has whatever shape its schema says, and is not read.
 *
 * A memory's key is its id, which stays when mem0 updates it.
 */
import * as z from "zod/mini";
import { defined, FACT_LIMITS, HelmdeckError } from "../../../engine/index.ts";
import { readTime } from "../transfer-times.ts";
import {
  type ImportItem,
  MOST_NOTE_TAGS,
  noteItem,
  type Place,
  type ReadContext,
  type ReadItems,
} from "./format.ts";
import { keyOfParts, NoteKeys, nameOfText, slugOf } from "./note-keys.ts";
import { readWhole } from "./whole-text.ts";

const MOST_MIB = 64;
const ROOT = "mem0";
/** Whose memory it was, there. */
const OWNERS = ["user_id", "agent_id", "app_id", "run_id"] as const;

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

export const readMem0: ReadItems = async function* (files, context) {
  const keys = new NoteKeys();
  for (const file of files) {
    const memories = memoriesIn(file.name, await readWhole(file, MOST_MIB));
    for (const [index, given] of memories.entries()) {
      yield itemOf({ file: file.name, line: index + 1 }, given, keys, context);
    }
  }
};

function memoriesIn(name: string, json: string): readonly unknown[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    throw new HelmdeckError("invalid_input", `${name} is not JSON.`);
  }
  const found = Array.isArray(parsed) ? parsed : resultsOf(parsed);
  if (Array.isArray(found)) return found;
  throw new HelmdeckError(
    "invalid_input",
    `${name} is not what mem0's get_all answers: a list of memories, or an object with them in "results".`,
  );
}

function resultsOf(parsed: unknown): unknown {
  return typeof parsed === "object" && parsed !== null && "results" in parsed ? parsed.results : undefined;
}

function itemOf(place: Place, given: unknown, keys: NoteKeys, context: ReadContext): ImportItem {
  const read = memory.safeParse(given);
  if (!read.success) {
    const field = String(read.error.issues[0]?.path[0] ?? "");
    const problem =
      field === "" ? "This is no memory of mem0." : `This memory's ${field} is not of the kind mem0 writes.`;
    return { ...place, problem: new HelmdeckError("invalid_input", problem) };
  }
  const found = read.data;
  const value = found.memory.trim();
  const name = slugOf(found.id ?? "") || nameOfText(value);
  const key = keys.give(keyOfParts([ROOT, name]), value);
  if (key === undefined) return { ...place, leftOut: "a repetition" };
  const times = defined({
    createdAt: timeOf(found.created_at),
    updatedAt: timeOf(found.updated_at),
    endsAt: timeOf(found.expiration_date),
  });
  return noteItem(place, ROOT, { key, value, tags: tagsOf(found), ...times }, context);
}

/** Categories, who it was about, and what metadata says in a word. Longer ones than a tag may be are left off. */
function tagsOf(found: Memory): readonly string[] {
  const owners = OWNERS.flatMap((name) => (found[name] ? [`${name}=${found[name]}`] : []));
  const said = Object.entries(found.metadata ?? {})
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
    .map(([name, value]) => `${name}=${value}`);
  const tags = [...(found.categories ?? []), ...owners, ...said].map((tag) => tag.trim());
  const short = tags.filter((tag) => tag !== "" && Buffer.byteLength(tag) <= FACT_LIMITS.tagBytes);
  return [...new Set(short)].slice(0, MOST_NOTE_TAGS);
}

/** A day counts from its beginning. */
function timeOf(text: string | null | undefined): number | undefined {
  if (!text) return undefined;
  return readTime(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
}
