/**
 * An embedder over any service that turns a few texts into vectors; adds prefixes, batches, concurrency limits, retries and a
 * circuit breaker.
 */
import PQueue from "p-queue";
import { HelmdeckError, invalidField, isHelmdeckError } from "../engine/errors.ts";
import type { Clock } from "../engine/timing.ts";
import { type Item, isTruncated, itemFor, payloadOf, planBatches, shortened } from "./batches.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import type {
  CallOptions,
  DocumentEmbeddings,
  EmbedderSettings,
  EmbedderState,
  Prefixes,
  SidecarEmbedder,
} from "./embedding-service.ts";
import { withDeadline } from "./http-client.ts";
import { profileOf } from "./models.ts";
import {
  dimensionMismatch,
  speaksAgainstTheService,
  stopsEmbedding,
  unavailable,
} from "./service-failures.ts";
import { spaceOf } from "./space.ts";

/** The service-specific part. */
export interface EmbeddingService {
  /** The start of a sentence about it: "Ollama at http://…". */
  readonly who: string;
  /** The service's name for the model. */
  readonly model: string;
  readonly language?: "english";
  /** Sends one request without retries: one checked unit vector per text. Rejects with `too_large` when a text is too long; `fits` in its details: how much of a single text is not. */
  send(texts: readonly string[], options: Required<CallOptions>): Promise<readonly Float32Array[]>;
  /** Called when a question was not answered in time, so that a model that is still loading is not given up each time. */
  warm?(options: Required<CallOptions>): Promise<void>;
  close?(): void;
  /** A late answer means a busy machine, not a broken service: it is asked again at once. */
  readonly isLocal?: true;
}

/** Replaced by tests. */
export interface EmbedderParts {
  readonly clock: Clock;
  readonly random: () => number;
}

export interface EmbedderLimits {
  readonly concurrency: number;
  readonly requestTimeoutMs: number;
}

const BYTES_PER_TOKEN = 4;
const MAX_TEXT_BYTES = 32 * 1024;
const MAX_BATCH_TEXTS = 16;
const MAX_BATCH_BYTES = 64 * 1024;
/** Questions have their own concurrency limit, so that they never wait behind documents. */
const QUERY_LANES = 4;

export function createBatchedEmbedder(
  service: EmbeddingService,
  settings: EmbedderSettings,
  defaults: EmbedderLimits,
  parts: EmbedderParts,
): SidecarEmbedder {
  return new BatchedEmbedder(service, settings, defaults, parts);
}

class BatchedEmbedder implements SidecarEmbedder {
  readonly model: string;
  readonly language?: "english";
  readonly isLocal?: true;
  readonly space: string;
  readonly #service: EmbeddingService;
  readonly #parts: EmbedderParts;
  readonly #prefixes: Prefixes;
  readonly #maxTextBytes: number;
  readonly #batch: { readonly maxTexts: number; readonly maxBytes: number };
  readonly #requestTimeoutMs: number;
  readonly #documents: PQueue;
  readonly #queries = new PQueue({ concurrency: QUERY_LANES });
  readonly #breaker: CircuitBreaker;
  readonly #closing = new AbortController();
  #dimensions: number | undefined;
  #reason: string | undefined;
  #warming = false;

