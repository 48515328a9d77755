/** What recall needs (a corpus with a change cursor) and what it answers (ranked hits with an honest score). */
import type {
  CorpusEntry,
  DocumentKind,
  EntryId,
  Namespace,
  RecallMode,
  UnixMs,
  Writer,
} from "../engine/index.ts";

/** Where a namespace's chunks come from. The embedded engine is one; a remote engine may be another. */
export interface CorpusSource {
  /** Changes since a cursor (0 = everything), oldest first, at most `limit` rows read. */
  changes(namespace: Namespace, since: number, limit: number): Promise<CorpusChanges>;
}

export type CorpusChanges =
  | {
      readonly kind: "changes";
      readonly upserts: readonly CorpusEntry[];
      readonly removed: readonly EntryId[];
      readonly cursor: number;
      readonly more: boolean;
    }
  | { readonly kind: "start_over" };

export interface RecallQuery {
  readonly query: string;
  /** Hits wanted, 1 to 50; default 10. */
  readonly limit?: number;
  /** Adds `parts` to each hit, and `leftOut` to the answer. */
  readonly explain?: boolean;
  /** Default: what this memory was opened with, and `balanced` where nothing was said. */
  readonly recall?: RecallMode;
}

export interface RecallHit {
  readonly kind: DocumentKind;
  readonly docid: string;
  readonly path: string;
  readonly title: string;
  /** 0 to 1: an exact answer near 0.9, a good one above 0.5, a possible one below 0.35. */
  readonly score: number;
  /** Nothing answers surely, and this is only possibly related. An answer holds either such hits or sure ones. */
  readonly possible?: true;
  /**
   * At most 700 characters of the best passage, 100 of a possible hit's; it spans startLine to endLine (from 1) of the
   * chunk's content.
   */
  readonly snippet: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly category: string;
  readonly key: string;
  readonly createdAt: UnixMs;
  readonly updatedAt: UnixMs;
  readonly expiresAt?: UnixMs;
  /** Who wrote what is there now. */
  readonly writer?: Writer;
  /** The features of its score, for people who tune or doubt it. */
  readonly parts?: Readonly<Record<string, ScorePart>>;
}

/** A feature and what it counts: the score rises with the sum of their products, and doubts, whose weights are negative, keep from being sure. */
export interface ScorePart {
  readonly value: number;
  readonly weight: number;
}

/** A candidate that is not shown. */
export interface LeftOut {
  readonly key: string;
  readonly path: string;
  /** 0 to 1: what orders candidates. */
  readonly certainty: number;
  /** In a few words, for a person. */
  readonly why: string;
  readonly parts: Readonly<Record<string, ScorePart>>;
}

export interface RecallAnswer {
  /** Best first; ties by newest, then by path, so that the same query gives the same order. */
  readonly results: readonly RecallHit[];
  readonly mode: "keyword" | "hybrid";
  /** Why the answer may be less than it could be, for a person: still indexing, no embeddings. */
  readonly reason?: string;
  /** Where an explanation was asked for: the best few candidates that are not shown. */
  readonly leftOut?: readonly LeftOut[];
  /** The index is still being built: what is not found now may be found in a moment. */
  readonly incomplete?: true;
}

export interface Recall {
  search(namespace: Namespace, query: RecallQuery): Promise<RecallAnswer>;
  /** Starts indexing a namespace in the background; the promise resolves when it is caught up. */
  warm(namespace: Namespace): Promise<void>;
  close(): void;
}
