/** Every failure as our own error, so that no text of an unforeseen one travels. */
import { HelmdeckError } from "../engine/index.ts";

/** Any other error is a defect of ours; its text could hold a value, so only its name is shown. */
export function asHelmdeckError(error: unknown): HelmdeckError {
  if (error instanceof HelmdeckError) return error;
  const name = error instanceof Error ? error.name : typeof error;
  const at = placeOf(error);
  const message = `Something failed in a way that was not foreseen (${name}${at && ` at ${at}`}). Please report it.`;
  return new HelmdeckError("internal", message, { cause: error });
}

/** File, line and column of where it was thrown; only what follows the error's own text is looked at. */
function placeOf(error: unknown): string {
  if (!(error instanceof Error) || error.stack === undefined) return "";
  const frames = error.stack.slice(error.stack.indexOf(error.message) + error.message.length);
  return /([\w.-]+:\d+:\d+)\)?\s*(?:\n|$)/.exec(frames)?.[1] ?? "";
}
