/** Messages about a running helmdeck, and about features that it lacks. */
import { HelmdeckError } from "../../../engine/errors.ts";
import type { ServerWords } from "../engine/engine-failures.ts";

export const A_HELMDECK: ServerWords = {
  named: "The helmdeck",
  kind: "a helmdeck",
  program: "helmdeck's control plane",
  saysWhy: "see its log",
};

/** `what`: follows "it ", such as "keeps no history". */
export function notThere(url: string, what: string): HelmdeckError {
  return new HelmdeckError("method_not_allowed", `The helmdeck at ${url} keeps this memory, and it ${what}.`);
}
