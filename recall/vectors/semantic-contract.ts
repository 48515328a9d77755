/** Meaning as recall's ranking sees it, an index of vectors by namespace, and the cache it needs to outlive a restart. */
import type {
  CorpusEntry,
  EntryId,
  EntryVectors,
  ErrorCode,
  HelmdeckError,
  Namespace,
} from "../../engine/index.ts";
import type { Embedder } from "../embedder.ts";

/**
 * The vectors of every open namespace, each in an index of its own: a search sees one namespace and has no filter that
 * could let another's through. Filled in the background from the cache and from the embedder; every answer is of what is
 * there at that moment.
 */
export interface SemanticIndex {
  /**
   * To be told every change of a namespace that recall has opened, until it is dropped.
   *
   * @param readAgain asks for `startOver` and everything from the beginning: the model gives other vectors than it did
   */
  follow(namespace: Namespace, readAgain?: () => void): VectorFollower;
  /**
   * Whose vectors answer for this namespace now: a question must be embedded by it. After a change of model that is the
   * former one for as long as it has vectors of more entries. Undefined while there is no vector.
   */
  serving(namespace: Namespace): Embedder | undefined;
  /** The nearest passages, best first. Empty when the namespace has no vectors of the question's space. */
  search(namespace: Namespace, question: QuestionVector, limit: number): readonly SemanticHit[];
  coverage(namespace: Namespace): Coverage;
  /**
   * Resolves when nothing of this namespace is left to load or to embed; in an index that only reads, when nothing is left to
   * load. Never rejects; `close` resolves it too.
   */
  settled(namespace: Namespace): Promise<void>;
  /**
   * Embeds what is left of this namespace now, also in an index that only reads: the newest entry first, then the reference
   * texts, then the rest. Resolves when nothing is left, with the error when so many tries in a row have failed, and at `close`.
   */
  embed(namespace: Namespace, options: EmbedRunOptions): Promise<HelmdeckError | undefined>;
  status(): EmbeddingStatus;
  /** Stops at once: what is under way is given up, and nothing of it is kept. */
  close(): void;
}

export interface EmbedRunOptions {
  readonly mostFailures: number;
  /** After each step. */
  readonly onProgress?: (coverage: Coverage) => void;
}

/** Recall's words to the index about one namespace, in the order in which they happened. Each returns at once. */
export interface VectorFollower {
  /** Vectors of a value that was replaced or removed are gone when this returns. */
  changed(upserts: readonly CorpusEntry[], removed: readonly EntryId[]): void;
  /** All there is has been told. Vectors are read and made from now on: before, they would only hold up the words. */
  caughtUp(): void;
  /** Everything told so far is void. */
  startOver(): void;
  /** The namespace is no longer in memory. */
  drop(): void;
}

export interface QuestionVector {
  /** The `space` of the embedder that made it. */
  readonly space: string;
  /** Of length 1. */
  readonly vector: Float32Array;
}

/** One passage of one entry, as the lexical index cuts it: its unit is `document.units[passage]`. */
export interface SemanticHit {
  readonly id: EntryId;
  /** From 0, in the order of the text. */
  readonly passage: number;
  /** Cosine, -1 to 1; exact, or within 0.01 in a namespace that is large. */
  readonly similarity: number;
}

/** Of the entries of a namespace that recall knows. */
export interface Coverage {
  /** Found by the serving model's vectors. */
  readonly embedded: number;
  readonly total: number;
  /** Entries that the service refuses again and again while it takes others; keywords alone find them. */
  readonly refused: number;
}

export interface EmbeddingStatus {
  /** The model that entries are embedded with. */
  readonly model: string;
  /** Of all open namespaces. */
  readonly embedded: number;
  readonly waiting: number;
  readonly refused: number;
  /** `waiting`: the service or the cache failed, and the next try is due later. */
  readonly state: "idle" | "working" | "waiting" | "closed";
  /** What the last try failed with; undefined after a success. */
  readonly lastError: ErrorCode | undefined;
  /** False in an index that only reads: whoever has it says how to have the rest embedded. */
  readonly embeds: boolean;
}

/**
 * Vectors that outlive the process. They vanish with their entry, or with the value that they were made of, whoever
 * removes it. Errors are the store's `HelmdeckError`s.
 */
export interface VectorCache {
  /** Every space that any vector is kept of. */
  spaces(): Promise<readonly string[]>;
  /** What is kept for these entries' present values. One that cannot be read is left out, as if it were not there. */
  load(namespace: Namespace, space: string, ids: readonly EntryId[]): Promise<readonly EntryVectors[]>;
  /** Keeps them all at once, but for entries that are gone or have another value by now. Answers which were kept. */
  put(namespace: Namespace, space: string, batch: readonly EntryVectors[]): Promise<readonly EntryId[]>;
  /** Drops what is kept for these entries in any space but this one. */
  dropOthers(namespace: Namespace, space: string, ids: readonly EntryId[]): Promise<void>;
}
