/**
 * What went wrong with an embedding service, as errors for people.
 *
 * Whatever the other side says may repeat what we sent it: a person's text, or the key. So none of its words come into an
 * error, and no error of the HTTP client is kept as a cause; known answers are recognised and said in words of ours.
 */
import { defined, HelmdeckError } from "../engine/basics.ts";

/** Network error codes of Node and of its HTTP client that may be over a moment later. */
const PASSING = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
]);
const PASSING_STATUS = new Set([429, 502, 503, 504]);

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refuses connections: it is not running there, or not on this port",
  ENOTFOUND: "cannot be found: the host name does not resolve from here",
  EAI_AGAIN: "cannot be found: the host name does not resolve at the moment",
  ECONNRESET: "broke off the connection",
  UND_ERR_SOCKET: "broke off the connection",
  UND_ERR_CONNECT_TIMEOUT: "does not accept the connection",
};

/** How services say that a text, or a batch, is longer than the model takes. */
const TOO_LONG =
  /(exceeds? the (available )?context|context.?(length|size|window)|maximum context|too (long|large)|max(imum)?.{0,20}(tokens|length|batch size)|less than \d+ tokens)/i;
const NO_MODEL = /model\b.{0,300}\b(not found|does not exist)/is;
/** The server says so itself. */
const NO_MEMORY = /more system memory|out of memory|insufficient memory/i;
/** Ollama sees the host's memory, not its container's limit: there the model's process is killed, and this is all it says. */
const MODEL_PROCESS_ENDED =
  /runner process (has terminated|no longer running)|do embedding request: .{0,200}\bEOF\b/is;
const NO_EMBEDDINGS = /not support embeddings?/i;

/** Where the request went and about which model, for the sentence. */
export interface Asked {
  readonly who: string;
  readonly model?: string;
}

/** The request got no answer, or not all of it. */
export function connectionFailure({ who }: Asked, error: unknown): HelmdeckError {
  const code = networkCodeOf(error);
  const happened = (code && SENTENCES[code]) ?? "cannot be reached";
  return unavailable(`${who} ${happened}.`, {
    passing: PASSING.has(code ?? ""),
    ...(code && { network: code }),
  });
}

/** The answer is no success. `body` is only looked at, never shown. */
export function statusFailure(
  asked: Asked,
  status: number,
  body: string,
  retryAfterMs?: number,
): HelmdeckError {
  const { who, model = "the model" } = asked;
  const memory = status >= 500 ? memoryFailure(asked, status, body) : undefined;
  if (memory !== undefined) return memory;
  if (status === 413 || (status >= 400 && TOO_LONG.test(body))) return tooLarge(who, status);
  if (status === 404 && NO_MODEL.test(body)) return modelMissing(asked);
  const details = {
    status,
    passing: PASSING_STATUS.has(status),
    ...defined({ retryAfterMs }),
  };
  if (status === 429)
    return new HelmdeckError("rate_limited", `${who} reports too many requests.`, { details });
  return unavailable(`${who} ${sentenceFor(status, body, model)} (HTTP ${status}).`, details);
}

/** A success whose content cannot be used. */
export function unusable({ who }: Asked, what: string): HelmdeckError {
  return unavailable(`${who} answered with ${what}.`, { passing: false });
}

function modelMissing({ who, model = "this model" }: Asked): HelmdeckError {
  return new HelmdeckError("model_missing", `${who} has no model ${model}.`, { details: { model } });
}

export function dimensionMismatch({ who, model = "" }: Asked, expected: number, got: number): HelmdeckError {
  return new HelmdeckError(
    "dimension_mismatch",
    `${who} answers for ${model} with vectors of ${got} dimensions, not ${expected}.`,
    { details: { model, expected, got } },
  );
}

export function unavailable(
  message: string,
  details: Record<string, string | number | boolean>,
): HelmdeckError {
  return new HelmdeckError("embeddings_unavailable", message, { details });
}

/** Whether the same request may succeed a moment later. */
export function isPassing(error: unknown): error is HelmdeckError {
  return error instanceof HelmdeckError && error.details.passing === true;
}

/** The model does not fit, or does not fit any more; asking again at once would only end its process again. */
function memoryFailure(
  { who, model = "the model" }: Asked,
  status: number,
  body: string,
): HelmdeckError | undefined {
  const happened = NO_MEMORY.test(body)
    ? `has too little memory for ${model}`
    : MODEL_PROCESS_ENDED.test(body) &&
      `answers that the process of ${model} ended, most often for lack of memory`;
  if (happened === false) return undefined;
  return new HelmdeckError(
    "embeddings_out_of_memory",
    `${who} ${happened} (HTTP ${status}). Give it more memory (a container's own limit counts), or use a smaller model ` +
      `than ${model}.`,
    { details: { status, model } },
  );
}

/** Also for a text that a service has cut instead of refusing it. */
export function tooLarge(who: string, status: number): HelmdeckError {
  return new HelmdeckError("too_large", `A text is longer than the model of ${who} takes.`, {
    details: { status },
  });
}

function sentenceFor(status: number, body: string, model: string): string {
  if (NO_EMBEDDINGS.test(body)) return `says that ${model} makes no embeddings`;
  if (status === 401 || status === 403) return "refuses the key, or asks for one";
  if (status === 404) return "has nothing at this path: is the address right?";
  if (status >= 300 && status < 400) return "redirects to another address, which is not followed";
  if (PASSING_STATUS.has(status)) return "is too busy or not ready";
  return "failed";
}

/** Node's HTTP client hides the code in the cause, or in the first of several tried addresses. */
function networkCodeOf(error: unknown): string | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const inner = at instanceof AggregateError ? at.errors[0] : at;
    if (inner instanceof Error && "code" in inner && typeof inner.code === "string") return inner.code;
  }
  return undefined;
}
