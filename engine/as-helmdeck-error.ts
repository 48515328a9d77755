/** Every failure as our own error, so that no text of an unforeseen one travels. */
import { HelmdeckError, isHelmdeckError } from "./errors.ts";

/** Any other error is a defect of ours; its text could hold a value, so only the name of its class is shown. */
export function asHelmdeckError(error: unknown): HelmdeckError {
  if (isHelmdeckError(error)) return error;
  const name = error instanceof Error ? classNameOf(error) : typeof error;
  const at = placeOf(error);
  const message = `Something failed in a way that was not foreseen (${name}${at && ` at ${at}`}). Please report it.`;
  return new HelmdeckError("internal", message, { cause: error });
}

/** A name can be set to any text; what does not look like one is not shown. */
function classNameOf(error: Error): string {
  return /^[A-Z][A-Za-z]{0,40}$/.test(error.name) ? error.name : "Error";
}

/** File, line and column of where it was thrown; only what follows the error's own text is looked at. */
function placeOf(error: unknown): string {
  if (!(error instanceof Error) || error.stack === undefined) return "";
  const frames = error.stack.slice(error.stack.indexOf(error.message) + error.message.length);
  return /([\w.-]+:\d+:\d+)\)?\s*(?:\n|$)/.exec(frames)?.[1] ?? "";
}
