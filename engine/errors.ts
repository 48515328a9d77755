/** The only error class of this project: a closed set of codes and a message for people, never a stored value or a secret. */

/** Every code, in the order of docs/errors.md; a test compares the two. */
export const ERROR_CODES = [
  "invalid_input",
  "secret_refused",
  "key_malformed",
  "key_missing",
  "key_wrong",
  "key_unreadable",
  "store_not_ours",
  "store_newer",
  "store_corrupt",
  "store_locked",
  "store_full",
  "quota_exceeded",
  "store_readonly",
  "store_replaced",
  "store_moved",
  "store_unavailable",
  "entry_unreadable",
  "not_found",
  "changed_meanwhile",
  "memory_unavailable",
  "engine_unavailable",
  "deadline_exceeded",
  "identity_refused",
  "missing_bearer",
  "invalid_token",
  "forbidden",
  "rate_limited",
  "too_large",
  "method_not_allowed",
  "unsupported_media_type",
  "pack_failed",
  "invalid_output",
  "session_unavailable",
  "artifact_refused",
  "upstream_failed",
  "embeddings_unavailable",
  "embeddings_out_of_memory",
  "model_missing",
  "model_changed",
  "dimension_mismatch",
  "cancelled",
  "active_plan_corrupt",
  "runtime_unsupported",
  "internal",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** They say what to correct: another input may succeed at once. */
export const ABOUT_THE_INPUT: ReadonlySet<ErrorCode> = new Set([
  "invalid_input",
  "secret_refused",
  "quota_exceeded",
  "not_found",
  "changed_meanwhile",
  "entry_unreadable",
]);

/** Details that are safe to show and to log: names, limits, counts, paths of our own files. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean>>;

export interface HelmdeckErrorOptions {
  readonly details?: ErrorDetails;
  readonly cause?: unknown;
  /** "Nothing was written.": ends the message. True of one write; what writes several says what it did: see {@link partlyDone}. */
  readonly unchanged?: string;
}

/**
 * `message` says which field or file, what limit, and what to do about it.
 * `code` is what programs branch on; `details` repeats the message's facts for machines.
 */
export class HelmdeckError extends Error {
  override readonly name = "HelmdeckError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  /** The message, but for what was not changed. */
  readonly reason: string;

  constructor(code: ErrorCode, reason: string, options: HelmdeckErrorOptions = {}) {
    const message = options.unchanged === undefined ? reason : `${reason} ${options.unchanged}`;
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.reason = reason;
    this.details = options.details ?? {};
  }
}

interface RefusedField extends HelmdeckErrorOptions {
  /** The field's name in the message, when its own name is unclear. */
  readonly named?: string;
}

/**
 * Refuses a field of the input. `rule` follows the field's name in the message: it names the limit, and the remedy unless that is
 * obvious ("is missing; give the fact a short name").
 */
export function invalidField(field: string, rule: string, options: RefusedField = {}): HelmdeckError {
  const { named = field, details, cause } = options;
  return new HelmdeckError("invalid_input", `${named} ${rule}.`, { details: { ...details, field }, cause });
}

/**
 * Whether this is a HelmdeckError, with this code when one is given.
 *
 * Also true for errors of another copy of this module: OpenClaw evaluates a plugin's module once per registration, and the
 * registrations of a process share one memory.
 */
export function isHelmdeckError(error: unknown, code?: ErrorCode): error is HelmdeckError {
  return isOurs(error) && (code === undefined || error.code === code);
}

function isOurs(error: unknown): error is HelmdeckError {
  if (error instanceof HelmdeckError) return true;
  if (!(error instanceof Error) || error.name !== "HelmdeckError" || !("code" in error)) return false;
  return ERROR_CODES.some((code) => code === error.code);
}

/** The failure of what has several parts, after some of them were carried out; `done` says which. */
export function partlyDone(error: unknown, done: string, details: ErrorDetails = {}): unknown {
  if (!isHelmdeckError(error)) return error;
  const about = { details: { ...error.details, ...details }, cause: error, unchanged: done };
  return new HelmdeckError(error.code, error.reason, about);
}

/** The code of an operating system error, such as `ENOENT`; "unknown" when there is none. */
export function systemCodeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}

/**
 * Turns every failure into a HelmdeckError, so that the text of an unexpected error never leaves the process.
 *
 * An unexpected error is a bug of ours. Its text could hold a stored value, so only its class name is shown.
 */
export function asHelmdeckError(error: unknown): HelmdeckError {
  if (isHelmdeckError(error)) return error;
  // An error's name can be any text; show it only when it looks like a class name.
  const name =
    error instanceof Error ? (/^[A-Z][A-Za-z]{0,40}$/.test(error.name) ? error.name : "Error") : typeof error;
  const at = placeOf(error);
  const message = `An unexpected error occurred (${name}${at && ` at ${at}`}). Please report it.`;
  return new HelmdeckError("internal", message, { cause: error });
}

/** File, line and column of the throw. Looks only at the stack behind the error's own message. */
function placeOf(error: unknown): string {
  if (!(error instanceof Error) || error.stack === undefined) return "";
  const frames = error.stack.slice(error.stack.indexOf(error.message) + error.message.length);
  return /([\w.-]+:\d+:\d+)\)?\s*(?:\n|$)/.exec(frames)?.[1] ?? "";
}
