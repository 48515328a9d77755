/** Any Markdown (CLAUDE.md, AGENTS.md, notes), and our own export of it. */
import { basename, dirname } from "node:path";
import { HelmdeckError } from "../../../engine/errors.ts";
import {
  canBeCategory,
  type ImportFile,
  type ImportItem,
  type Note,
  noteItem,
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

export interface NoteFile {
  /** The prefix of all keys of the file. */
  readonly root: string;
  readonly repetitions: Repetitions;
  /** Additional data of an item; undefined text: why it is skipped. */
  readonly about?: (item: MarkdownItem) => Omit<Note, "key" | "value"> | { readonly leftOut: string };
}

/** The items of one file. */
export async function* notesOfFile(
  file: ImportFile,
  { root, repetitions, about = () => ({}) }: NoteFile,
  context: ReadContext,
): AsyncGenerator<ImportItem, void, undefined> {
  const text = await readWhole(file, MOST_MIB);
  if (isJson(text)) {
    throw new HelmdeckError("invalid_input", `${file.name} is not Markdown: ${looksLike(text)}.`);
  }
  let named: Pick<Note, "category"> = {};
  for (const item of markdownItems(text)) {
    const place = { file: file.name, line: item.line };
    if ("leftOut" in item) {
      if (item.category !== undefined && canBeCategory(item.category)) named = { category: item.category };
      yield { ...place, leftOut: item.leftOut };
      continue;
    }
    if (item.text === "") {
      yield { ...place, leftOut: "an empty item" };
      continue;
    }
    const known = about(item);
    if ("leftOut" in known) {
      yield { ...place, leftOut: known.leftOut };
      continue;
    }
    const parts = [root, ...item.headings.map((heading) => slugOf(heading)), nameOfText(item.text)];
    const key = keyOfParts(parts);
    if (repetitions.has(key, item.text)) yield { ...place, leftOut: "a repetition" };
    else yield noteItem(place, root, { ...known, ...named, key, value: item.text }, context);
  }
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
