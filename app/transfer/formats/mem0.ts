/**
 * mem0's memories as JSON: what `get_all` answers (docs.mem0.ai, "Export Stored Memories" and the API reference of "Get Memories",
 * November 2026), the lists that its export jobs and its OpenMemory answer, and OpenMemory's backup (`memories.json` and
 * `memories.jsonl.gz`, as written by its router `backup`). A graph's `relations` become facts, too. mem0's TypeScript library uses
 * camel case for the same fields. The result of an export job with a schema of its own has no memories.
 *
 * The key is the memory's id, which mem0 keeps when it updates the memory. A fact has one category: the first that can be one. The
 * others are tags.
 */
import { defined } from "../../../engine/defined.ts";
import { HelmdeckError } from "../../../engine/errors.ts";
import { FACT_LIMITS } from "../../../engine/facts/facts-policy.ts";
import { readDay, readTime } from "../../../engine/rfc3339.ts";
import { canBeCategory, type Finding, MOST_NOTE_TAGS, noteItems, type ReadItems } from "./format.ts";
import { looksLike } from "./guess-format.ts";
import { type Fields, fieldsOf, foundInJson, textOf } from "./json-values.ts";
import { keyOfParts, nameOfText, Repetitions, slugOf } from "./note-keys.ts";
import { readWhole } from "./whole-text.ts";

const MOST_MIB = 64;
const MOST_NESTING = 8;
const ROOT = "mem0";

/** Names in the TypeScript library. */
const OTHER_NAMES = new Set("createdAt updatedAt expirationDate userId agentId appId runId".split(" "));
/** The memory's owner in mem0, and the program that stored it in OpenMemory. */
const OWNERS = ["user_id", "agent_id", "app_id", "run_id", "app_name", "app"];
/** What a memory may have. The first text counts; a field that stands in none of these lists is named. */
const MEMORY = {
  texts: ["memory", "content"],
  times: ["created_at", "updated_at", "expiration_date"],
  others: ["id", "state", "categories", "category_ids", "metadata", "metadata_", ...OWNERS],
  unused: ["hash", "score", "type", "immutable", "archived_at", "deleted_at"],
};
/** What stands around memories: lists of them, names by id, and what is about the program that wrote the file. */
const AROUND = {
  lists: ["results", "memories", "items", "relations"],
  named: ["categories", "apps"],
  pages: ["count", "next", "previous", "total", "page", "size", "pages"],
  unused: ["user", "memory_categories", "status_history", "access_controls", "export_meta"],
};

const NO_MEMORY = { refused: "This is not a mem0 memory." } as const;
const NO_TEXT = { refused: "This memory's memory does not have the type that mem0 writes." } as const;
const NO_RELATION = { refused: "This is not a relation of mem0's graph." } as const;
const NOT_ACTIVE = { leftOut: "a memory that is not active in OpenMemory" } as const;
const NO_TIME = { leftOut: "a time that cannot be read" } as const;
const UNKNOWN_FIELDS = { leftOut: "fields that a fact cannot have" } as const;
const FURTHER_PAGES = { leftOut: "further pages of mem0's response, which are not in the file" } as const;

export const readMem0: ReadItems = async function* (files, context) {
  const repetitions = new Repetitions();
  for (const file of files) {
    const json = await readWhole(file, MOST_MIB);
    const found = [...foundInJson(json, (value) => mem0Parts(value))];
    if (found.length > 0 && found.every((one) => "refused" in one)) throw notMem0(file.name, json);
    yield* noteItems({ name: file.name, root: ROOT, repetitions }, found, context);
  }
};

function notMem0(name: string, json: string): HelmdeckError {
  const looks = looksLike(json);
  const hint = looks.includes("mem0") ? "save what get_all answers" : looks;
  const shape = 'a list of memories, or an object with them in "results" or "memories"';
  return new HelmdeckError("invalid_input", `${name} is not what mem0 writes (${shape}): ${hint}.`);
}

type Names = ReadonlyMap<string, string>;

function* mem0Parts(
  value: unknown,
  names: Names = new Map(),
  nesting = MOST_NESTING,
): Generator<readonly Finding[]> {
  if (Array.isArray(value) && nesting > 0) {
    for (const one of value) yield* mem0Parts(one, names, nesting - 1);
    return;
  }
  const fields = fieldsOf(value);
  const lists = AROUND.lists.filter((name) => Array.isArray(fields[name]));
  if (lists.length === 0 || nesting === 0) return yield memory(fields, names);
  const named = new Map([...names, ...AROUND.named.flatMap((name) => namesIn(fields[name]))]);
  for (const list of lists.filter((name) => name !== "relations"))
    yield* mem0Parts(fields[list], named, nesting - 1);
  if (lists.includes("relations"))
    for (const one of [fields.relations].flat()) yield [relation(fieldsOf(one))];
  yield around(fields);
}