  constructor(
    service: EmbeddingService,
    settings: EmbedderSettings,
    defaults: EmbedderLimits,
    parts: EmbedderParts,
  ) {
    const limits = {
      ...defaults,
      maxBatchTexts: MAX_BATCH_TEXTS,
      maxBatchBytes: MAX_BATCH_BYTES,
      ...settings,
    };
    requirePositive(limits);
    const profile = profileOf(service.model);
    this.model = service.model;
    if (profile.language !== undefined) this.language = profile.language;
    if (service.isLocal) this.isLocal = true;
    this.#service = service;
    this.#parts = parts;
    this.#prefixes = settings.prefixes ?? profile.prefixes;
    this.#dimensions = settings.dimensions;
    this.space = spaceOf(this.model, settings.dimensions, this.#prefixes);
    this.#maxTextBytes =
      limits.maxTextBytes ?? Math.min(profile.contextTokens * BYTES_PER_TOKEN, MAX_TEXT_BYTES);
    this.#batch = { maxTexts: limits.maxBatchTexts, maxBytes: limits.maxBatchBytes };
    this.#requestTimeoutMs = limits.requestTimeoutMs;
    this.#documents = new PQueue({ concurrency: limits.concurrency });
    this.#breaker = new CircuitBreaker({
      ...parts,
      isFailure: (error) => this.#noteFailure(error),
      refusal: () => this.#refusal(),
    });
  }

  get dimensions(): number | undefined {
    return this.#dimensions;
  }

  state(): EmbedderState {
    return { circuit: this.#breaker.state, reason: this.#reason };
  }

  async embedDocuments(texts: readonly string[], options: CallOptions = {}): Promise<DocumentEmbeddings> {
    requireTexts(texts);
    const items = texts.map((text, index) =>
      itemFor(index, this.#prefixes.document, text, this.#maxTextBytes),
    );
    const embedded = await this.#call(options, (signal) =>
      allOrNothing(signal, planBatches(items, this.#batch), (batch, together) =>
        this.#embedBatch(this.#documents, batch, together),
      ),
    );
    return answerOf(embedded.flat());
  }

  async embedQuery(text: string, options: CallOptions = {}): Promise<Float32Array> {
    requireTexts([text]);
    const item = itemFor(0, this.#prefixes.query, text, this.#maxTextBytes);
    try {
      const [found] = await this.#call(options, (signal) => this.#embedBatch(this.#queries, [item], signal));
      if (found === undefined) throw new HelmdeckError("internal", "A question got no vector.");
      return found.vector;
    } catch (error) {
      if (isHelmdeckError(error, "deadline_exceeded")) this.#warmInBackground();
      throw error;
    }
  }

  warm(): void {
    this.#warmInBackground();
  }

  close(): void {
    this.#closing.abort();
    this.#service.close?.();
  }

  async #call<T>(options: CallOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const signals = [this.#closing.signal, ...(options.signal ? [options.signal] : [])];
    const either = { ...options, signal: AbortSignal.any(signals) };
    try {
      const result = await withDeadline(either, this.#parts.clock.timer, this.#service.who, work);
      this.#reason = undefined;
      return result;
    } catch (error) {
      if (stopsEmbedding(error)) this.#reason = error.message;
      throw error;
    }
  }

  /** A text that is too long does not block others: its batch is halved until the text is alone, then the text is shortened. */
  async #embedBatch(lane: PQueue, batch: readonly Item[], signal: AbortSignal): Promise<readonly Embedded[]> {
    try {
      const vectors = await this.#send(lane, batch.map(payloadOf), signal);
      return batch.map((item, at) => ({ item, vector: requireVector(vectors, at) }));
    } catch (error) {
      if (!isHelmdeckError(error, "too_large")) throw error;
      const parts = withinReach(batch, error.details.fits);
      if (parts === undefined)
        throw unavailable(`${this.#service.who} accepts not even a single character.`, {});
      const done = await Promise.all(parts.map((part) => this.#embedBatch(lane, part, signal)));
      return done.flat();
    }
  }

  async #send(lane: PQueue, texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    const limits = { signal, deadlineMs: this.#requestTimeoutMs };
    const vectors = await this.#breaker.run(() => this.#service.send(texts, limits), {
      signal,
      lane: (attempt) => lane.add(attempt, { signal }),
    });
    this.#keepDimensions(vectors);
    return vectors;
  }

  /** Called on every attempt, so that the circuit knows its reason even when it opens between two attempts of one call. */
  #noteFailure(error: unknown): boolean {
    if (!speaksAgainstTheService(error)) return false;
    if (this.#service.isLocal && isHelmdeckError(error, "deadline_exceeded")) return false;
    this.#reason = error.message;
    return true;
  }

  /** The first answer fixes the dimensions for all later ones. */
  #keepDimensions(vectors: readonly Float32Array[]): void {
    for (const { length } of vectors) {
      this.#dimensions ??= length;
      if (length !== this.#dimensions) throw dimensionMismatch(this.#service, this.#dimensions, length);
    }
  }

  /** One at a time, with a deadline; success closes the circuit. */
  #warmInBackground(): void {
    const { warm } = this.#service;
    if (warm === undefined || this.#warming || this.#closing.signal.aborted) return;
    this.#warming = true;
    const limits = { signal: this.#closing.signal, deadlineMs: this.#requestTimeoutMs };
    warm
      .call(this.#service, limits)
      .then(() => this.#breaker.close())
      .catch(() => {})
      .finally(() => {
        this.#warming = false;
      });
  }

  #refusal(): HelmdeckError {
    const why = this.#reason ?? `${this.#service.who} failed several times.`;
    return unavailable(`${why} It will be retried soon.`, { circuit: "open" });
  }
}

interface Embedded {
  readonly item: Item;
  readonly vector: Float32Array;
}

function answerOf(embedded: readonly Embedded[]): DocumentEmbeddings {
  return {
    vectors: embedded.map(({ vector }) => vector),
    truncated: embedded
      .filter(({ item }) => isTruncated(item))
      .map(({ item: { index, usedLength } }) => ({ index, usedLength })),
  };
}

/** The first failure aborts the others: their vectors would be discarded. */
async function allOrNothing<T, R>(
  signal: AbortSignal,
  inputs: readonly T[],
  work: (input: T, signal: AbortSignal) => Promise<R>,
): Promise<R[]> {
  const others = new AbortController();
  const both = AbortSignal.any([signal, others.signal]);
  try {
    return await Promise.all(inputs.map((input) => work(input, both)));
  } catch (error) {
    others.abort(error);
    throw error;
  }
}

function withinReach(batch: readonly Item[], fits: unknown): readonly (readonly Item[])[] | undefined {
  const [first] = batch;
  const middle = Math.ceil(batch.length / 2);
  if (batch.length > 1) return [batch.slice(0, middle), batch.slice(middle)];
  const shorter = first && shortened(first, typeof fits === "number" ? fits : undefined);
  return shorter && [[shorter]];
}

function requireVector(vectors: readonly Float32Array[], at: number): Float32Array {
  const vector = vectors[at];
  if (vector === undefined) throw new HelmdeckError("internal", "A text got no vector.");
  return vector;
}

function requireTexts(texts: readonly string[]): void {
  const blank = texts.findIndex((text) => text.trim() === "");
  if (blank !== -1)
    throw invalidField("texts", "is empty; give a text to embed", {
      named: `Text ${blank}`,
      details: { index: blank },
    });
}

function requirePositive(settings: EmbedderSettings): void {
  for (const [field, value] of Object.entries(settings)) {
    if (typeof value !== "number" || (Number.isInteger(value) && value > 0)) continue;
    throw invalidField(field, "must be a whole number above 0");
  }
}
