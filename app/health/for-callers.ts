/**
 * What somebody is told of a failure who does not run this memory: a caller of a server, or a model.
 *
 * Threat: from the text of an error a caller learns the operator's paths, hosts, accounts and commands, and somebody without a
 * token does so from /readyz. Defence: of failures that are the operator's, a caller hears one phrase for each code, what became
 * of the write, and the few details that a program needs. The operator's log has the message.
 */
import { ERROR_CODES, type ErrorCode, HelmdeckError } from "../../engine/errors.ts";
import { remedyFor } from "./remedies.ts";

const PHRASES: Readonly<Record<ErrorCode, string>> = {
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
  store_moved: "the memory was moved to another place, or is being moved",
  store_unavailable: "the database cannot be opened or does not answer",
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
  artifact_refused: "the pack's output was refused",
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

export function phraseOf(code: ErrorCode): string {
  return PHRASES[code];
}

const OPERATORS =
  /^(key|store|embeddings|model)_|^(memory_unavailable|engine_unavailable|dimension_mismatch|active_plan_corrupt|runtime_unsupported)$/;
const SHOWN: ReadonlySet<string> = new Set(["reason", "outcome", "retryAfterSeconds", "restored"]);

/** The failure as a caller may see it: a failure of the caller's own request is unchanged. */
export function forCallers(error: HelmdeckError): HelmdeckError {
  const { code, reason, message, details } = error;
  if (!OPERATORS.test(code) && details.path === undefined) return error;
  const [cause = code] = ERROR_CODES.filter((known) => known === details.reason);
  const why =
    code === "memory_unavailable" ? `memory is not available: ${PHRASES[cause]} (${cause})` : PHRASES[code];
  const isUnknown = details.outcome === "unknown";
  const rolledBack = code === "store_full" ? " Nothing was written." : "";
  const done = isUnknown
    ? " It is unknown whether the write was kept: look before you repeat it."
    : message.slice(reason.length) || rolledBack;
  const shown = Object.entries(details).filter(([name]) => SHOWN.has(name));
  return new HelmdeckError(code, `${why.slice(0, 1).toUpperCase()}${why.slice(1)}.${done}`, {
    details: Object.fromEntries(shown),
  });
}

export function remedyForCallers(code: ErrorCode): string {
  return OPERATORS.test(code)
    ? "If that lasts, tell whoever runs this server: its log says more."
    : remedyFor(code);
}
