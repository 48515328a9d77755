/** The clients of this room: what they are asked, what they answer, how they are set up. */
import type { ErrorCode } from "../engine/basics.ts";

/** Both bound the whole call. Without a deadline the call has the client's own (`docs/reference/embeddings.md`). */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
}

/**
 * An Ollama server. Rejections are `HelmdeckError`s: `embeddings_unavailable`, `embeddings_out_of_memory`, `rate_limited`,
 * `model_missing`, `deadline_exceeded`, `cancelled`, `invalid_input`. No call is tried again by itself; embedders do that.
 */
export interface OllamaSidecar {
  /** As it is asked, without a trailing slash: `http://helmdeck-embeddings:11434`. */
  readonly address: string;
  /** Never rejects. */
  health(options?: CallOptions): Promise<SidecarHealth>;
  version(options?: CallOptions): Promise<string>;
  models(options?: CallOptions): Promise<readonly InstalledModel[]>;
  /** True when exactly this tag is there; no tag means `latest`, as Ollama reads it. */
  hasModel(model: string, options?: CallOptions): Promise<boolean>;
  /** What is known about a model that is there: rejects with `model_missing` otherwise. */
  describeModel(model: string, options?: CallOptions): Promise<ModelDescription>;
  /** The models in the server's memory at this moment. */
  loadedModels(options?: CallOptions): Promise<readonly string[]>;
  /**
   * Downloads a model; a download that was cut off goes on where it was. Without `deadlineMs` it may take as long as it
   * makes progress: `deadline_exceeded` when the server says nothing for a minute.
   */
  pull(model: string, onProgress: (progress: PullProgress) => void, options?: CallOptions): Promise<void>;
  /** Loads the model into memory and answers when it is there, so that the first question is not slow. */
  warm(model: string, options?: CallOptions): Promise<void>;
  /**
   * One request, no retry: one vector of length 1 for each text. `too_large` when a text is longer than the model takes:
   * nothing is cut unseen.
   */
  embed(request: OllamaEmbedRequest, options?: CallOptions): Promise<readonly Float32Array[]>;
}

export type SidecarHealth =
  | { readonly ok: true; readonly version: string }
  | { readonly ok: false; readonly code: ErrorCode; readonly reason: string };

export interface InstalledModel {
  /** With its tag: `nomic-embed-text:latest`. */
  readonly name: string;
  readonly sizeBytes: number;
  /** sha256 of the model's contents, in hex; a tag may be moved to another. */
  readonly digest: string;
}

export interface ModelDescription {
  readonly dimensions: number | undefined;
  readonly contextTokens: number | undefined;
  /** Undefined when the server is too old to say. */
  readonly embeds: boolean | undefined;
}

/** One line of a download: what is done now and, while bytes come in, of which file how many are there. */
export interface PullProgress {
  readonly status: string;
  readonly digest: string | undefined;
  readonly completedBytes: number | undefined;
  readonly totalBytes: number | undefined;
}

export interface OllamaEmbedRequest {
  readonly model: string;
  /** Sent as they are: prefixes are the embedder's business. */
  readonly texts: readonly string[];
  readonly dimensions?: number;
}

/** Fits recall's `Embedder`, which this room may not import; a test holds the two together. */
export interface SidecarEmbedder {
  readonly model: string;
  readonly space: string;
  readonly dimensions: number | undefined;
  embedDocuments(texts: readonly string[], options?: CallOptions): Promise<DocumentEmbeddings>;
  embedQuery(text: string, options?: CallOptions): Promise<Float32Array>;
  /** What stands between us and the service now; asks nobody. */
  state(): EmbedderState;
  close(): void;
}

export interface DocumentEmbeddings {
  readonly vectors: readonly Float32Array[];
  readonly truncated: readonly { readonly index: number; readonly usedLength: number }[];
}

export interface EmbedderState {
  /** `open`: the service failed lately, and calls are refused at once until the next try is due. */
  readonly circuit: "closed" | "open" | "half_open";
  /** Why the last failed call failed, for a person; undefined after a success. */
  readonly reason: string | undefined;
}

/** Shared by both embedders. What is absent has the default of docs/reference/embeddings.md. */
export interface EmbedderSettings {
  readonly model: string;
  /** Asks a Matryoshka model for shorter vectors; also the number that each answer must have. */
  readonly dimensions?: number;
  /** Instead of the prefixes that the model's name calls for. */
  readonly prefixes?: Prefixes;
  /** A text beyond this is cut before it is sent; smaller for models with a short context. */
  readonly maxTextBytes?: number;
  readonly maxBatchTexts?: number;
  readonly maxBatchBytes?: number;
  /** Requests with documents under way at once. */
  readonly concurrency?: number;
  /** The longest that one request may take, a cold model's start included. */
  readonly requestTimeoutMs?: number;
}

/** `createOpenAiCompatibleEmbedder(settings)`. */
export interface OpenAiCompatibleSettings extends EmbedderSettings {
  /** What `/embeddings` is put behind: `https://api.openai.com/v1`. */
  readonly address: string;
  /** Sent as `Authorization: Bearer …`; never shown. */
  readonly apiKey?: string;
  readonly fetch?: typeof fetch;
}

export interface Prefixes {
  readonly query: string;
  readonly document: string;
}

/** `createOllamaSidecar(options)`. */
export interface OllamaSidecarOptions {
  /** `http://` or `https://`, host and port, with a path when a proxy asks for one; never with a name and password. */
  readonly address: string;
  /** For every call without a deadline of its own, but `pull` and `warm`. */
  readonly callTimeoutMs?: number;
  /**
   * How long the server keeps a model loaded after a call, as Ollama writes it: `30m`, `24h`, `-1s` for ever. Absent: as the
   * server is set (`OLLAMA_KEEP_ALIVE`).
   */
  readonly keepAlive?: string;
  readonly fetch?: typeof fetch;
}
