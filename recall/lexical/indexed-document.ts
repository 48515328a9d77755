/** What the index stores of each entry besides its terms: enough to show a hit, to expire it and to find its neighbours. */
import type { CorpusEntry, DocumentKind } from "../../engine/projections/corpus.ts";
import type { EntryId, Origin, UnixMs } from "../../engine/store/memory-store.ts";
import type { Writer } from "../../engine/store/writer.ts";
import { countLines, LONGEST_SNIPPET, type Passage, passagesOf } from "./passages.ts";

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
  /** The searched passages, in text order. */
  readonly units: readonly number[];
}

/** @param shared keeps a copy of a prefix: a piece of the key would keep all of it */
export function documentOf(
  entry: CorpusEntry,
  units: readonly number[],
  shared: (prefix: string) => string,
): IndexedDocument {
  const prefix = prefixOf(entry.key);
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
    prefix: prefix === undefined ? undefined : shared(prefix),
    lineNumber: lineNumberOf(entry.key),
    createdAt: entry.createdAt,
    updatedAt: entry.updatedAt,
    expiresAt: entry.expiresAt ?? Number.POSITIVE_INFINITY,
    writer: entry.writer,
    units,
  };
}

/** The length of all its texts. */
export function charactersOf({ id, docid, path, title, content, key }: IndexedDocument): number {
  return [id, docid, path, title, content, key].reduce((sum, { length }) => sum + length, 0);
}

function prefixOf(key: string): string | undefined {
  const slash = key.lastIndexOf("/");
  return slash <= 0 ? undefined : key.slice(0, slash);
}

/** The passages of an entry: its whole body when the content fits a snippet, otherwise parts of it. Never empty. */
export function passagesOfEntry(entry: CorpusEntry): readonly Passage[] {
  const { content } = entry.chunk;
  const from = lineStart(content, entry.bodyStartLine);
  const to = Math.min(content.length, from + entry.body.length);
  if (content.length <= LONGEST_SNIPPET) return [wholeOf(content, from, to, entry.bodyStartLine)];
  const passages = passagesOf(content, from, to, entry.bodyStartLine);
  return passages.length > 0 ? passages : passagesOf(content, 0, content.length, 1).slice(0, 1);
}

/** The text of a passage for keyword search. */
export function searchedText(entry: CorpusEntry, passage: Passage): string {
  return entry.chunk.content.slice(passage.start, passage.end);
}

/**
 * The text of a passage to embed: the searched text, preceded by its subject in words. Only words without digits are taken from
 * the key: numbered parts do not name a subject.
 */
export function meantText(entry: CorpusEntry, passage: Passage): string {
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
