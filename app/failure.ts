/** Every failure as our own error, so that no text of an unforeseen one travels. */
import { HelmdeckError } from "../engine/index.ts";

/** Any other error is a defect of ours; its text could hold a value, so only its name is shown. */
export function asHelmdeckError(error: unknown): HelmdeckError {
  if (error instanceof HelmdeckError) return error;
  const name = error instanceof Error ? error.name : typeof error;
  return new HelmdeckError(
    "internal",
    `Something failed in a way that was not foreseen (${name}). Please report it.`,
    {
      cause: error,
    },
  );
}
