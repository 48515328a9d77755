/** Applies one deadline and one signal to a piece of work, whether or not the work observes them. */
import { HelmdeckError, isHelmdeckError } from "../engine/errors.ts";
import { openLimits, orAborted, type Timer } from "../engine/timing.ts";
import type { CallOptions } from "./embedding-service.ts";

/**
 * Rejects with `deadline_exceeded` or `cancelled` at that moment; the work's signal fires with the same error as its reason.
 * `who` starts the message: "Ollama at http://…".
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

/** An outer deadline's error already explains itself. */
function cancelled(reason: unknown): HelmdeckError {
  if (isHelmdeckError(reason)) return reason;
  return new HelmdeckError("cancelled", "The caller cancelled the request.");
}

function tooLate(who: string, deadlineMs: number): HelmdeckError {
  return new HelmdeckError("deadline_exceeded", `${who} did not answer within ${deadlineMs} ms.`, {
    details: { deadlineMs },
  });
}
