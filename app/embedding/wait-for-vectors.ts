/** Waits briefly for existing vectors to be loaded. */
import type { Namespace } from "../../engine/store/namespace.ts";
import { type Timer, within } from "../../engine/timing.ts";
import type { SemanticIndex } from "../../recall/vectors/semantic-contract.ts";

/** A person waits for a command; keyword search finds what is not loaded by then. */
const PATIENCE_MS = 1_500;

export async function waitForVectors(
  semantic: SemanticIndex | undefined,
  namespace: Namespace,
  timer?: Timer,
): Promise<void> {
  if (semantic !== undefined) await within(PATIENCE_MS, semantic.settled(namespace), () => undefined, timer);
}
