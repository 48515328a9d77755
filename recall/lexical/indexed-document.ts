/** What the index stores of each entry besides its terms: enough to show a hit, to expire it and to find its neighbours. */
import type { CorpusChunk, CorpusEntry, DocumentKind } from "../../engine/projections/corpus.ts";
import type { EntryId, Fingerprint, Origin, UnixMs } from "../../engine/store/memory-store.ts";
import type { Writer } from "../../engine/store/writer.ts";
import { countLines, LONGEST_SNIPPET, type Passage, passagesOf } from "./passages.ts";
import { ownCopy } from "./terms.ts";

export interface IndexedDocument {
  readonly id: EntryId;
  readonly origin: Origin;
  readonly kind: DocumentKind;
  readonly docid: string;
  readonly path: string;
  readonly title: string;
  readonly content: string;
  readonly category: string;
  readonly key: string;
  /** The key up to its last slash; undefined without one. */
  readonly prefix: string | undefined;
  /** At the end of the key: 12 of "call/12". Undefined without one; a date is none. */
  readonly lineNumber: number | undefined;
  readonly createdAt: UnixMs;
  readonly updatedAt: UnixMs;
  /** Infinity means never. */
  readonly expiresAt: UnixMs;
  readonly writer: Writer | undefined;
  /** Of the value. */
  readonly fingerprint: Fingerprint;
  /** See {@link CorpusEntry}. */
  readonly bodyStartLine: number;
  readonly bodyLength: number;
  /** The searched passages, in text order. */
  readonly units: readonly number[];
}

export function documentOf(entry: CorpusEntry, units: readonly number[]): IndexedDocument {
  return {
    id: entry.id,
    origin: entry.origin,
    kind: entry.kind,
    docid: entry.chunk.docid,
    path: entry.chunk.path,
    title: entry.chunk.title,
    content: entry.chunk.content,
    category: entry.category,
    key: entry.key,
    prefix: prefixOf(entry.key),
    lineNumber: lineNumberOf(entry.key),
    createdAt: entry.createdAt,
    updatedAt: entry.updatedAt,
    expiresAt: entry.expiresAt ?? Number.POSITIVE_INFINITY,
    writer: entry.writer,
    fingerprint: entry.fingerprint,
    bodyStartLine: entry.bodyStartLine,
    bodyLength: entry.body.length,
    units,
  };
}

/** The documents' fields, each in one list, which is written and read several times faster than objects. */
export type DocumentColumns = {
  readonly [Field in Exclude<keyof IndexedDocument, "units">]: readonly IndexedDocument[Field][];
};

export function columnsOf(documents: readonly IndexedDocument[]): DocumentColumns {
  const column = <Field extends keyof IndexedDocument>(field: Field): IndexedDocument[Field][] =>
    documents.map((document) => document[field]);
  return {
    id: column("id"),
    origin: column("origin"),
    kind: column("kind"),
    docid: column("docid"),
    path: column("path"),
    title: column("title"),
    content: column("content"),
    category: column("category"),
    key: column("key"),
    prefix: column("prefix"),
    lineNumber: column("lineNumber"),
    createdAt: column("createdAt"),
    updatedAt: column("updatedAt"),
    expiresAt: column("expiresAt"),
    writer: column("writer"),
    fingerprint: column("fingerprint"),
    bodyStartLine: column("bodyStartLine"),
    bodyLength: column("bodyLength"),
  };
}

/** A document of these columns; written out, so that all documents have one form in memory. */
export function documentIn(columns: DocumentColumns, row: number, units: readonly number[]): IndexedDocument {
  return {
    id: columns.id[row] as EntryId, // each list has every row
    origin: columns.origin[row] as Origin,
    kind: columns.kind[row] as DocumentKind,
    docid: columns.docid[row] ?? "",
    path: columns.path[row] ?? "",
    title: columns.title[row] ?? "",
    content: columns.content[row] ?? "",
    category: columns.category[row] ?? "",
    key: columns.key[row] ?? "",
    prefix: columns.prefix[row],
    lineNumber: columns.lineNumber[row],
    createdAt: columns.createdAt[row] ?? 0,
    updatedAt: columns.updatedAt[row] ?? 0,
    expiresAt: columns.expiresAt[row] ?? 0,
    writer: columns.writer[row],
    fingerprint: columns.fingerprint[row] as Fingerprint,
    bodyStartLine: columns.bodyStartLine[row] ?? 1,
    bodyLength: columns.bodyLength[row] ?? 0,
    units,
  };
}

/** What passages and their embedded texts are made of. */
export interface EntryText extends Pick<CorpusEntry, "id" | "fingerprint" | "body" | "bodyStartLine"> {
  readonly chunk: Pick<CorpusChunk, "title" | "content">;
}

export function textOfDocument(document: IndexedDocument): EntryText {
  const { id, fingerprint, content, bodyStartLine } = document;
  const from = lineStart(content, bodyStartLine);
  const body = content.slice(from, from + document.bodyLength);
  return { id, fingerprint, chunk: document, body, bodyStartLine };
}

/** The length of all its texts. */
export function charactersOf({ id, docid, path, title, content, key }: IndexedDocument): number {
  return [id, docid, path, title, content, key].reduce((sum, { length }) => sum + length, 0);
}

function prefixOf(key: string): string | undefined {
  const slash = key.lastIndexOf("/");
  return slash <= 0 ? undefined : ownCopy(key.slice(0, slash));
}

/** The passages of an entry: its whole body when the content fits a snippet, otherwise parts of it. Never empty. */
export function passagesOfEntry(entry: EntryText): readonly Passage[] {
  const { content } = entry.chunk;
  const from = lineStart(content, entry.bodyStartLine);
  const to = Math.min(content.length, from + entry.body.length);
  if (content.length <= LONGEST_SNIPPET) return [wholeOf(content, from, to, entry.bodyStartLine)];
  const passages = passagesOf(content, from, to, entry.bodyStartLine);
  return passages.length > 0 ? passages : passagesOf(content, 0, content.length, 1).slice(0, 1);
}

/** The text of a passage for keyword search. */
export function searchedText(entry: EntryText, passage: Passage): string {
  return entry.chunk.content.slice(passage.start, passage.end);
}

/**
 * The text of a passage to embed: the searched text, preceded by its subject in words. Only words without digits are taken from
 * the key: numbered parts do not name a subject.
 */
export function meantText(entry: EntryText, passage: Passage): string {
  const text = searchedText(entry, passage);
  const about = entry.chunk.title
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => /^[\p{L}\p{M}]+$/u.test(word));
  return about.length === 0 ? text : `${about.join(" ")}: ${text}`;
}

function wholeOf(content: string, start: number, end: number, startLine: number): Passage {
  return { start, end, startLine, endLine: startLine + countLines(content, start, end) };
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

const NUMBER_AT_END = /(?<!\d)\d{1,9}$/;
const DATE_AT_END = /\d{4}-\d\d(?:-\d\d)?$/;

function lineNumberOf(key: string): number | undefined {
  const digits = NUMBER_AT_END.exec(key)?.[0];
  return digits === undefined || DATE_AT_END.test(key) ? undefined : Number(digits);
}
