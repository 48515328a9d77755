/** The HTTP status of each error code. */
import type { ErrorCode } from "../engine/errors.ts";

/** A full quota is the caller's matter: in the log, its message would name the caller. */
export function isServersFault(code: ErrorCode): boolean {
  return statusOf(code) >= 500 && code !== "quota_exceeded";
}

/** The only place that maps codes to statuses; a new code does not compile without one. */
export function statusOf(code: ErrorCode) {
  switch (code) {
    case "invalid_input":
    case "secret_refused":
      return 400;
    case "missing_bearer":
    case "invalid_token":
      return 401;
    case "forbidden":
    case "identity_refused":
      return 403;
    case "not_found":
      return 404;
    case "method_not_allowed":
      return 405;
    case "changed_meanwhile":
      return 409;
    case "too_large":
      return 413;
    case "unsupported_media_type":
      return 415;
    case "pack_failed":
    case "artifact_refused":
      return 422;
    case "rate_limited":
      return 429;
    // The caller has usually disconnected; nginx's status for this.
    case "cancelled":
      return 499;
    case "entry_unreadable":
    case "invalid_output":
    case "active_plan_corrupt":
    case "runtime_unsupported":
    case "internal":
      return 500;
    case "upstream_failed":
      return 502;
    case "memory_unavailable":
    case "engine_unavailable":
    case "session_unavailable":
    case "embeddings_unavailable":
    case "embeddings_out_of_memory":
    case "model_missing":
    case "model_changed":
    case "dimension_mismatch":
    case "key_malformed":
    case "key_missing":
    case "key_wrong":
    case "key_unreadable":
    case "store_not_ours":
    case "store_newer":
    case "store_corrupt":
    case "store_locked":
    case "store_readonly":
    case "store_replaced":
    case "store_moved":
    case "store_unavailable":
      return 503;
    case "deadline_exceeded":
      return 504;
    case "store_full":
    case "quota_exceeded":
      return 507;
  }
}
