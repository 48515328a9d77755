/**
 * What the index stores of each entry besides its terms: enough to show a hit, to expire it and to find its neighbours; and the
 * passages of its text for search and display. Short texts stay whole, long ones are split at paragraphs, lines or sentences.
 */
import { ANSWER_LIMITS } from "../../engine/answer-limits.ts";
import type { CorpusChunk, CorpusEntry } from "../../engine/projections/corpus.ts";
import type { EntryId, Fingerprint, UnixMs } from "../../engine/store/memory-store.ts";
import type { Writer } from "../../engine/store/writer.ts";

export interface IndexedDocument
  extends Pick<CorpusChunk, "docid" | "path" | "title" | "content">,
    Omit<CorpusEntry, "tags" | "body" | "chunk" | "expiresAt" | "writer" | "conversationId"> {
  readonly conversationId: string | undefined;
  readonly writer: Writer | undefined;
  /** Infinity means never. */
  readonly expiresAt: UnixMs;
  readonly bodyLength: number;
  /** The searched passages, in text order. */
  readonly units: readonly number[];
}

export function documentOf(entry: CorpusEntry, units: readonly number[]): IndexedDocument {
  const { id, origin, kind, category, key, conversationId, createdAt, updatedAt, writer } = entry;
  const { docid, path, title, content } = entry.chunk;
  const { fingerprint, bodyStartLine, body, expiresAt = Number.POSITIVE_INFINITY } = entry;
  return {
    ...{ id, origin, kind, docid, path, title, content, category, key, conversationId },
    ...{
      createdAt,
      updatedAt,
      expiresAt,
      writer,
      fingerprint,
      bodyStartLine,
      bodyLength: body.length,
      units,
    },
  };
}

/** Documents in few lists of simple values, which are written and read several times faster than objects. */
export interface PackedDocuments {
  readonly ids: readonly EntryId[];
  readonly keys: readonly string[];
  readonly contents: readonly string[];
  readonly fingerprints: readonly Fingerprint[];
  /** Null when they follow from category and key. */
  readonly names: readonly (Pick<IndexedDocument, "docid" | "path" | "title"> | null)[];
  /** What many documents share, and which of them each one has. */
  readonly shared: readonly Pick<IndexedDocument, Shared>[];
  readonly sharedBy: readonly number[];
  /** Of each document: its times, where its body is, and where its units end. */
  readonly numbers: Float64Array;
  readonly units: Uint32Array;
  /** The length of all texts. */
  readonly characters: number;
}

type Shared = "origin" | "kind" | "category" | "conversationId" | "writer";

const NUMBERS = 6;

export function packDocuments(documents: readonly IndexedDocument[]): PackedDocuments {
  const groups = new Map<string, number>();
  const shared: PackedDocuments["shared"][number][] = [];
  const sharedBy = documents.map(({ origin, kind, category, conversationId, writer }) => {
    const name = JSON.stringify([origin, kind, category, conversationId, writer]);
    const known = groups.get(name) ?? groups.size;
    if (known === groups.size) shared.push({ origin, kind, category, conversationId, writer });
    groups.set(name, known);
    return known;
  });
  const units: number[] = [];
  const numbers = documents.flatMap((document) => {
    const { createdAt, updatedAt, expiresAt, bodyStartLine, bodyLength } = document;
    units.push(...document.units);
    return [createdAt, updatedAt, expiresAt, bodyStartLine, bodyLength, units.length];
  });
  return {
    ids: documents.map(({ id }) => id),
    keys: documents.map(({ key }) => key),
    contents: documents.map(({ content }) => content),
    fingerprints: documents.map(({ fingerprint }) => fingerprint),
    names: documents.map(({ docid, path, title, category, key }) => {
      const usual = usualNames(category, key);
      const isUsual = docid === usual.docid && path === usual.path && title === key;
      return isUsual ? null : { docid, path, title };
    }),
    ...{ shared, sharedBy, numbers: Float64Array.from(numbers), units: Uint32Array.from(units) },
    characters: documents.reduce((sum, document) => sum + charactersOf(document), 0),
  };
}

function usualNames(category: string, key: string): Pick<IndexedDocument, "docid" | "path" | "title"> {
  const docid = `${category}/${key}`;
  return { docid, path: `helmdeck/${docid}.md`, title: key };
}

export function* unpacked(packed: PackedDocuments): Generator<IndexedDocument> {
  const { keys, contents, fingerprints, names, shared, sharedBy, numbers, units } = packed;
  let unitsFrom = 0;
  for (const [row, id] of packed.ids.entries()) {
    const [key = "", content = "", fingerprint] = [keys[row], contents[row], fingerprints[row]];
    const common = shared[sharedBy[row] ?? 0];
    if (common === undefined || fingerprint === undefined) continue; // there is a row of each list
    const [createdAt = 0, updatedAt = 0, expiresAt = 0, bodyStartLine = 0, bodyLength = 0, unitsTo = 0] =
      numbers.subarray(row * NUMBERS, (row + 1) * NUMBERS);
    yield {
      ...{ id, ...common, ...(names[row] ?? usualNames(common.category, key)), content, key, fingerprint },
      ...{ createdAt, updatedAt, expiresAt, bodyStartLine, bodyLength },
      units: Array.from(units.subarray(unitsFrom, unitsTo)),
    };
    unitsFrom = unitsTo;
  }
}

