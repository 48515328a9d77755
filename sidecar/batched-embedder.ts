/**
 * An embedder over any service that turns a few texts into vectors; adds prefixes, batches, concurrency limits, retries and a
 * circuit breaker. Texts are cut to the model's context and grouped into requests of bounded size.
 */
import PQueue from "p-queue";
import { defined } from "../engine/defined.ts";
import { HelmdeckError, invalidField, isHelmdeckError } from "../engine/errors.ts";
import type { Clock } from "../engine/timing.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import type {
  CallOptions,
  DocumentEmbeddings,
  EmbedderSettings,
  SidecarEmbedder,
} from "./embedding-service.ts";
import { withDeadline } from "./http-client.ts";
import { profileOf, spaceOf } from "./models.ts";
import {
  dimensionMismatch,
  speaksAgainstTheService,
  stopsEmbedding,
  unavailable,
} from "./service-failures.ts";

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

interface EmbedderLimits {
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
  const limits = { ...defaults, maxBatchTexts: MAX_BATCH_TEXTS, maxBatchBytes: MAX_BATCH_BYTES, ...settings };
  for (const [field, value] of Object.entries(limits)) {
    if (typeof value !== "number" || (Number.isInteger(value) && value > 0)) continue;
    throw invalidField(field, "must be a whole number above 0");
  }
  const { model, who } = service;
  const profile = profileOf(model);
  const prefixes = settings.prefixes ?? profile.prefixes;
  const maxTextBytes =
    limits.maxTextBytes ?? Math.min(profile.contextTokens * BYTES_PER_TOKEN, MAX_TEXT_BYTES);
  const documents = new PQueue({ concurrency: limits.concurrency });
  const queries = new PQueue({ concurrency: QUERY_LANES });
  const closing = new AbortController();
  let dimensions = settings.dimensions;
  let reason: string | undefined;
  let isWarming = false;

  const breaker = new CircuitBreaker({
    ...parts,
    // Called on every attempt, so that the circuit knows its reason even when it opens between two attempts of one call.
    isFailure: (error) => {
      if (!speaksAgainstTheService(error)) return false;
      if (service.isLocal && isHelmdeckError(error, "deadline_exceeded")) return false;
      reason = error.message;
      return true;
    },
    refusal: () =>
      unavailable(`${reason ?? `${who} failed several times.`} It will be retried soon.`, {
        circuit: "open",
      }),
  });

  const call = async <T>(options: CallOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const signals = [closing.signal, ...(options.signal ? [options.signal] : [])];
    const either = { ...options, signal: AbortSignal.any(signals) };
    try {
      const result = await withDeadline(either, parts.clock.timer, who, work);
      reason = undefined;
      return result;
    } catch (error) {
      if (stopsEmbedding(error)) reason = error.message;
      throw error;
    }
  };

  /** A text that is too long does not block others: its batch is halved until the text is alone, then the text is shortened. */
  const embedBatch = async (
    lane: PQueue,
    batch: readonly Item[],
    signal: AbortSignal,
  ): Promise<readonly Embedded[]> => {
    try {
      const texts = batch.map(payloadOf);
      const sent = { signal, deadlineMs: limits.requestTimeoutMs };
      const vectors = await breaker.run(() => service.send(texts, sent), {
        signal,
        lane: (attempt) => lane.add(attempt, { signal }),
      });
      for (const { length } of vectors) {
        dimensions ??= length; // the first answer fixes the dimensions for all later ones
        if (length !== dimensions) throw dimensionMismatch(service, dimensions, length);
      }
      return batch.map((item, at) => {
        const vector = vectors[at];
        if (vector === undefined) throw new HelmdeckError("internal", "A text got no vector.");
        return { item, vector };
      });
    } catch (error) {
      if (!isHelmdeckError(error, "too_large")) throw error;
      const smaller = withinReach(batch, error.details.fits);
      if (smaller === undefined) throw unavailable(`${who} accepts not even a single character.`, {});
      return (await Promise.all(smaller.map((part) => embedBatch(lane, part, signal)))).flat();
    }
  };

  /** One at a time, with a deadline; success closes the circuit. */
  const warm = (): void => {
    if (service.warm === undefined || isWarming || closing.signal.aborted) return;
    isWarming = true;
    service
      .warm({ signal: closing.signal, deadlineMs: limits.requestTimeoutMs })
      .then(() => breaker.close())
      .catch(() => {})
      .finally(() => {
        isWarming = false;
      });
  };

