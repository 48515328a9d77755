/**
 * The graph of `@modelcontextprotocol/server-memory` (its `memory.jsonl`, as written by version 2026.8.31, and what its tool
 * `read_graph` answers): each observation about an entity becomes a fact, and so does each relation. The type of an entity becomes
 * a tag. The graph has no times.
 *
 * People edit the file, and a program may die while it writes. So each part is known by its fields, wherever it stands.
 */
import { type Finding, noteItems, type ReadItems } from "./format.ts";
import {
  type Fields,
  fieldsOf,
  foundInJson,
  hasOthers,
  jsonValues,
  MOST_NESTING,
  textOf,
} from "./json-values.ts";
import { keyOfParts, nameOfText, Repetitions, slugOf } from "./note-keys.ts";
import { readWhole } from "./whole-text.ts";

const MOST_MIB = 64;
const ROOT = "graph";

export const readServerMemory: ReadItems = async function* (files, context) {
  const repetitions = new Repetitions();
  for (const file of files) {
    const json = await readWhole(file, MOST_MIB, { isDamageKept: true });
    yield* noteItems({ name: file.name, root: ROOT, repetitions }, foundInJson(json, graphParts), context);
  }
};

/** Of a graph, and of what a tool's answer is wrapped in. */
const LISTS = ["entities", "relations", "structuredContent", "content"];
const REFUSED = { refused: "This is not an entity or relation of server-memory." } as const;
const UNKNOWN_FIELDS = { leftOut: "fields that a graph does not have" } as const;

function* graphParts(value: unknown, nesting = MOST_NESTING): Generator<readonly Finding[]> {
  for (const given of [value].flat(nesting).map(fieldsOf)) {
    const has = (name: string) => nesting > 0 && given[name] !== undefined;
    if (["from", "to"].every(has)) yield [relation(given), ...othersIn(given, "type from to relationType")];
    else if (["observations", "name"].some(has))
      yield [...entity(given, nesting - 1), ...othersIn(given, "type name entityType", ["observations"])];
    else if (LISTS.some(has)) {
      for (const name of LISTS) yield* graphParts(given[name] ?? [], nesting - 1);
      yield othersIn(given, "isError", LISTS);
    } else if (has("text")) yield [...answer(given, nesting - 1), ...othersIn(given, "type text")];
    else yield [REFUSED];
  }
}

function othersIn(given: Fields, texts: string, lists: readonly string[] = []): readonly Finding[] {
  const known = [...lists, ...texts.split(" ").filter((name) => typeof given[name] !== "object")];
  return hasOthers(given, known) ? [UNKNOWN_FIELDS] : [];
}

function answer({ text }: Fields, nesting: number): readonly Finding[] {
  return [...jsonValues(textOf(text))].flatMap(({ value, isDamaged }) => [
    ...[...graphParts(value ?? [], nesting)].flat(),
    ...(isDamaged ? [REFUSED] : []),
  ]);
}

function relation({ from, to, relationType }: Fields): Finding {
  if (textOf(from) === "" || textOf(to) === "") return REFUSED;
  const parts = [from, relationType, to].map(textOf).filter((part) => part !== "");
  return { note: { key: keyOfParts([ROOT, ...parts.map((part) => slugOf(part))]), value: parts.join(" ") } };
}

/** Each value includes the entity's name: an observation alone does not say what it is about. */
function entity({ name: named, entityType, observations }: Fields, nesting: number): readonly Finding[] {
  const [name, kind] = [textOf(named), textOf(entityType)];
  const noteOf = (key: string, text: string): Finding => ({
    note: {
      key: keyOfParts([ROOT, slugOf(name) || (name && nameOfText(name)), key]),
      value: [name, text].filter((part) => part !== "").join(": "),
      tags: [slugOf(kind)].filter((tag) => tag !== ""),
    },
  });
  const list = [observations ?? []].flat();
  // Some programs write an observation with its time.
  const found = list.map((one): readonly Finding[] | undefined => {
    const said = textOf(fieldsOf(one).content ?? one);
    if (said.trim() !== "") return [noteOf(nameOfText(said), said)];
    const isPart = said === "" && typeof one === "object" && one !== null;
    return isPart ? [...graphParts(one, nesting)].flat() : undefined;
  });
  const isMore = list.some((one) => "content" in fieldsOf(one) && Object.keys(fieldsOf(one)).length > 1);
  return [
    ...(list.length === 0 && name + kind !== "" ? [noteOf("", kind)] : []),
    ...found.flatMap((those) => those ?? []),
    ...(found.includes(undefined) ? [{ leftOut: "an empty observation" }] : []),
    ...(isMore ? [UNKNOWN_FIELDS] : []),
  ];
}
