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

/** Documents without their units, in few lists of simple values: these are written and read several times faster than objects. */
export interface PackedDocuments {
  readonly ids: readonly EntryId[];
  readonly keys: readonly string[];
  readonly contents: readonly string[];
  readonly fingerprints: readonly Fingerprint[];
  /** Null when they follow from category and key. */
  readonly names: readonly (Pick<IndexedDocument, "docid" | "path" | "title"> | null)[];
  /** What many documents share, and which of them each one has. */
  readonly shared: readonly Pick<IndexedDocument, "origin" | "kind" | "category" | "prefix" | "writer">[];
  readonly sharedBy: readonly number[];
  /** Of each document: its times, the number at the end of its key (NaN without one), and where its body is. */
  readonly numbers: Float64Array;
}

const NUMBERS = 6;

export function packDocuments(documents: readonly IndexedDocument[]): PackedDocuments {
  const groups = new Map<string, number>();
  const shared: IndexedDocument[] = [];
  const sharedBy = documents.map((document) => {
    const { origin, kind, category, prefix, writer } = document;
    const name = JSON.stringify([origin, kind, category, prefix, writer]);
    const known = groups.get(name) ?? groups.size;
    if (known === groups.size) shared.push(document);
    groups.set(name, known);
    return known;
  });
  return {
    ids: documents.map(({ id }) => id),
    keys: documents.map(({ key }) => key),
    contents: documents.map(({ content }) => content),
    fingerprints: documents.map(({ fingerprint }) => fingerprint),
    names: documents.map(({ docid, path, title, category, key }) =>
      docid === `${category}/${key}` && path === simplePath(docid) && title === key
        ? null
        : { docid, path, title },
    ),
    shared: shared.map(({ origin, kind, category, prefix, writer }) => ({
      origin,
      kind,
      category,
      prefix,
      writer,
    })),
    sharedBy,
    numbers: Float64Array.from(documents.flatMap(numbersOf)),
  };
}

function numbersOf(document: IndexedDocument): readonly number[] {
  const { createdAt, updatedAt, expiresAt, lineNumber, bodyStartLine, bodyLength } = document;
  return [createdAt, updatedAt, expiresAt, lineNumber ?? Number.NaN, bodyStartLine, bodyLength];
}

function simplePath(docid: string): string {
  return `helmdeck/${docid}.md`;
}

/** One document; undefined behind the last one. */
export function unpackDocument(
  packed: PackedDocuments,
  row: number,
  units: readonly number[],
): IndexedDocument | undefined {
  const [id, key] = [packed.ids[row], packed.keys[row]];
  const [content, fingerprint] = [packed.contents[row], packed.fingerprints[row]];
  const shared = packed.shared[packed.sharedBy[row] ?? -1];
  if (
    id === undefined ||
    key === undefined ||
    content === undefined ||
    fingerprint === undefined ||
    shared === undefined
  )
    return undefined;
  const { origin, kind, category, prefix, writer } = shared;
  const docid = `${category}/${key}`;
  const names = packed.names[row] ?? { docid, path: simplePath(docid), title: key };
  const number = (place: number): number => packed.numbers[row * NUMBERS + place] ?? 0;
  return {
    ...{ id, origin, kind },
    docid: names.docid,
    path: names.path,
    title: names.title,
    ...{ content, category, key, prefix },
    lineNumber: Number.isNaN(number(3)) ? undefined : number(3),
    createdAt: number(0),
    updatedAt: number(1),
    expiresAt: number(2),
    writer,
    fingerprint,
    bodyStartLine: number(4),
    bodyLength: number(5),
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
