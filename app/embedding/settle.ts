/** Waiting, but not long, for the vectors that are there to be in memory. */
import { type Namespace, type Timer, within } from "../../engine/index.ts";
import type { SemanticIndex } from "../../recall/index.ts";

/** A command is waited for by a person; what is not read by then, words find. */
const PATIENCE_MS = 1_500;

export async function settleWithin(
  semantic: SemanticIndex | undefined,
  namespace: Namespace,
  timer?: Timer,
): Promise<void> {
  if (semantic !== undefined) await within(PATIENCE_MS, semantic.settled(namespace), () => undefined, timer);
}
