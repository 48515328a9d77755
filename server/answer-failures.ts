/** Answers every failure with helmdeck's envelope and its status. Unexpected errors are counted and reported. */
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { errorReply } from "../app/wire/error-reply.ts";
import { asHelmdeckError, HelmdeckError } from "../engine/errors.ts";
import type { ServerEnv } from "./caller.ts";
import { statusOf } from "./status.ts";

/** Called for every failure that is answered. */
export interface FailureListener {
  failed(error: HelmdeckError, requestId: string): void;
  /** A bug: `error` is the thrown value. Called before `failed`. */
  unexpected(error: unknown, requestId: string): void;
}

/** Hono's handler for errors from routes, guards and mounts. */
export function answerFailures(listener: FailureListener) {
  return (thrown: unknown, c: Context<ServerEnv>): Response => {
    const error = noteFailure(listener, thrown, c.get("requestId"));
    return c.json(errorReply(error), statusFor(error), failureHeaders(error));
  };
}

export function noteFailure(listener: FailureListener, thrown: unknown, requestId: string): HelmdeckError {
  const error = knownError(thrown);
  if (error.code === "internal") listener.unexpected(thrown, requestId);
  listener.failed(error, requestId);
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

/** Headers that some statuses require. */
export function failureHeaders({ code, details }: HelmdeckError): Record<string, string> {
  if (code === "missing_bearer") return { "WWW-Authenticate": 'Bearer realm="helmdeck"' };
  if (code === "invalid_token")
    return { "WWW-Authenticate": 'Bearer realm="helmdeck", error="invalid_token"' };
  if (code === "rate_limited" && typeof details.retryAfterSeconds === "number") {
    return { "Retry-After": String(Math.max(1, Math.ceil(details.retryAfterSeconds))) };
  }
  if (statusOf(code) === 503) return { "Retry-After": RETRY_AFTER_SECONDS };
  if (code === "method_not_allowed" && typeof details.allow === "string") return { Allow: details.allow };
  return {};
}
