/** Any Markdown (CLAUDE.md, AGENTS.md, notes), and our own export of it. */
import { basename, dirname } from "node:path";
import { HelmdeckError } from "../../../engine/errors.ts";
import { isToCome, readDay } from "../../../engine/rfc3339.ts";
import type { UnixMs } from "../../../engine/store/memory-store.ts";
import {
  canBeCategory,
  type Found,
  type ImportFile,
  type ImportItem,
  type Note,
  type NoteFile,
  noteItems,
  type ReadContext,
  type ReadItems,
} from "./format.ts";
import { isJson, looksLike } from "./guess-format.ts";
import { isMarkdownExport, MARK_BYTES, readMarkdownExport } from "./markdown-export.ts";
import { type MarkdownItem, markdownItems } from "./markdown-items.ts";
import { keyOfParts, nameOfText, Repetitions, slugOf } from "./note-keys.ts";
import { readWhole } from "./whole-text.ts";

const MOST_MIB = 4;

export const readMarkdown: ReadItems = async function* (files, context) {
  const repetitions = new Repetitions();
  for (const file of files) {
    const { start, file: begun } = await peekFile(file, MARK_BYTES);
    if (isMarkdownExport(start)) yield* readMarkdownExport(begun, context);
    else yield* notesOfFile(begun, { root: rootOf(file.name), repetitions }, context);
  }
};

/** What else is known of an item, or why it is left out. */
export type About = (item: MarkdownItem) => Omit<Note, "key" | "value"> | { readonly leftOut: string };

/** The day of an entry in the text of an assistant's memory, or that it has none. */
const DATED = /^(?:\*\*)?\[(\d{4}-\d\d-\d\d|(?:date )?unknown|no date)\](?:\*\*)?\.?(?:\s*[-–—:])?\s+(?=\S)/i;

/** The items of one file. */
export async function* notesOfFile(
  file: ImportFile,
  { root, repetitions, about = () => ({}) }: Omit<NoteFile, "name"> & { readonly about?: About },
  context: ReadContext,
): AsyncGenerator<ImportItem, void, undefined> {
  const text = await readWhole(file, MOST_MIB);
  if (isJson(text)) {
    throw new HelmdeckError("invalid_input", `${file.name} is not Markdown: ${looksLike(text)}.`);
  }
  yield* noteItems({ name: file.name, root, repetitions }, notesIn(text, root, about, context.now), context);
}

function* notesIn(text: string, root: string, about: About, now: UnixMs): Generator<Found> {
  let named: Pick<Note, "category"> = {};
  for (const item of markdownItems(text)) {
    if ("leftOut" in item) {
      const { category, ...left } = item;
      if (category !== undefined && canBeCategory(category)) named = { category };
      yield left;
      continue;
    }
    const { line, headings } = item;
    const known = about(item);
    if (item.text === "" || "leftOut" in known) {
      yield { line, leftOut: "leftOut" in known ? known.leftOut : "an empty item" };
      continue;
    }
    const key = keyOfParts([root, ...headings.map((heading) => slugOf(heading)), nameOfText(item.text)]);
    yield { line, note: { ...known, ...named, key, ...valueAt(item.text, now) } };
  }
}

/** An entry's day is its time, unless the day is still to come. */
function valueAt(text: string, now: UnixMs): Pick<Note, "value" | "createdAt" | "updatedAt"> {
  const [begin = "", day = ""] = DATED.exec(text) ?? [];
  const at = readDay(day);
  if (begin === "" || (at === undefined ? /\d/.test(day) : isToCome(at, now))) return { value: text };
  return { value: text.slice(begin.length), createdAt: at, updatedAt: at };
}

/** The file and its folder: many folders have a file with the same name. */
function rootOf(path: string): string {
  const stem = slugOf(basename(path).replace(/\.[^.]*$/, ""));
  const root = keyOfParts([slugOf(basename(dirname(path))), stem]);
  return root === "" ? "notes" : root;
}

interface PeekedFile {
  /** At least the requested number of bytes, if the file has them. */
  readonly start: Buffer;
  /** The whole file; can be read once. */
  readonly file: ImportFile;
}

/** A file whose beginning was examined. It is opened once, because standard input cannot be read twice. */
async function peekFile({ name, open }: ImportFile, bytes: number): Promise<PeekedFile> {
  const parts = open()[Symbol.asyncIterator]();
  let start = Buffer.alloc(0);
  while (start.byteLength < bytes) {
    const { done, value } = await parts.next();
    if (done === true) break;
    start = Buffer.concat([start, value]);
  }
  async function* whole(): AsyncGenerator<Uint8Array, void, undefined> {
    yield start;
    yield* { [Symbol.asyncIterator]: () => parts };
  }
  return { start, file: { name, open: whole } };
}
