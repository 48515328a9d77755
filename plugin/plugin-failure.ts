/**
 * Failure messages that the host may pass on to a model.
 *
 * The text of an error can contain a path, a value or worse, and the host puts a thrown message into the model's context. So
 * a search reports one of these fixed phrases, chosen by the error's code, and none of the error's text.
 */
import { HelmdeckError, isHelmdeckError } from "../engine/errors.ts";

const PHRASES: Readonly<Record<HelmdeckError["code"], string>> = {
  invalid_input: "the request was refused",
  secret_refused: "the request was refused",
  key_malformed: "the memory key is malformed",
  key_missing: "the memory key is missing",
  key_wrong: "the memory key belongs to another database",
  key_unreadable: "the memory key cannot be read",
  store_not_ours: "the database file is not helmdeck's",
  store_newer: "the database was written by a newer version",
  store_corrupt: "the database is damaged",
  store_locked: "the database is locked by another process",
  store_full: "the disk is full",
  quota_exceeded: "this memory has reached its limit",
  store_readonly: "the database cannot be written",
  store_replaced: "the database was moved, deleted or replaced",
  store_moved: "the memory was moved to another place",
  store_unavailable: "the database cannot be opened",
  entry_unreadable: "an entry cannot be decrypted",
  not_found: "it does not exist",
  changed_meanwhile: "it was changed meanwhile",
  memory_unavailable: "it did not start, or lost its database",
  engine_unavailable: "its engine cannot be reached, or sent an unexpected answer",
  deadline_exceeded: "it did not answer in time",
  identity_refused: "this context is closed",
  missing_bearer: "it requires a token",
  invalid_token: "it refused the token",
  forbidden: "it refused the request",
  rate_limited: "it got too many requests",
  too_large: "the request was too large",
  method_not_allowed: "the request was refused",
  unsupported_media_type: "the request was refused",
  pack_failed: "the pack failed",
  invalid_output: "the pack failed",
  session_unavailable: "no working folder could be created",
  artifact_refused: "the pack's output was too large",
  upstream_failed: "another service failed",
  embeddings_unavailable: "the embedding service is not available",
  embeddings_out_of_memory: "the embedding service has too little memory",
  model_missing: "the embedding model is not installed",
  model_changed: "the built-in model's files are not those of this version",
  dimension_mismatch: "the embedding model changed",
  cancelled: "it was cancelled",
  active_plan_corrupt: "the marker of the active plan is corrupt",
  runtime_unsupported: "this Node is too old",
  internal: "it failed",
};

/** One short sentence for people that is safe to show to a model. */
export function sentenceOf(error: unknown): string {
  const phrase = isHelmdeckError(error) ? PHRASES[error.code] : PHRASES.internal;
  return `helmdeck memory is not available: ${phrase}; run openclaw helmdeck doctor`;
}

/** For the operator's log: code and message of our own errors, only the type of others. */
export function logLineOf(error: unknown): string {
  if (isHelmdeckError(error)) return `${error.code}: ${error.message}`;
  return `internal: ${error instanceof Error ? error.name : typeof error}`;
}

/** For an operator's program: code and message of our own errors; any other error is reported as a bug. */
export function failureOf(error: unknown): {
  readonly code: HelmdeckError["code"];
  readonly message: string;
} {
  if (isHelmdeckError(error)) return { code: error.code, message: error.message };
  return { code: "internal", message: "This is a bug in helmdeck memory; please report what you did." };
}

/**
 * The error that a tool throws. The host shows a /tools/invoke client only the messages of errors with one of these two
 * names; any other becomes "tool execution failed". Agents always see the message.
 */
export class ToolFailure extends Error {
  override readonly name: "ToolInputError" | "ToolAuthorizationError";
  readonly status: 400 | 403;
  readonly code: HelmdeckError["code"];

  constructor(error: unknown) {
    const failure = isHelmdeckError(error) ? error : new HelmdeckError("internal", `${sentenceOf(error)}.`);
    super(`${failure.code}: ${failure.message}`);
    this.code = failure.code;
    const isIdentity = failure.code === "identity_refused";
    this.name = isIdentity ? "ToolAuthorizationError" : "ToolInputError";
    this.status = isIdentity ? 403 : 400;
  }
}
