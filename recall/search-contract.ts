/** Recall's interface: the corpus source that it reads (with a change cursor), and the ranked, scored hits that it returns. */

import type { PossibleReason, RecallMode } from "../engine/answer-limits.ts";
import type { CorpusEntry } from "../engine/projections/corpus.ts";
import type { Conflicting } from "../engine/projections/frame.ts";
import type { EntryId, UnixMs } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import type { Said, Writer } from "../engine/store/writer.ts";
import type { FactText } from "./claims.ts";
import type { Relation } from "./conflicts.ts";
import type { IndexedDocument } from "./lexical/indexed-document.ts";
import type { RelatedPair } from "./related-facts.ts";

/** The source of a namespace's chunks, such as the embedded engine or a remote engine. */
export interface CorpusSource {
  /** Changes since a cursor (0 = everything), oldest first; reads at most `limit` rows. */
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
  /** 1 to 50; default 10. */
  readonly limit?: number;
  /** Adds `parts` to each hit, and `leftOut` to the answer. */
  readonly explain?: boolean;
  /** Default: the mode that this memory was opened with, or `balanced`. */
  readonly recall?: RecallMode;
}

export interface RecallHit
  extends Pick<IndexedDocument, "kind" | "docid" | "path" | "title" | "category" | "key"> {
  /** 0 to 1: an exact answer near 0.9, a good one above 0.5, a possible one below 0.35. */
  readonly score: number;
  /** Only possibly related; after the sure ones. */
  readonly possible?: true;
  /** Why a possible hit is not sure. */
  readonly why?: PossibleReason;
  /** The part of the best passage that answers, with "…" where it is cut; spans these lines of the chunk's content, counted from 1. */
  readonly snippet: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly createdAt: UnixMs;
  readonly updatedAt: UnixMs;
  readonly expiresAt?: UnixMs;
  /** The writer of the current value. */
  readonly writer?: Writer;
  /** Facts that say something else of the same thing, newest first, whether they are shown or not; absent when there are none. */
  readonly conflictsWith?: readonly Conflicting[];
  /** The features behind the score, for tuning and debugging. */
  readonly parts?: Readonly<Record<string, ScorePart>>;
}

export interface AlikeWanted {
  /** The most facts with another text; of those with the same, all that are found on the way. */
  readonly limit: number;
  readonly isOther: (fact: { readonly key: string; readonly category: string }) => boolean;
}

export interface AlikeFact extends Said {
  readonly key: string;
  /** The value without hostile characters. */
  readonly text: string;
  /** Whether the other one has the same text. */
  readonly isSame: boolean;
  /** To the fact that it was compared with. */
  readonly relation: Exclude<Relation, "none">;
}

/** A feature and its weight. The score rises with the sum of their products; doubts have negative weights: they keep it from being sure. */
export type ScorePart = Readonly<Record<"value" | "weight", number>>;

interface LeftOut extends Pick<RecallHit, "key" | "path"> {
  /** 0 to 1: the chance that it answers. */
  readonly certainty: number;
  /** A short reason for a person. */
  readonly why: string;
  readonly parts: Readonly<Record<string, ScorePart>>;
}

export interface RecallAnswer {
  /** Best first; ties by newest, then by path. Of two that contradict each other, the newer one is first. */
  readonly results: readonly RecallHit[];
  readonly mode: "keyword" | "hybrid";
  /** Why the answer may be incomplete, for a person: still indexing, no embeddings. */
  readonly reason?: string;
  /** Nothing was found, and most of what is stored is in another language than the question. */
  readonly otherLanguage?: true;
  /** With `explain`: the best candidates that are not shown. */
  readonly leftOut?: readonly LeftOut[];
  /** The index is still being built, so a later search may find more. */
  readonly incomplete?: true;
}

/** What happened to the indexes of all namespaces together. */
export interface IndexCounts
  extends Readonly<Record<"kept" | "sizeBytes" | "limitBytes" | "begun" | "evicted" | "readingMs", number>> {
  /** Of the oldest one since it was begun; 0 without one. */
  readonly ageMs: number;
  /** Of the source to its end, those that failed included. */
  readonly readings: number;
}

export interface Recall {
  search(namespace: Namespace, query: RecallQuery): Promise<RecallAnswer>;
  /** The facts that are about the same thing as this one, whose value is without hostile characters; best first. */
  alike(namespace: Namespace, fact: FactText, wanted: AlikeWanted): Promise<readonly AlikeFact[]>;
  /** What belongs together among all of its facts, compared with each other; yields to others meanwhile. */
  related(namespace: Namespace): Promise<readonly RelatedPair[]>;
  /** Starts indexing a namespace in the background; resolves when it is up to date. */
  warm(namespace: Namespace): Promise<void>;
  readonly indexes: IndexCounts;
  /** Saves copies of large indexes, if it may. Never rejects. */
  close(): Promise<void>;
}
