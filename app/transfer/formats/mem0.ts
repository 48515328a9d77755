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
import { type Fields, fieldsOf, foundInJson, hasOthers, MOST_NESTING, textOf } from "./json-values.ts";
import { keyOfParts, nameOfText, Repetitions, slugOf } from "./note-keys.ts";
import { readWhole } from "./whole-text.ts";

const MOST_MIB = 64;
const ROOT = "mem0";

const wordsOf = (words: string): readonly string[] => words.split(" ");
/** Names in the TypeScript library. */
const OTHER_NAMES = wordsOf("createdAt updatedAt expirationDate userId agentId appId runId");
/** The memory's owner in mem0, and the program that stored it in OpenMemory. */
const OWNERS = wordsOf("user_id agent_id app_id run_id app_name app");
const TIMES = wordsOf("created_at updated_at expiration_date");
/** What else a memory may have; any other field is named. */
const MEMORY = [
  ...[...OWNERS, ...TIMES, ...wordsOf("id state categories category_ids metadata metadata_")],
  ...wordsOf("hash score type immutable archived_at deleted_at"),
];
const LISTS = wordsOf("results memories items relations");
/** What stands around lists of memories: names by id, and what is about the program that wrote the file. */
const AROUND = [
  ...[...LISTS, ...wordsOf("categories apps count next previous total page size pages")],
  ...wordsOf("user memory_categories status_history access_controls export_meta"),
];

const UNKNOWN_FIELDS = { leftOut: "fields that a fact cannot have" } as const;

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
type Parts = Generator<readonly Finding[]>;

function* mem0Parts(value: unknown, names: Names = new Map(), nesting = MOST_NESTING): Parts {
  for (const fields of [value].flat(nesting).map(fieldsOf)) {
    const lists = LISTS.filter((name) => nesting > 0 && Array.isArray(fields[name]));
    for (const list of lists) {
      const named = new Map([...names, ...namesIn(fields.categories), ...namesIn(fields.apps)]);
      if (list !== "relations") yield* mem0Parts(fields[list], named, nesting - 1);
      else for (const one of [fields.relations].flat()) yield [relation(fieldsOf(one))];
    }
    yield lists.length === 0 ? memory(fields, names) : around(fields);
  }
}

function around(fields: Fields): readonly Finding[] {
  const isPage = Boolean(fields.next) || Number(fields.pages) > Number(fields.page);
  return [
    ...(hasOthers(fields, AROUND) ? [UNKNOWN_FIELDS] : []),
    ...(isPage ? [{ leftOut: "further pages of mem0's response, which are not in the file" }] : []),
  ];
}

function namesIn(list: unknown): readonly (readonly [string, string])[] {
  return [list].flat().map((one) => [textOf(fieldsOf(one).id), textOf(fieldsOf(one).name)]);
}

function relation({ source, relationship, target }: Fields): Finding {
  const parts = [source, relationship, target];
  if (!parts.every((part) => typeof part === "string"))
    return { refused: "This is not a relation of mem0's graph." };
  const key = keyOfParts([ROOT, "relations", ...parts.map((part) => slugOf(part))]);
  return { note: { key, value: parts.join(" ") } };
}

function memory(given: Fields, names: Names): readonly Finding[] {
  const ours = (name: string) =>
    OTHER_NAMES.includes(name) ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : name;
  const fields: Fields = Object.fromEntries(Object.entries(given).map(([name, said]) => [ours(name), said]));
  const texts = ["memory", "content"].filter((name) => name in fields);
  const text = texts.find((name) => typeof fields[name] === "string");
  if (text === undefined && texts.length > 0)
    return [{ refused: "This memory's memory does not have the type that mem0 writes." }];
  if (text === undefined) return [{ refused: "This is not a mem0 memory." }];
  if (![undefined, null, "active"].some((state) => state === fields.state))
    return [{ leftOut: "a memory that is not active in OpenMemory" }];
  const nameOf = (said: unknown) => (names.get(textOf(said)) ?? textOf(said)).trim();
  const categories = [fields.categories ?? fields.category_ids ?? []].flat().map(nameOf);
  const category = categories.find(canBeCategory);
  const metadata = Object.entries(fieldsOf(fields.metadata ?? fields.metadata_));
  const tags = [
    ...categories.filter((name) => name !== category),
    ...OWNERS.filter((name) => fields[name]).map((name) => `${name}=${nameOf(fields[name])}`),
    ...metadata.filter(([, said]) => textOf(said) !== "").map(([name, said]) => `${name}=${textOf(said)}`),
  ].flatMap((tag) => tag.trim() || []);
  const kept = [...new Set(tags)]
    .filter((tag) => Buffer.byteLength(tag) <= FACT_LIMITS.tagBytes)
    .slice(0, MOST_NOTE_TAGS);
  const isLost =
    hasOthers(fields, [...MEMORY, text]) ||
    metadata.some(([, said]) => typeof said === "object" && said !== null) ||
    tags.some((tag) => !kept.includes(tag));
  const value = textOf(fields[text]).trim();
  const key = keyOfParts([ROOT, slugOf(textOf(fields.id)) || nameOfText(value)]);
  const times = TIMES.map((name) => timeOf(fields[name]));
  const [createdAt, updatedAt, endsAt] = times;
  return [
    { note: { key, value, tags: kept, createdAt, updatedAt, endsAt, ...defined({ category }) } },
    ...(TIMES.some((name, n) => fields[name] && times[n] === undefined)
      ? [{ leftOut: "a time that cannot be read" }]
      : []),
    ...(isLost ? [UNKNOWN_FIELDS] : []),
  ];
}

/** A date means its beginning, a time without a zone is UTC, and a number is in seconds. */
function timeOf(given: unknown): number | undefined {
  if (typeof given === "number") return Number.isSafeInteger(given) && given >= 0 ? given * 1_000 : undefined;
  const text = textOf(given);
  return readDay(text) ?? readTime(/(?:Z|[+-]\d\d:\d\d)$/i.test(text) ? text : `${text}Z`);
}
