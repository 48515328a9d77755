/**
 * Describes failures of an embedding service for people.
 *
 * The service's messages may repeat what we sent: personal text, or the key. So no error includes them, and no error of the HTTP
 * client is kept as a cause; known failures are recognised and described in our own words.
 */
import { defined } from "../engine/defined.ts";
import { type ErrorCode, HelmdeckError, isHelmdeckError } from "../engine/errors.ts";

/** Codes of temporary network errors, of Node and its HTTP client. */
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
  ENOTFOUND: "cannot be found: the host name does not resolve on this machine",
  EAI_AGAIN: "cannot be found: the host name does not resolve right now",
  ECONNRESET: "closed the connection",
  UND_ERR_SOCKET: "closed the connection",
  UND_ERR_CONNECT_TIMEOUT: "does not accept the connection",
};

/** Messages that say that a text or a batch exceeds the model's context. */
const TOO_LONG =
  /(exceeds? the (available )?context|context.?(length|size|window)|maximum context|too (long|large)|max(imum)?.{0,20}(tokens|length|batch size)|less than \d+ tokens)/i;
const NO_MODEL = /model\b.{0,300}\b(not found|does not exist)/is;
/** Messages that say so directly. */
const NO_MEMORY = /more system memory|out of memory|insufficient memory/i;
/** Ollama sees the host's memory, not its container's limit. When the model's process is killed, this is its only message. */
const MODEL_PROCESS_ENDED =
  /runner process (has terminated|no longer running)|do embedding request: .{0,200}\bEOF\b/is;
const NO_EMBEDDINGS = /not support embeddings?/i;

/** The service and the model, for messages. */
export interface Asked {
  readonly who: string;
  readonly model?: string;
}

/** There was no response, or an incomplete one. */
export function connectionFailure({ who }: Asked, error: unknown): HelmdeckError {
  const code = networkCodeOf(error);
  const happened = (code && SENTENCES[code]) ?? "cannot be reached";
  return unavailable(`${who} ${happened}.`, {
    passing: PASSING.has(code ?? ""),
    ...(code && { network: code }),
  });
}

/** An error status. `body` is examined but never shown. */
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
  if (status === 404 && NO_MODEL.test(body)) {
    const { model: missing = "this model" } = asked;
    return new HelmdeckError("model_missing", `${who} has no model ${missing}.`, {
      details: { model: missing },
    });
  }
  const details = {
    status,
    passing: PASSING_STATUS.has(status),
    ...defined({ retryAfterMs }),
  };
  if (status === 429)
    return new HelmdeckError("rate_limited", `${who} reports too many requests.`, { details });
  return unavailable(`${who} ${sentenceFor(status, body, model)} (HTTP ${status}).`, details);
}

/** A successful response with unusable content. */
export function unusable({ who }: Asked, what: string): HelmdeckError {
  return unavailable(`${who} answered with ${what}.`, { passing: false });
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

/** Whether the same request may succeed soon. */
export function isPassing(error: unknown): error is HelmdeckError {
  return error instanceof HelmdeckError && error.details.passing === true;
}

/** The model does not fit, or no longer fits; an immediate retry would only kill its process again. */
function memoryFailure(
  { who, model = "the model" }: Asked,
  status: number,
  body: string,
): HelmdeckError | undefined {
  const happened = NO_MEMORY.test(body)
    ? `has too little memory for ${model}`
    : MODEL_PROCESS_ENDED.test(body) &&
      `answers that the process of ${model} ended, usually for lack of memory`;
  if (happened === false) return undefined;
  return new HelmdeckError(
    "embeddings_out_of_memory",
    `${who} ${happened} (HTTP ${status}). Give it more memory (check the container's limit), or use a smaller model ` +
      `than ${model}.`,
    { details: { status, model } },
  );
}

/** Also for a text that a service has truncated instead of refusing it. */
export function tooLarge(who: string, status: number): HelmdeckError {
  return new HelmdeckError("too_large", `A text is longer than the model of ${who} accepts.`, {
    details: { status },
  });
}

function sentenceFor(status: number, body: string, model: string): string {
  if (NO_EMBEDDINGS.test(body)) return `says that ${model} does not create embeddings`;
  if (status === 401 || status === 403) return "requires a valid key";
  if (status === 404) return "has nothing at this path; check the address";
  if (status >= 300 && status < 400) return "redirects to another address, which is not followed";
  if (PASSING_STATUS.has(status)) return "is too busy or not ready";
  return "failed";
}

/** Node's HTTP client puts the code into the cause, or into the first of several attempts. */
function networkCodeOf(error: unknown): string | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const inner = at instanceof AggregateError ? at.errors[0] : at;
    if (inner instanceof Error && "code" in inner && typeof inner.code === "string") return inner.code;
  }
  return undefined;
}

const SERVICE_FAILURES: readonly ErrorCode[] = [
  "embeddings_unavailable",
  "embeddings_out_of_memory",
  "deadline_exceeded",
  "rate_limited",
];

/** Whether the service, not the caller, failed. Only these errors count for the circuit. */
export function speaksAgainstTheService(error: unknown): error is HelmdeckError {
  return isOneOf(error, SERVICE_FAILURES);
}

/** Whether nothing is embedded for now; a refused text is no such failure. An open circuit only repeats the reason. */
export function stopsEmbedding(error: unknown): error is HelmdeckError {
  const missing = ["model_missing", "model_changed", "dimension_mismatch"] as const;
  const codes: readonly ErrorCode[] = [...SERVICE_FAILURES, ...missing];
  return isOneOf(error, codes) && error.details.circuit !== "open";
}

function isOneOf(error: unknown, codes: readonly ErrorCode[]): error is HelmdeckError {
  return codes.some((code) => isHelmdeckError(error, code));
}