/** What passages and their embedded texts are made of. */
export interface EntryText extends Pick<CorpusEntry, "id" | "fingerprint" | "body" | "bodyStartLine"> {
  readonly chunk: Pick<CorpusChunk, "title" | "content">;
}

export function textOfDocument(document: IndexedDocument): EntryText {
  const { id, fingerprint, content, bodyStartLine } = document;
  const { start, end } = bodyOf(document);
  return { id, fingerprint, chunk: document, body: content.slice(start, end), bodyStartLine };
}

/** Where the value, or a run's details, stands in the content. */
export function bodyOf({
  content,
  bodyStartLine,
  bodyLength,
}: IndexedDocument): Pick<Passage, "start" | "end"> {
  const start = lineStart(content, bodyStartLine);
  return { start, end: start + bodyLength };
}

export function charactersOf({ id, docid, path, title, content, key }: IndexedDocument): number {
  return [id, docid, path, title, content, key].reduce((sum, { length }) => sum + length, 0);
}

/** The passages of an entry: its whole body when the content fits a snippet, otherwise parts of it. Never empty. */
export function passagesOfEntry(entry: EntryText): readonly Passage[] {
  const { content } = entry.chunk;
  const from = lineStart(content, entry.bodyStartLine);
  const to = Math.min(content.length, from + entry.body.length);
  const { bodyStartLine: startLine } = entry;
  if (content.length <= LONGEST_SNIPPET)
    return [{ start: from, end: to, startLine, endLine: startLine + countLines(content, from, to) }];
  const passages = passagesOf(content, from, to, startLine);
  return passages.length > 0 ? passages : passagesOf(content, 0, content.length, 1).slice(0, 1);
}

export function searchedText(entry: EntryText, passage: Passage): string {
  return entry.chunk.content.slice(passage.start, passage.end);
}

/** To embed: preceded by its subject, the words of the title without digits, since numbered parts do not name a subject. */
export function meantText(entry: EntryText, passage: Passage): string {
  const text = searchedText(entry, passage);
  const about = entry.chunk.title
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => /^[\p{L}\p{M}]+$/u.test(word));
  return about.length === 0 ? text : `${about.join(" ")}: ${text}`;
}

function lineStart(content: string, line: number): number {
  let at = 0;
  for (let current = 1; current < line; current += 1) {
    const next = content.indexOf("\n", at);
    if (next === -1) return at;
    at = next + 1;
  }
  return at;
}

/** A passage is shown whole. */
const LONGEST_SNIPPET = ANSWER_LIMITS.snippetCharacters;
/** A passage ends at the first boundary after this many characters. */
const ENOUGH = 350;

/** Part of a chunk's content: [start, end) in UTF-16 units, and its lines, counted from 1. */
export interface Passage {
  readonly start: number;
  readonly end: number;
  readonly startLine: number;
  readonly endLine: number;
}

/** The passages of [from, to) in order; none is longer than a snippet, or begins or ends with white space. */
export function passagesOf(content: string, from: number, to: number, firstLine: number): readonly Passage[] {
  const passages: Passage[] = [];
  let start = skipSpace(content, from, to);
  let line = firstLine + countLines(content, from, start);
  while (start < to) {
    const cut = cutOf(content, start, to);
    const end = start + content.slice(start, cut).trimEnd().length;
    const endLine = line + countLines(content, start, end);
    passages.push({ start, end, startLine: line, endLine });
    const next = skipSpace(content, cut, to);
    line = endLine + countLines(content, end, next);
    start = next;
  }
  return passages;
}

/** The end of the passage that begins at `start`: the last paragraph, line, sentence or word boundary that fits. */
function cutOf(content: string, start: number, to: number): number {
  if (to - start <= LONGEST_SNIPPET) return to;
  const window = content.slice(start, start + LONGEST_SNIPPET);
  for (const boundary of [/\n\s*\n/gu, /\n/gu, /[.!?]\s|[。！？]/gu, /\s/gu]) {
    const cut = boundaryIn(window, boundary);
    if (cut > 0) return start + cut;
  }
  return start + wholeCharacters(window);
}

/** The first boundary after ENOUGH, or the last one before it that leaves a reasonable piece. */
function boundaryIn(window: string, boundary: RegExp): number {
  let last = 0;
  for (const match of window.matchAll(boundary)) {
    const end = match.index + match[0].length;
    if (end >= ENOUGH) return end;
    last = end;
  }
  return last >= ENOUGH / 2 ? last : 0;
}

/** Length without half a surrogate pair at the end. */
export function wholeCharacters(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
}

function skipSpace(content: string, from: number, to: number): number {
  let at = from;
  while (at < to && /\s/u.test(content[at] ?? "")) at += 1;
  return at;
}

export function countLines(content: string, from: number, to: number): number {
  let lines = 0;
  for (let at = content.indexOf("\n", from); at !== -1 && at < to; at = content.indexOf("\n", at + 1))
    lines += 1;
  return lines;
}
