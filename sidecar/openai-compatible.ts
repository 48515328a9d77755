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
import { withDeadline } from "./call-deadline.ts";
import { checkVectors } from "./check-vectors.ts";
import type { CallOptions, OpenAiCompatibleSettings, SidecarEmbedder } from "./embedding-service.ts";
import { jsonOf, request } from "./http-client.ts";
import { profileOf } from "./models.ts";
import { checkAddress } from "./service-address.ts";
import { checkAnswer, openAiAnswer } from "./service-answers.ts";
import { type Asked, tooLarge, unusable } from "./service-failures.ts";
import { mayBeTruncated } from "./silent-truncation.ts";

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
    return checkVectors(asked, byIndex(asked, data), { count: texts.length, dimensions });
  };
  const send = (texts: readonly string[], limits: CallOptions) =>
    withDeadline(limits, parts.clock.timer, asked.who, (signal) => post(texts, signal));
  return createBatchedEmbedder({ ...asked, send }, rest, DEFAULTS, parts);
}

/** Each item has its position; the order of the items is undefined. */
function byIndex(
  asked: Asked,
  data: readonly { readonly index: number; readonly embedding: readonly unknown[] }[],
): readonly (readonly unknown[])[] {
  const sorted = data.toSorted((one, other) => one.index - other.index);
  if (sorted.some(({ index }, at) => index !== at)) throw unusable(asked, "wrongly numbered vectors");
  return sorted.map(({ embedding }) => embedding);
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
