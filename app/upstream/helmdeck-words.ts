/** How messages call a running helmdeck, and what is said where it cannot do what ours can. */
import { HelmdeckError } from "../../engine/index.ts";
import type { ServerWords } from "../remote/engine-failures.ts";

export const A_HELMDECK: ServerWords = {
  named: "The helmdeck",
  kind: "a helmdeck",
  program: "helmdeck's control plane",
  saysWhy: "its own log says why",
};

/** `what`: after "it ", such as "keeps no history". */
export function notThere(url: string, what: string): HelmdeckError {
  return new HelmdeckError("method_not_allowed", `The helmdeck at ${url} keeps this memory, and it ${what}.`);
}
