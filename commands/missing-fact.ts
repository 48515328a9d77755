/** What is said of a fact that is not there. The key itself is not repeated: messages end up in logs. */
import { HelmdeckError } from "../app/basics.ts";
import type { CommandContext } from "./command-line.ts";

export function missingFact({ options: { caller }, line }: CommandContext): HelmdeckError {
  const message = `There is no fact with this key in the memory of ${caller}. Keys are exact, and case matters: ${line.name} list shows them, search finds them by words.`;
  return new HelmdeckError("not_found", message, { details: { caller } });
}
