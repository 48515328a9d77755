/** What recall needs to know meaning: texts in, unit vectors out, within a deadline, with nothing cut unseen. */

/** A client of an embedding model. Room sidecar/ has two; a test may have its own. Safe to call concurrently. */
export interface Embedder {
  /** The model as its service names it, with its tag: `nomic-embed-text:latest`. */
  readonly model: string;
  /**
   * All that a vector depends on (model, prefixes, chosen dimensions), in one line. Vectors of different spaces must
   * never be compared, so a cache keeps this beside each.
   */
  readonly space: string;
  /** Unknown until it is set or the model has answered once; then fixed for the life of this embedder. */
  readonly dimensions: number | undefined;
  /**
   * One vector for each text, in the order of the texts. Many texts become several requests. All or nothing: when one
   * request fails for good, the promise rejects, and the caller decides which texts to offer again.
   */
  embedDocuments(texts: readonly string[], options?: EmbedOptions): Promise<Embeddings>;
  /**
   * The vector of a question; of the beginning of one that is longer than the model takes. Never waits behind documents
   * that this embedder has not sent yet.
   */
  embedQuery(text: string, options?: EmbedOptions): Promise<Float32Array>;
  /** Ends what is under way; calls from then on are `cancelled`. */
  close(): void;
}

/**
 * Both bound the whole call, its waiting and its retries included.
 *
 * Rejections are `HelmdeckError`s: `deadline_exceeded`, `cancelled` (the signal), `embeddings_unavailable`,
 * `embeddings_out_of_memory`, `rate_limited`, `model_missing`, `dimension_mismatch`, `invalid_input`.
 */
export interface EmbedOptions {
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
}

export interface Embeddings {
  /** As many as there were texts, each of length 1 and of the same dimensions, finite numbers only. */
  readonly vectors: readonly Float32Array[];
  /** The texts that were longer than the model takes; their vectors stand for the beginning alone. */
  readonly truncated: readonly Truncation[];
}

interface Truncation {
  /** Position among the texts of the call. */
  readonly index: number;
  /** How many UTF-16 units of the text, from its start, the vector stands for. */
  readonly usedLength: number;
}
