/** What semantic search needs: texts in, unit vectors out, within a deadline, and every truncation reported. */

/** A client of an embedding model; sidecar/ has two. Safe to call concurrently. */
export interface Embedder {
  /** The service's name for the model, with its tag: `nomic-embed-text:latest`. */
  readonly model: string;
  /** All that a vector depends on (model, prefixes, dimensions), in one line. Vectors of different spaces must never be compared. */
  readonly space: string;
  /** Undefined until it is configured or the model has answered once; then fixed for the life of this embedder. */
  readonly dimensions: number | undefined;
  /** The only language that the model knows. Absent: it knows many, or nobody tried. Texts in others are left to keywords. */
  readonly language?: "english";
  /** It runs on this machine, for this process: it may have to be loaded first. */
  readonly isLocal?: true;
  /**
   * One vector per text, in the order of the texts. Many texts become several requests. All or nothing: when one request finally
   * fails, the promise rejects, and the caller decides which texts to retry.
   */
  embedDocuments(texts: readonly string[], options?: EmbedOptions): Promise<Embeddings>;
  /** Truncates a question longer than the model's context. Never waits behind documents that this embedder has not sent yet. */
  embedQuery(text: string, options?: EmbedOptions): Promise<Float32Array>;
  /** Ends calls in progress; later calls reject with `cancelled`. */
  close(): void;
}

/**
 * Both limit the whole call, including waiting and retries. Rejections are `HelmdeckError`s: `deadline_exceeded`, `cancelled` (the
 * signal), `embeddings_unavailable`, `embeddings_out_of_memory`, `rate_limited`, `model_missing`, `dimension_mismatch`, `invalid_input`.
 */
export interface EmbedOptions {
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
}

export interface Embeddings {
  /** One per text, each of length 1, all of the same dimensions, finite numbers only. */
  readonly vectors: readonly Float32Array[];
  /** The texts that exceeded the model's context, by place: their vectors stand for that many UTF-16 units from the start. */
  readonly truncated: readonly { readonly index: number; readonly usedLength: number }[];
}
