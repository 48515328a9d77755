/**
 * Sends HTTP requests to an embedding service within strict limits.
 *
 * The service may be broken or hostile: redirects are not followed (texts and key go to no other host), endless answers are cut
 * off, and errors repeat nothing that it sent (service-failures.ts). Answers are checked: unknown fields are ignored, and no
 * vectors get into an index that make comparisons meaningless (NaN, zeros) or that belong to another text (too many, too few).
 */
import * as z from "zod/mini";
import { HelmdeckError, invalidField, isHelmdeckError } from "../engine/errors.ts";
import { openLimits, orAborted, type Timer } from "../engine/timing.ts";
import type { CallOptions } from "./embedding-service.ts";
import {
  type Asked,
  connectionFailure,
  dimensionMismatch,
  statusFailure,
  unusable,
} from "./service-failures.ts";

/** 64 texts of 4,096 dimensions take 6 MB. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const MAX_FAILURE_BYTES = 4 * 1024;
/** A service that asks to wait longer than this counts as down. */
const MAX_RETRY_AFTER_MS = 60_000;

interface RequestOptions {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  readonly asked: Asked;
}

/** The response, its body unread. Rejects with a `HelmdeckError`, or with the signal's reason. */
export async function request(url: string, init: RequestInit, options: RequestOptions): Promise<Response> {
  const { fetch, signal, asked } = options;
  const response = await fetch(url, { ...init, signal, redirect: "manual" }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw connectionFailure(asked, error);
  });
  if (response.ok) return response;
  const body = await textOf(response, MAX_FAILURE_BYTES, options).catch(() => "");
  signal.throwIfAborted();
  throw statusFailure(asked, response.status, body, retryAfterMs(response));
}

/** The body as text; at most `maxBytes`. */
async function textOf(
  response: Response,
  maxBytes: number,
  { asked, signal }: RequestOptions,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of chunksOf(response, { asked, signal })) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw unusable(asked, `more than ${maxBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** The body in chunks; connection errors become ours. */
export async function* chunksOf(
  { body }: Response,
  { asked, signal }: Pick<RequestOptions, "asked" | "signal">,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body ?? []) yield chunk;
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof HelmdeckError ? error : connectionFailure(asked, error);
  }
}

/** A `fetch` for libraries with the same limits; it reads the whole body before it returns. */
export function boundedFetch(options: RequestOptions): typeof fetch {
  return async (input, init = {}) => {
    const response = await request(String(input), init, options);
    return new Response(await textOf(response, MAX_ANSWER_BYTES, options), { headers: response.headers });
  };
}

/** The JSON body of a response. */
export async function jsonOf(response: Response, options: RequestOptions): Promise<unknown> {
  const text = await textOf(response, MAX_ANSWER_BYTES, options);
  try {
    return JSON.parse(text);
  } catch {
    throw unusable(options.asked, "a body that is not JSON");
  }
}

/** Seconds or a date (RFC 9110, section 10.2.3). */
function retryAfterMs({ headers }: Response): number | undefined {
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

/**
 * Applies one deadline and one signal to a piece of work, whether or not the work observes them.
 *
 * Rejects with `deadline_exceeded` or `cancelled` at that moment; the work's signal fires with the same error as its reason.
 * `who` starts the message: "Ollama at http://…".
 */
export async function withDeadline<T>(
  { signal, deadlineMs }: CallOptions,
  timer: Timer,
  who: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limits = openLimits({
    timer,
    deadlineMs,
    tooLate: (ms) =>
      new HelmdeckError("deadline_exceeded", `${who} did not answer within ${ms} ms.`, {
        details: { deadlineMs: ms },
      }),
    until: [[signal, cancelled]],
  });
  try {
    limits.signal.throwIfAborted();
    return await orAborted(work(limits.signal), limits.signal);
  } finally {
    limits.release();
  }
}

/** An outer deadline's error already explains itself. */
function cancelled(reason: unknown): HelmdeckError {
  if (isHelmdeckError(reason)) return reason;
  return new HelmdeckError("cancelled", "The caller cancelled the request.");
}

/**
 * The address of an embedding service, without trailing slashes. Throws `invalid_input`: the HTTP client's errors would show
 * credentials or a query in it, so an address with those is refused without being shown.
 */
export function checkAddress(address: string): string {
  const refused = (why: string) =>
    invalidField("address", why, { named: "The address of the embedding service" });
  const url = URL.parse(address);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw refused("must begin with http:// or https:// and name a host");
  if (url.username !== "" || url.password !== "")
    throw refused("must not hold a user name or password; the key has its own setting");
  if (url.search !== "" || url.hash !== "") throw refused("must not have a query or a fragment");
  return url.origin + url.pathname.replace(/\/+$/, "");
}

export const versionAnswer = z.object({ version: z.string() });
export const tagsAnswer = z.object({ models: z.array(z.object({ name: z.string() })) });
/** Numbers are checked in checkVectors, which has a message for each problem. */
export const embedAnswer = z.object({ embeddings: z.array(z.array(z.unknown())) });
export const pullLine = z.object({
  status: z.optional(z.string()),
  digest: z.optional(z.string()),
  total: z.optional(z.number()),
  completed: z.optional(z.number()),
  error: z.optional(z.string()),
});
export const openAiAnswer = z.object({
  data: z.array(z.object({ index: z.number(), embedding: z.array(z.unknown()) })),
  /** Some services do not count tokens, or count them differently; anything but a number is ignored. */
  usage: z.catch(z.optional(z.object({ prompt_tokens: z.optional(z.number()) })), undefined),
});

/** The answer, validated by its schema; `embeddings_unavailable` without any of its content otherwise. */
export function checkAnswer<Schema extends z.ZodMiniType>(
  schema: Schema,
  answer: unknown,
  asked: Asked,
): z.infer<Schema> {
  const checked = z.safeParse(schema, answer);
  if (!checked.success) throw unusable(asked, "something that does not match the API");
  return checked.data;
}

/** Far above any current model. */
const MAX_DIMENSIONS = 16_384;
/** The smallest normal number. Below it, the root is not the vector's length, and dividing by it gives no unit vector. */
const LEAST_SQUARES = 2 ** -1022;

/** One unit vector per sent text, all of the same dimensions. */
export function checkVectors(
  asked: Asked,
  raw: readonly (readonly unknown[])[],
  wanted: { readonly count: number; readonly dimensions?: number | undefined },
): readonly Float32Array[] {
  if (raw.length !== wanted.count) throw unusable(asked, `${raw.length} vectors for ${wanted.count} texts`);
  const dimensions = wanted.dimensions ?? raw[0]?.length ?? 0;
  return raw.map((numbers) => {
    if (numbers.length > MAX_DIMENSIONS || numbers.length === 0)
      throw unusable(asked, `a vector of ${numbers.length} dimensions`);
    if (numbers.length !== dimensions) throw dimensionMismatch(asked, dimensions, numbers.length);
    return unitVector(asked, numbers);
  });
}

function unitVector(asked: Asked, numbers: readonly unknown[]): Float32Array {
  let squares = 0;
  const vector = Float64Array.from(numbers, (value) => {
    if (typeof value !== "number") throw unusable(asked, "a vector with a value that is not a number");
    squares += value * value;
    return value;
  });
  const length = Math.sqrt(squares);
  if (!Number.isFinite(length)) throw unusable(asked, "a vector with a number that is not finite");
  if (squares < LEAST_SQUARES) throw unusable(asked, "a vector that is zero or nearly zero");
  return Float32Array.from(vector, (value) => value / length);
}
