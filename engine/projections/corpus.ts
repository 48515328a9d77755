/** Corpus chunks: the QMD-shaped documents that facts and audit rows become for search and reading. */
import type { EntryId, Fingerprint, Origin, UnixMs } from "../store/memory-store.ts";
import type { Writer } from "../store/writer.ts";

/** What a document shows: a stored fact, or the record of a run. */
export const DOCUMENT_KINDS = ["fact", "pack", "pipeline", "tool"] as const;
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

/** helmdeck's chunk shape (its QMD endpoint) plus the full content. */
export interface CorpusChunk {
  /** `<category>/<key>` */
  readonly docid: string;
  /** `helmdeck/<category>/<key>.md`, escaped so that it maps back to exactly one entry. */
  readonly path: string;
  readonly title: string;
  /** Markdown, lines separated by "\n". */
  readonly content: string;
  /** `helmdeck-<category>` */
  readonly collection: string;
  readonly metadata: Readonly<Record<string, string | number | readonly string[]>>;
}

/** A chunk together with the entry data that an index needs. */
export interface CorpusEntry {
  readonly id: EntryId;
  readonly kind: DocumentKind;
  readonly origin: Origin;
  readonly key: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly createdAt: UnixMs;
  readonly updatedAt: UnixMs;
  readonly expiresAt?: UnixMs;
  /** Fingerprint of the value; anything derived from another value of this entry is stale. */
  readonly fingerprint: Fingerprint;
  readonly writer?: Writer;
  readonly conversationId?: string;
  readonly chunk: CorpusChunk;
  /** The value, or a run's details, within the content; and its first line, counted from 1. */
  readonly body: string;
  readonly bodyStartLine: number;
}
