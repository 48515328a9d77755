/** What the index stores of each entry besides its terms: enough to show a hit, to expire it and to find its neighbours. */
import type { CorpusChunk, CorpusEntry, DocumentKind } from "../../engine/projections/corpus.ts";
import type { EntryId, Fingerprint, Origin, UnixMs } from "../../engine/store/memory-store.ts";
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
  /** See {@link CorpusEntry}. */
  readonly conversationId: string | undefined;
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
    conversationId: entry.conversationId,
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

/** Documents in few lists of simple values, which are written and read several times faster than objects. */
export interface PackedDocuments {
  readonly ids: readonly EntryId[];
  readonly keys: string[];
  readonly contents: string[];
  readonly fingerprints: readonly Fingerprint[];
  /** Null when they follow from category and key. */
  readonly names: (Pick<IndexedDocument, "docid" | "path" | "title"> | null)[];
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
      const isUsual = docid === `${category}/${key}` && path === simplePath(docid) && title === key;
      return isUsual ? null : { docid, path, title };
    }),
    ...{ shared, sharedBy, numbers: Float64Array.from(numbers), units: Uint32Array.from(units) },
    characters: documents.reduce((sum, document) => sum + charactersOf(document), 0),
  };
}

function simplePath(docid: string): string {
  return `helmdeck/${docid}.md`;
}

/** A document in a row of packed ones: a hundred thousand of these take a fraction of the time and memory of whole objects. */
export class PackedDocument implements IndexedDocument {
  readonly #all: PackedDocuments;
  readonly #row: number;

  constructor(all: PackedDocuments, row: number) {
    this.#all = all;
    this.#row = row;
  }

  get id(): EntryId {
    return this.#all.ids[this.#row] as EntryId; // a row of each list
  }

  get key(): string {
    return this.#all.keys[this.#row] ?? "";
  }

  get content(): string {
    return this.#all.contents[this.#row] ?? "";
  }

  get fingerprint(): Fingerprint {
    return this.#all.fingerprints[this.#row] as Fingerprint; // as above
  }

  get docid(): string {
    return this.#all.names[this.#row]?.docid ?? `${this.category}/${this.key}`;
  }

  get path(): string {
    return this.#all.names[this.#row]?.path ?? simplePath(this.docid);
  }

  get title(): string {
    return this.#all.names[this.#row]?.title ?? this.key;
  }

  get origin(): Origin {
    return this.#shared.origin;
  }

  get kind(): DocumentKind {
    return this.#shared.kind;
  }

  get category(): string {
    return this.#shared.category;
  }

  get conversationId(): string | undefined {
    return this.#shared.conversationId;
  }

  get writer(): Writer | undefined {
    return this.#shared.writer;
  }

  get createdAt(): UnixMs {
    return this.#number(0);
  }

  get updatedAt(): UnixMs {
    return this.#number(1);
  }

  get expiresAt(): UnixMs {
    return this.#number(2);
  }

  get bodyStartLine(): number {
    return this.#number(3);
  }

  get bodyLength(): number {
    return this.#number(4);
  }

  get units(): readonly number[] {
    const start = this.#row === 0 ? 0 : this.#number(5 - NUMBERS);
    return Array.from(this.#all.units.subarray(start, this.#number(5)));
  }

  /** So that a forgotten text leaves memory before the others do. */
  erase(): void {
    this.#all.keys[this.#row] = "";
    this.#all.contents[this.#row] = "";
    this.#all.names[this.#row] = null;
  }

  get #shared(): PackedDocuments["shared"][number] {
    return this.#all.shared[this.#all.sharedBy[this.#row] ?? 0] as PackedDocuments["shared"][number]; // as above
  }

  #number(place: number): number {
    return this.#all.numbers[this.#row * NUMBERS + place] ?? 0;
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

/** The length of all its texts. */
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

function lineStart(content: string, line: number): number {
  let at = 0;
  for (let current = 1; current < line; current += 1) {
    const next = content.indexOf("\n", at);
    if (next === -1) return at;
    at = next + 1;
  }
  return at;
}
