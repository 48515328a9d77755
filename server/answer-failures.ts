/** Answers every failure with helmdeck's envelope and its status. Unexpected errors are counted and reported. */
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { forCallers } from "../app/health/for-callers.ts";
import { errorReply } from "../app/wire/error-reply.ts";
import { asHelmdeckError, type ErrorCode, HelmdeckError } from "../engine/errors.ts";
import type { ServerEnv } from "./caller.ts";
import { statusOf } from "./status.ts";

/** Called for every failure that is answered. */
export interface FailureListener {
  failed(code: ErrorCode): void;
  /** A bug: `error` is the thrown value. Called before `failed`. */
  unexpected(error: unknown, requestId: string): void;
}

/** Hono's handler for errors from routes, guards and mounts. */
export function answerFailures(listener: FailureListener) {
  return (thrown: unknown, c: Context<ServerEnv>): Response => {
    return answerWith(c, noteFailure(listener, thrown, c));
  };
}

/** The answer to a failure, whose request line gets its code. */
export function answerWith(c: Context<ServerEnv>, error: HelmdeckError): Response {
  c.set("failure", error);
  const reply = { ...errorReply(forCallers(error)), request_id: c.get("requestId") };
  return c.json(c.get("failAs")?.(reply) ?? reply, statusFor(error), failureHeaders(error));
}

/** `c`: absent if the request is not known any more. */
export function noteFailure(
  listener: FailureListener,
  thrown: unknown,
  c: Context<ServerEnv> | undefined,
): HelmdeckError {
  const error = knownError(thrown);
  c?.set("failure", error);
  if (error.code === "internal") listener.unexpected(thrown, c?.get("requestId") ?? "");
  listener.failed(error.code);
  return error;
}

/** The library's own refusals, such as for a media type, are the client's errors, not bugs. */
function knownError(thrown: unknown): HelmdeckError {
  if (thrown instanceof HTTPException && thrown.status === 415) {
    return new HelmdeckError(
      "unsupported_media_type",
      "The body must be JSON: Content-Type: application/json.",
    );
  }
  if (thrown instanceof HTTPException && thrown.status < 500) {
    return new HelmdeckError("invalid_input", "The request is malformed.");
  }
  return asHelmdeckError(thrown);
}

/** The set of codes is closed, and each has a status that allows a body. */
function statusFor(error: HelmdeckError): ContentfulStatusCode {
  const status: number = statusOf(error.code);
  return status as ContentfulStatusCode; // Hono lists registered statuses only, and 499 is not registered
}

/** Memory that was lost is opened again after two seconds. */
export const RETRY_AFTER_SECONDS = "2";

/** For these, the same request may succeed after a moment, without anybody's help. */
const PASSES: ReadonlySet<unknown> = new Set<ErrorCode>([
  ...(["rate_limited", "memory_unavailable", "engine_unavailable", "session_unavailable"] as const),
  ...(["embeddings_unavailable", "store_locked", "store_replaced", "store_unavailable"] as const),
]);

/** A write whose outcome is unknown is not to be repeated unseen. */
function retryAfter({ code, details }: HelmdeckError): string | undefined {
  const { reason = code, outcome, retryAfterSeconds } = details;
  if (!PASSES.has(code) || !PASSES.has(reason) || outcome === "unknown") return undefined;
  if (typeof retryAfterSeconds === "number") return String(Math.max(1, Math.ceil(retryAfterSeconds)));
  return RETRY_AFTER_SECONDS;
}

const BEARER = 'Bearer realm="helmdeck"';

/** Headers that some statuses require. */
export function failureHeaders(error: HelmdeckError): Record<string, string> {
  const { code, message } = error;
  if (code === "missing_bearer") return { "WWW-Authenticate": BEARER };
  if (code === "invalid_token") {
    // RFC 6750, section 3: some clients show nothing else to a person.
    const description = message.replaceAll('"', "'").replace(/[^ !#-[\]-~]/g, "?");
    return { "WWW-Authenticate": `${BEARER}, error="${code}", error_description="${description}"` };
  }
  const seconds = retryAfter(error);
  return seconds === undefined ? {} : { "Retry-After": seconds };
}
