/** The error for a missing fact. It does not repeat the key, because messages end up in logs. */
import { HelmdeckError } from "../engine/errors.ts";
import type { CommandContext } from "./command-line.ts";

export function missingFact({ options: { caller }, line }: CommandContext): HelmdeckError {
  const message = `There is no fact with this key in the memory of ${caller}. Keys must match exactly, including case: ${line.name} list shows them, search finds facts by words.`;
  return new HelmdeckError("not_found", message, { details: { caller } });
}