function around(fields: Fields): readonly Finding[] {
  const isKnown = (name: string) => Object.values(AROUND).some((group) => group.includes(name));
  const isUnknown = Object.entries(fields).some(([name, said]) => said !== null && !isKnown(name));
  const isPage = Boolean(fields.next) || Number(fields.pages) > Number(fields.page);
  return [...(isUnknown ? [UNKNOWN_FIELDS] : []), ...(isPage ? [FURTHER_PAGES] : [])];
}

function namesIn(list: unknown): readonly (readonly [string, string])[] {
  return [list].flat().map((one) => [textOf(fieldsOf(one).id), textOf(fieldsOf(one).name)]);
}

function relation({ source, relationship, target }: Fields): Finding {
  const parts = [source, relationship, target];
  if (!parts.every((part) => typeof part === "string")) return NO_RELATION;
  return {
    note: {
      key: keyOfParts([ROOT, "relations", ...parts.map((part) => slugOf(part))]),
      value: parts.join(" "),
    },
  };
}

function memory(given: Fields, names: Names): readonly Finding[] {
  const ours = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const fields: Fields = Object.fromEntries(
    Object.entries(given).map(([name, said]) => [OTHER_NAMES.has(name) ? ours(name) : name, said]),
  );
  const text = MEMORY.texts.find((name) => typeof fields[name] === "string");
  if (text === undefined) return [MEMORY.texts.some((name) => name in fields) ? NO_TEXT : NO_MEMORY];
  if (![undefined, null, "active"].some((state) => state === fields.state)) return [NOT_ACTIVE];
  const value = textOf(fields[text]).trim();
  const [createdAt, updatedAt, endsAt] = MEMORY.times.map((name) => timeOf(fields[name]));
  const categories = [fields.categories ?? fields.category_ids ?? []]
    .flat()
    .map(nameIn(names))
    .filter((name) => name !== "");
  const category = categories.find(canBeCategory);
  const metadata = Object.entries(fieldsOf(fields.metadata ?? fields.metadata_));
  const tags = [
    ...categories.filter((name) => name !== category),
    ...OWNERS.filter((name) => fields[name]).map((name) => `${name}=${nameIn(names)(fields[name])}`),
    ...metadata.filter(([, said]) => textOf(said) !== "").map(([name, said]) => `${name}=${textOf(said)}`),
  ].map((tag) => tag.trim());
  const kept = [...new Set(tags)].filter(
    (tag) => tag !== "" && Buffer.byteLength(tag) <= FACT_LIMITS.tagBytes,
  );
  const isUnknown = ([name, said]: readonly [string, unknown]) =>
    said !== null &&
    name !== text &&
    !Object.values({ ...MEMORY, texts: [] as string[] }).some((group) => group.includes(name));
  const isLost =
    Object.entries(fields).some(isUnknown) ||
    metadata.some(([, said]) => typeof said === "object" && said !== null) ||
    tags.some((tag) => tag !== "" && !kept.slice(0, MOST_NOTE_TAGS).includes(tag));
  const key = keyOfParts([ROOT, slugOf(textOf(fields.id)) || nameOfText(value)]);
  const about = defined({ category, createdAt, updatedAt, endsAt });
  return [
    { note: { key, value, tags: kept.slice(0, MOST_NOTE_TAGS), ...about } },
    ...(MEMORY.times.some((name) => fields[name] && timeOf(fields[name]) === undefined) ? [NO_TIME] : []),
    ...(isLost ? [UNKNOWN_FIELDS] : []),
  ];
}

function nameIn(names: Names): (given: unknown) => string {
  return (given) => (names.get(textOf(given)) ?? textOf(given)).trim();
}

/** A date means its beginning, a time without a zone is UTC, and a number is in seconds. */
function timeOf(given: unknown): number | undefined {
  if (typeof given === "number") return Number.isSafeInteger(given) && given >= 0 ? given * 1_000 : undefined;
  const text = textOf(given);
  return readDay(text) ?? readTime(/(?:Z|[+-]\d\d:\d\d)$/i.test(text) ? text : `${text}Z`);
}