  return {
    model,
    ...defined({ language: profile.language }),
    ...(service.isLocal && { isLocal: true }),
    space: spaceOf(model, settings.dimensions, prefixes),
    get dimensions() {
      return dimensions;
    },
    state: () => ({ circuit: breaker.state, reason }),
    embedDocuments: async (texts, options = {}) => {
      requireTexts(texts);
      const items = texts.map((text, index) => itemFor(index, prefixes.document, text, maxTextBytes));
      const batches = planBatches(items, limits.maxBatchTexts, limits.maxBatchBytes);
      const embedded = await call(options, (signal) =>
        allOrNothing(signal, batches, (batch, together) => embedBatch(documents, batch, together)),
      );
      return answerOf(embedded.flat());
    },
    embedQuery: async (text, options = {}) => {
      requireTexts([text]);
      const item = itemFor(0, prefixes.query, text, maxTextBytes);
      try {
        const [found] = await call(options, (signal) => embedBatch(queries, [item], signal));
        if (found === undefined) throw new HelmdeckError("internal", "A question got no vector.");
        return found.vector;
      } catch (error) {
        if (isHelmdeckError(error, "deadline_exceeded")) warm();
        throw error;
      }
    },
    warm,
    close: () => {
      closing.abort();
      service.close?.();
    },
  };
}

interface Embedded {
  readonly item: Item;
  readonly vector: Float32Array;
}

function answerOf(embedded: readonly Embedded[]): DocumentEmbeddings {
  return {
    vectors: embedded.map(({ vector }) => vector),
    truncated: embedded
      .filter(({ item: { text, usedLength } }) => usedLength < text.length)
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
  const shorter = first && shortened(first, fits);
  return shorter && [[shorter]];
}

function requireTexts(texts: readonly string[]): void {
  const blank = texts.findIndex((text) => text.trim() === "");
  if (blank !== -1)
    throw invalidField("texts", "is empty; give a text to embed", {
      named: `Text ${blank}`,
      details: { index: blank },
    });
}

/** A text to send: its position in the answer, and how much of it is sent. */
interface Item {
  readonly index: number;
  readonly prefix: string;
  /** The whole text; `usedLength` says how much of it goes out. */
  readonly text: string;
  readonly usedLength: number;
}

function payloadOf({ prefix, text, usedLength }: Item): string {
  return prefix + text.slice(0, usedLength);
}

/** The text as sent, limited to `maxBytes` of UTF-8 including the prefix. */
function itemFor(index: number, prefix: string, raw: string, maxBytes: number): Item {
  const text = raw.toWellFormed();
  return { index, prefix, text, usedLength: lengthWithin(text, maxBytes - Buffer.byteLength(prefix)) };
}

/** In order, each batch within both limits; a text above the size limit gets its own batch. */
function planBatches(items: readonly Item[], maxTexts: number, maxBytes: number): Item[][] {
  const batches: Item[][] = [];
  let current: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = Buffer.byteLength(payloadOf(item));
    const isFull = current.length >= maxTexts || bytes + size > maxBytes;
    if (current.length > 0 && isFull) {
      batches.push(current);
      current = [];
      bytes = 0;
    }
    current.push(item);
    bytes += size;
  }
  return current.length > 0 ? [...batches, current] : batches;
}

/** As much as fits, if the service says it, else half of the text; at least one character. Undefined when it cannot be shorter. */
function shortened(item: Item, fits: unknown): Item | undefined {
  const length = typeof fits === "number" ? fits - item.prefix.length : Math.floor(item.usedLength / 2);
  const most = Math.min(length, item.usedLength - 1);
  const code = item.text.charCodeAt(most);
  const splitsPair = code >= 0xdc00 && code <= 0xdfff;
  const usedLength = splitsPair ? most - 1 : most;
  return usedLength > 0 ? { ...item, usedLength } : undefined;
}

function lengthWithin(text: string, maxBytes: number): number {
  if (Buffer.byteLength(text) <= maxBytes) return text.length;
  return new TextEncoder().encodeInto(text, new Uint8Array(Math.max(maxBytes, 4))).read;
}
