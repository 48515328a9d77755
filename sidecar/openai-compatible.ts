/**
 * An embedder for any endpoint with OpenAI's `POST /v1/embeddings`.
 *
 * The key is held in a closure, not in a property that a log might show. It is only sent in the Authorization header to the
 * configured address: redirects are not followed.
 */
import { defined } from "../engine/defined.ts";
import { invalidField } from "../engine/errors.ts";
import { systemClock } from "../engine/timing.ts";
import { createBatchedEmbedder, type EmbedderParts } from "./batched-embedder.ts";
import type { CallOptions, OpenAiCompatibleSettings, SidecarEmbedder } from "./embedding-service.ts";
import {
  checkAddress,
  checkAnswer,
  checkVectors,
  jsonOf,
  openAiAnswer,
  request,
  withDeadline,
} from "./http-client.ts";
import { profileOf } from "./models.ts";
import { tooLarge, unusable } from "./service-failures.ts";

const DEFAULTS = { concurrency: 4, requestTimeoutMs: 30_000 };

/** Throws `invalid_input`. */
export function createOpenAiCompatibleEmbedder(
  settings: OpenAiCompatibleSettings,
  parts: EmbedderParts = { clock: systemClock, random: Math.random },
): SidecarEmbedder {
  const { address, apiKey, fetch: fetchImpl = fetch, ...rest } = settings;
  const { model, dimensions } = rest;
  const base = checkAddress(address);
  const headers = headersFor(apiKey);
  const { contextTokens } = profileOf(model);
  const asked = { who: `The embedding service at ${base}`, model };
  const post = async (texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> => {
    const body = JSON.stringify({
      model,
      input: texts,
      encoding_format: "float",
      ...defined({ dimensions }),
    });
    const options = { fetch: fetchImpl, signal, asked };
    const response = await request(`${base}/embeddings`, { method: "POST", headers, body }, options);
    const { data, usage } = checkAnswer(openAiAnswer, await jsonOf(response, options), asked);
    if (mayBeTruncated(texts, usage?.prompt_tokens, contextTokens))
      throw tooLarge(asked.who, response.status);
    // Each item has its position; the order of the items is undefined.
    const sorted = data.toSorted((one, other) => one.index - other.index);
    if (sorted.some(({ index }, at) => index !== at)) throw unusable(asked, "wrongly numbered vectors");
    const vectors = sorted.map(({ embedding }) => embedding);
    return checkVectors(asked, vectors, { count: texts.length, dimensions });
  };
  const send = (texts: readonly string[], limits: CallOptions) =>
    withDeadline(limits, parts.clock.timer, asked.who, (signal) => post(texts, signal));
  return createBatchedEmbedder({ ...asked, send }, rest, DEFAULTS, parts);
}

/** The HTTP client would show an invalid header value, here the key, in its error. */
function headersFor(apiKey: string | undefined): Record<string, string> {
  if (apiKey === undefined) return { "content-type": "application/json" };
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw invalidField("apiKey", "holds spaces or other characters that a key cannot have", {
      named: "The key of the embedding service",
    });
  return { "content-type": "application/json", authorization: `Bearer ${apiKey}` };
}

/** Start and end tokens, which a service may or may not count. */
const SPECIAL_TOKENS = 2;

/**
 * Whether a service may have silently truncated one of these texts to `contextTokens`, so that it must be sent again, alone or
 * shorter. `readTokens` covers all of them; when it is undefined, truncation cannot be detected.
 */
export function mayBeTruncated(
  texts: readonly string[],
  readTokens: number | undefined,
  contextTokens: number,
): boolean {
  const least = contextTokens - SPECIAL_TOKENS;
  if (readTokens === undefined || readTokens < least) return false;
  // A token stands for at least one byte.
  if (texts.every((text) => Buffer.byteLength(text) < least)) return false;
  // A single text with more tokens than the assumed context was read in full.
  return texts.length > 1 || readTokens <= contextTokens;
}
