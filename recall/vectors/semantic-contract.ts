/** The semantic index as recall uses it: vectors by namespace, and the cache that survives a restart. */

import type { ErrorCode, HelmdeckError } from "../../engine/errors.ts";
import type { EntryId, EntryVectors } from "../../engine/store/memory-store.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import type { Embedder } from "../embedder.ts";
import type { EntryText } from "../lexical/indexed-document.ts";

/**
 * The vectors of every open namespace, each in its own index: a search sees one namespace, and no filter could leak another.
 * Filled in the background from the cache and the embedder; a search uses the vectors present at that moment.
 */
export interface SemanticIndex {
  /**
   * Subscribes a namespace that recall has opened, until it is dropped.
   *
   * @param readAgain requests `startOver` and all entries again: the model now gives different vectors
   * @param grown called when vectors were added
   */
  follow(namespace: Namespace, readAgain?: () => void, grown?: () => void): VectorFollower;
  /** For this namespace's questions; after a change of model the former one, while it has more vectors. Undefined without a vector. */
  serving(namespace: Namespace): Embedder | undefined;
  /** The nearest passages, best first. Empty when the namespace has no vectors in the question's space. */
  search(namespace: Namespace, question: QuestionVector, limit: number): readonly SemanticHit[];
  /** Of an entry's first passage; undefined when the namespace has none in this space. */
  vectorOf(namespace: Namespace, space: string, id: EntryId): Float32Array | undefined;
  /** The model now gives vectors of so many dimensions: those of other ones are made again. */
  learnDimensions(dimensions: number): void;
  coverage(namespace: Namespace): Coverage;
  /** Resolves when nothing is left to load, nor to embed unless it is read-only; also on `close`. Never rejects. */
  settled(namespace: Namespace): Promise<void>;
  /**
   * Embeds the rest of this namespace now, also in a read-only index: the newest entry first, then the reference texts, then the
   * rest. Resolves when nothing is left, with the error after this many consecutive failures, and on `close`.
   */
  embed(namespace: Namespace, options: EmbedRunOptions): Promise<HelmdeckError | undefined>;
  status(): EmbeddingStatus;
  /** Stops at once and discards unfinished work. */
  close(): void;
}

export interface EmbedRunOptions {
  readonly mostFailures: number;
  /** After each step. */
  readonly onProgress?: (coverage: Coverage) => void;
}

/** Receives the changes of one namespace from recall, in order. Each call returns at once. */
export interface VectorFollower {
  /** Vectors of replaced or removed values are gone when this returns. */
  changed(upserts: readonly EntryText[], removed: readonly EntryId[]): void;
  /** All entries were reported. Vectors are read and made from now on: earlier, they would slow down keyword indexing. */
  caughtUp(): void;
  /** Discards everything reported so far. */
  startOver(): void;
  /** The namespace is no longer in memory. */
  drop(): void;
  /** No vectors are left to load, nor to embed if this index embeds. */
  readonly isSettled: boolean;
  readonly sizeBytes: number;
}

export interface QuestionVector {
  /** The `space` of the embedder that made it. */
  readonly space: string;
  /** Of length 1. */
  readonly vector: Float32Array;
}

/** A passage of an entry, from 0 in text order; its unit in the keyword index is `document.units[passage]`. */
export interface SemanticHit {
  readonly id: EntryId;
  readonly passage: number;
  /** Cosine, -1 to 1; exact, or within 0.01 in a large namespace. */
  readonly similarity: number;
}

/** The entries of a namespace: with vectors of the serving model, all, and those that the service refuses while it accepts others. */
export type Coverage = Readonly<Record<"embedded" | "total" | "refused", number>>;

/** The entries of all open namespaces. */
export interface EmbeddingStatus extends Omit<Coverage, "total"> {
  /** The model that entries are embedded with. */
  readonly model: string;
  readonly waiting: number;
  /** `waiting`: the service or the cache failed, and a retry is due later. */
  readonly state: "idle" | "working" | "waiting" | "closed";
  /** The last attempt's error; undefined after a success. */
  readonly lastError: ErrorCode | undefined;
  /** False in a read-only index; its owner says how to embed the rest. */
  readonly embeds: boolean;
  /** This process runs the model. */
  readonly isLocal: boolean;
}

/**
 * Vectors that survive the process. They are deleted with their entry or with the value that they stand for, by whatever process
 * removes it. Errors are the store's `HelmdeckError`s.
 */
export interface VectorCache {
  /** Every space with stored vectors. */
  spaces(): Promise<readonly string[]>;
  /** The stored vectors for these entries' current values. Unreadable ones are left out, as if they were missing. */
  load(namespace: Namespace, space: string, ids: readonly EntryId[]): Promise<readonly EntryVectors[]>;
  /** Stores all in one transaction, except for entries that are gone or have a new value. Returns the stored ids. */
  put(namespace: Namespace, space: string, batch: readonly EntryVectors[]): Promise<readonly EntryId[]>;
  /** Deletes these entries' vectors in every other space. */
  dropOthers(namespace: Namespace, space: string, ids: readonly EntryId[]): Promise<void>;
}
