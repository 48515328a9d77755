/**
 * The graph of `@modelcontextprotocol/server-memory` (its `memory.jsonl`, as written by version 2026.8.31): each observation
 * about an entity becomes a fact, and so does each relation. The type of an entity becomes a tag. The graph has no times.
 */

import * as z from "zod/mini";
import { HelmdeckError } from "../../../engine/errors.ts";
import { jsonOf } from "../../../engine/json.ts";
import { readLines } from "../line-reader.ts";
import {
  type ImportItem,
  type Note,
  noteItem,
  type Place,
  type ReadContext,
  type ReadItems,
} from "./format.ts";
import { LINE_BYTES, lineProblem } from "./json-lines.ts";
import { keyOfParts, nameOfText, Repetitions, slugOf } from "./note-keys.ts";

const ROOT = "graph";

const graphLine = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("entity"),
    name: z.string(),
    entityType: z.string(),
    observations: z.array(z.string()),
  }),
  z.looseObject({
    type: z.literal("relation"),
    from: z.string(),
    to: z.string(),
    relationType: z.string(),
  }),
]);
type GraphLine = z.infer<typeof graphLine>;

export const readServerMemory: ReadItems = async function* (files, context) {
  const repetitions = new Repetitions();
  for (const { name, open } of files) {
    for await (const line of readLines(open(), LINE_BYTES)) {
      const place = { file: name, line: line.number };
      if ("problem" in line) yield { ...place, problem: lineProblem(line.problem) };
      else yield* itemsOf(place, line.text, repetitions, context);
    }
  }
};

function* itemsOf(
  place: Place,
  text: string,
  repetitions: Repetitions,
  context: ReadContext,
): Generator<ImportItem> {
  const read = graphLine.safeParse(jsonOf(text));
  if (!read.success) {
    const message = "This is not an entity or relation of server-memory, one JSON object per line.";
    yield { ...place, problem: new HelmdeckError("invalid_input", message) };
    return;
  }
  if (read.data.type === "entity" && read.data.observations.some(isBlank)) {
    yield { ...place, leftOut: "an empty observation" };
  }
  for (const note of notesOf(read.data)) {
    yield repetitions.has(note.key, note.value)
      ? { ...place, leftOut: "a repetition" }
      : noteItem(place, ROOT, note, context);
  }
}

/** Each value includes the entity's name: an observation alone does not say what it is about. */
function notesOf(line: GraphLine): readonly Note[] {
  if (line.type === "relation") {
    const parts = [line.from, line.relationType, line.to];
    return [{ key: keyOfParts([ROOT, ...parts.map((part) => slugOf(part))]), value: parts.join(" ") }];
  }
  const { name, entityType, observations } = line;
  const kind = slugOf(entityType);
  const about = { tags: kind === "" ? [] : [kind] };
  const root = [ROOT, slugOf(name) || nameOfText(name)];
  if (observations.length === 0)
    return [{ ...about, key: keyOfParts(root), value: `${name}: ${entityType}` }];
  const told = observations.filter((said) => !isBlank(said));
  return told.map((said) => ({
    ...about,
    key: keyOfParts([...root, nameOfText(said)]),
    value: `${name}: ${said}`,
  }));
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}
