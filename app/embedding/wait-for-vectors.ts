/** Waits briefly for existing vectors to be loaded. */
import { type Namespace, type Timer, within } from "../../engine/index.ts";
import type { SemanticIndex } from "../../recall/index.ts";

/** A person waits for a command; keyword search finds what is not loaded by then. */
const PATIENCE_MS = 1_500;

export async function waitForVectors(
  semantic: SemanticIndex | undefined,
  namespace: Namespace,
  timer?: Timer,
): Promise<void> {
  if (semantic !== undefined) await within(PATIENCE_MS, semantic.settled(namespace), () => undefined, timer);
}
