/** Turns every failure into a HelmdeckError, so that the text of an unexpected error never leaves the process. */
import { HelmdeckError, isHelmdeckError } from "./errors.ts";

/** An unexpected error is a bug of ours. Its text could hold a stored value, so only its class name is shown. */
export function asHelmdeckError(error: unknown): HelmdeckError {
  if (isHelmdeckError(error)) return error;
  const name = error instanceof Error ? classNameOf(error) : typeof error;
  const at = placeOf(error);
  const message = `An unexpected error occurred (${name}${at && ` at ${at}`}). Please report it.`;
  return new HelmdeckError("internal", message, { cause: error });
}

/** An error's name can be any text; show it only when it looks like a class name. */
function classNameOf(error: Error): string {
  return /^[A-Z][A-Za-z]{0,40}$/.test(error.name) ? error.name : "Error";
}

/** File, line and column of the throw. Looks only at the stack behind the error's own message. */
function placeOf(error: unknown): string {
  if (!(error instanceof Error) || error.stack === undefined) return "";
  const frames = error.stack.slice(error.stack.indexOf(error.message) + error.message.length);
  return /([\w.-]+:\d+:\d+)\)?\s*(?:\n|$)/.exec(frames)?.[1] ?? "";
}
