/** One deadline and one signal around a piece of work, whether or not the work listens. */
import { HelmdeckError, isHelmdeckError, openLimits, orAborted, type Timer } from "../engine/basics.ts";
import type { CallOptions } from "./embedding-service.ts";

/**
 * Rejects with `deadline_exceeded` or `cancelled` at the very moment; the signal that the work gets fires with the same
 * error as its reason. `who` begins the sentence: "Ollama at http://…".
 */
export async function withDeadline<T>(
  { signal, deadlineMs }: CallOptions,
  timer: Timer,
  who: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limits = openLimits({
    timer,
    deadlineMs,
    tooLate: (ms) => tooLate(who, ms),
    until: [[signal, cancelled]],
  });
  try {
    limits.signal.throwIfAborted();
    return await orAborted(work(limits.signal), limits.signal);
  } finally {
    limits.release();
  }
}

/** An outer deadline of ours says by itself what happened. */
function cancelled(reason: unknown): HelmdeckError {
  if (isHelmdeckError(reason)) return reason;
  return new HelmdeckError("cancelled", "The caller no longer wants the answer.");
}

function tooLate(who: string, deadlineMs: number): HelmdeckError {
  return new HelmdeckError("deadline_exceeded", `${who} did not answer within ${deadlineMs} ms.`, {
    details: { deadlineMs },
  });
}
