/** Waiting, but not long, for the vectors that are there to be in memory. */
import { type Namespace, processTimer, type Timer } from "../../engine/index.ts";
import type { SemanticIndex } from "../../recall/index.ts";

/** A command is waited for by a person; what is not read by then, words find. */
const PATIENCE_MS = 1_500;

export async function settleWithin(
  semantic: SemanticIndex | undefined,
  namespace: Namespace,
  timer: Timer = processTimer,
): Promise<void> {
  if (semantic === undefined) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const callOff = timer(resolve, PATIENCE_MS);
  await Promise.race([semantic.settled(namespace), promise]);
  callOff();
}
