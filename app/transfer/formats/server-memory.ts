/**
 * The graph of `@modelcontextprotocol/server-memory` (its `memory.jsonl`, as written by version 2026.8.31, and what its tool
 * `read_graph` answers): each observation about an entity becomes a fact, and so does each relation. The type of an entity becomes
 * a tag. The graph has no times.
 *
 * People edit the file, and a program may die while it writes. So each part is known by its fields, wherever it stands.
 */
import { type Finding, noteItems, type ReadItems } from "./format.ts";
import { type Fields, fieldsOf, foundInJson, jsonValues, textOf } from "./json-values.ts";
import { keyOfParts, nameOfText, Repetitions, slugOf } from "./note-keys.ts";
import { readWhole } from "./whole-text.ts";

const MOST_MIB = 64;
const MOST_NESTING = 8;
const ROOT = "graph";

export const readServerMemory: ReadItems = async function* (files, context) {
  const repetitions = new Repetitions();
  for (const file of files) {
    const json = await readWhole(file, MOST_MIB, { isDamageKept: true });
    yield* noteItems({ name: file.name, root: ROOT, repetitions }, foundInJson(json, graphParts), context);
  }
};

interface Kind {
  /** The fields by which a part is known. */
  readonly by: readonly string[];
  readonly texts: readonly string[];
  /** Fields with further parts. */
  readonly lists: readonly string[];
  /** Absent: only the further parts count. */
  readonly read?: (fields: Fields, nesting: number) => readonly Finding[];
}

const ENTITY = { texts: ["type", "name", "entityType"], lists: ["observations"], read: entity } as const;
const GRAPH = { texts: [], lists: ["entities", "relations"] } as const;
const ANSWER = { texts: ["isError"], lists: ["structuredContent", "content"] } as const;

/** What a text may contain; the first kind that fits counts. The last ones are what a tool's answer is wrapped in. */
const KINDS: readonly Kind[] = [
  { by: ["from", "to"], texts: ["type", "from", "to", "relationType"], lists: [], read: relation },
  { by: ["observations"], ...ENTITY },
  { by: ["name"], ...ENTITY },
  { by: ["entities"], ...GRAPH },
  { by: ["relations"], ...GRAPH },
  { by: ["structuredContent"], ...ANSWER },
  { by: ["content"], ...ANSWER },
  { by: ["text"], texts: ["type", "text"], lists: [], read: answer },
];

const REFUSED = { refused: "This is not an entity or relation of server-memory." } as const;
const UNKNOWN_FIELDS = { leftOut: "fields that a graph does not have" } as const;
const EMPTY = { leftOut: "an empty observation" } as const;

function* graphParts(value: unknown, nesting = MOST_NESTING): Generator<readonly Finding[]> {
  if (Array.isArray(value) && nesting > 0) {
    for (const one of value) yield* graphParts(one, nesting - 1);
    return;
  }
  const given = fieldsOf(value);
  const kind = KINDS.find(({ by }) => by.every((name) => given[name] !== undefined));
  if (kind === undefined || nesting === 0) return yield [REFUSED];
  const { texts, lists, read } = kind;
  const isUnknown = ([name, said]: readonly [string, unknown]) =>
    said !== null && !lists.includes(name) && !(texts.includes(name) && typeof said !== "object");
  const others = Object.entries(given).some(isUnknown) ? [UNKNOWN_FIELDS] : [];
  if (read !== undefined) return yield [...read(given, nesting - 1), ...others];
  for (const name of lists) yield* graphParts(given[name] ?? [], nesting - 1);
  yield others;
}

function answer({ text }: Fields, nesting: number): readonly Finding[] {
  return [...jsonValues(textOf(text))].flatMap(({ value, isDamaged }) => [
    ...[...graphParts(value ?? [], nesting)].flat(),
    ...(isDamaged ? [REFUSED] : []),
  ]);
}

function relation({ from, to, relationType }: Fields): readonly Finding[] {
  const parts = [from, relationType, to].map(textOf).filter((part) => part !== "");
  const key = keyOfParts([ROOT, ...parts.map((part) => slugOf(part))]);
  const isWhole = textOf(from) !== "" && textOf(to) !== "";
  return [isWhole ? { note: { key, value: parts.join(" ") } } : REFUSED];
}

/** Each value includes the entity's name: an observation alone does not say what it is about. */
function entity({ name: named, entityType, observations }: Fields, nesting: number): readonly Finding[] {
  const [name, kind] = [textOf(named), textOf(entityType)];
  const list = [observations ?? []].flat();
  // Some programs write an observation with its time.
  const said = list.map((one) => textOf(fieldsOf(one).content ?? one));
  const told = said.filter((text) => text.trim() !== "");
  const noteOf = (key: string, text: string): Finding => ({
    note: {
      key: keyOfParts([ROOT, slugOf(name) || (name && nameOfText(name)), key]),
      value: [name, text].filter((part) => part !== "").join(": "),
      tags: [slugOf(kind)].filter((tag) => tag !== ""),
    },
  });
  const others = list.filter((one, place) => said[place] === "" && typeof one === "object" && one !== null);
  const isMore = list.some((one) => "content" in fieldsOf(one) && Object.keys(fieldsOf(one)).length > 1);
  return [
    ...(list.length === 0 && name + kind !== "" ? [noteOf("", kind)] : []),
    ...told.map((text) => noteOf(nameOfText(text), text)),
    ...(told.length + others.length < list.length ? [EMPTY] : []),
    ...(isMore ? [UNKNOWN_FIELDS] : []),
    ...others.flatMap((other) => [...graphParts(other, nesting)].flat()),
  ];
}
