/**
 * Failure messages that the host may pass on to a model.
 *
 * The text of an error can contain a path, a value or worse, and the host puts a thrown message into the model's context. So
 * a search reports one of these fixed phrases, chosen by the error's code, and none of the error's text.
 */
import { phraseOf } from "../app/health/for-callers.ts";
import { HelmdeckError, isHelmdeckError } from "../engine/errors.ts";

/** One short sentence for people that is safe to show to a model. */
export function sentenceOf(error: unknown): string {
  const phrase = phraseOf(isHelmdeckError(error) ? error.code : "internal");
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
