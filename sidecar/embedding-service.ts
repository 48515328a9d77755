/** The interface of this module's clients: requests, answers and options. */
import type { ErrorCode } from "../engine/errors.ts";

/** Both limit the whole call. Without a deadline, the client's default applies (`docs/reference/embeddings.md`). */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
}

/**
 * An Ollama server. Rejections are `HelmdeckError`s: `embeddings_unavailable`, `embeddings_out_of_memory`, `rate_limited`,
 * `model_missing`, `deadline_exceeded`, `cancelled`, `invalid_input`. Does not retry; embedders do.
 */
export interface OllamaSidecar {
  /** The base URL, without a trailing slash: `http://helmdeck-embeddings:11434`. */
  readonly address: string;
  /** Never rejects. */
  health(): Promise<SidecarHealth>;
  version(options?: CallOptions): Promise<string>;
  /** The installed models, each with its tag: `nomic-embed-text:latest`. */
  models(options?: CallOptions): Promise<readonly string[]>;
  /** Whether exactly this tag is present; no tag means `latest`, as in Ollama. */
  hasModel(model: string): Promise<boolean>;
  /**
   * Downloads a model; resumes an interrupted download. Without `deadlineMs` it may run as long as it makes progress:
   * `deadline_exceeded` after a minute without a message.
   */
  pull(model: string, onProgress: (progress: PullProgress) => void, options?: CallOptions): Promise<void>;
  /** Loads the model into memory, so that the first question is not slow. */
  warm(model: string, options?: CallOptions): Promise<void>;
  /**
   * Sends one request without retries: one vector of length 1 per text. `too_large` when a text exceeds the model's context:
   * nothing is truncated silently.
   */
  embed(request: OllamaEmbedRequest, options?: CallOptions): Promise<readonly Float32Array[]>;
}

type SidecarHealth =
  | { readonly ok: true; readonly version: string }
  | { readonly ok: false; readonly code: ErrorCode; readonly reason: string };

/** One line of download progress: the current step and, during a transfer, the file and its received bytes. */
export interface PullProgress {
  readonly status: string;
  readonly digest: string | undefined;
  readonly completedBytes: number | undefined;
  readonly totalBytes: number | undefined;
}

export interface OllamaEmbedRequest {
  readonly model: string;
  /** Sent unchanged; the embedder adds prefixes. */
  readonly texts: readonly string[];
  readonly dimensions?: number;
}

/** Matches recall's `Embedder`, which this module may not import; a test compares the two. */
export interface SidecarEmbedder {
  /** The only language that the model knows, if that was tried. */
  readonly language?: "english";
  /** This process runs the model. */
  readonly isLocal?: true;
  readonly model: string;
  readonly space: string;
  readonly dimensions: number | undefined;
  embedDocuments(texts: readonly string[], options?: CallOptions): Promise<DocumentEmbeddings>;
  embedQuery(text: string, options?: CallOptions): Promise<Float32Array>;
  /** Loads the model in the background, if the service can. */
  warm(): void;
  /** The connection state; sends no request. */
  state(): EmbedderState;
  close(): void;
}

export interface DocumentEmbeddings {
  readonly vectors: readonly Float32Array[];
  readonly truncated: readonly { readonly index: number; readonly usedLength: number }[];
}

interface EmbedderState {
  /** `open`: the service failed recently, and calls are refused at once until the next attempt is due. */
  readonly circuit: "closed" | "open" | "half_open";
  /** Why the last failed call failed, for a person; undefined after a success. */
  readonly reason: string | undefined;
}

/** Shared by both embedders. Defaults: docs/reference/embeddings.md. */
export interface EmbedderSettings {
  readonly model: string;
  /** Requests shorter vectors from a Matryoshka model; every answer must have this size. */
  readonly dimensions?: number;
  /** Overrides the prefixes that are known for the model's name. */
  readonly prefixes?: Prefixes;
  /** Longer texts are truncated before they are sent; set it lower for models with a short context. */
  readonly maxTextBytes?: number;
  readonly maxBatchTexts?: number;
  readonly maxBatchBytes?: number;
  /** Concurrent requests with documents. */
  readonly concurrency?: number;
  /** The time limit of one request, including a cold model's start. */
  readonly requestTimeoutMs?: number;
}

/** `createOpenAiCompatibleEmbedder(settings)`. */
export interface OpenAiCompatibleSettings extends EmbedderSettings {
  /** The URL before `/embeddings`: `https://api.openai.com/v1`. */
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
  /** `http://` or `https://`, host, port and an optional path; without user name and password. */
  readonly address: string;
  /**
   * How long the server keeps a model loaded after a call, in Ollama's notation: `30m`, `24h`, `-1s` for ever. Default: the
   * server's setting (`OLLAMA_KEEP_ALIVE`).
   */
  readonly keepAlive?: string;
  readonly fetch?: typeof fetch;
}
