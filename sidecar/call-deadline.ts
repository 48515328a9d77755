/** One deadline and one signal around a piece of work, whether or not the work listens. */
import { HelmdeckError, isHelmdeckError } from "../engine/errors.ts";
import type { Clock } from "./clock.ts";
import type { CallOptions } from "./embedding-service.ts";

/**
 * Rejects with `deadline_exceeded` or `cancelled` at the very moment; the signal that the work gets fires with the same
 * error as its reason. `who` begins the sentence: "Ollama at http://…".
 */
export async function withDeadline<T>(
  { signal, deadlineMs }: CallOptions,
  clock: Clock,
  who: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (signal?.aborted) throw reasonOf(signal);
  const controller = new AbortController();
  const onCallerAborts = () => controller.abort(signal && reasonOf(signal));
  signal?.addEventListener("abort", onCallerAborts, { once: true });
  const callOff =
    deadlineMs === undefined
      ? undefined
      : clock.schedule(deadlineMs, () => controller.abort(tooLate(who, deadlineMs)));
  try {
    return await Promise.race([rejectionOf(controller.signal), work(controller.signal)]);
  } finally {
    callOff?.();
    signal?.removeEventListener("abort", onCallerAborts);
  }
}

/** An outer deadline of ours says by itself what happened. */
function reasonOf({ reason }: AbortSignal): HelmdeckError {
  if (isHelmdeckError(reason)) return reason;
  return new HelmdeckError("cancelled", "The caller no longer wants the answer.");
}

function tooLate(who: string, deadlineMs: number): HelmdeckError {
  return new HelmdeckError("deadline_exceeded", `${who} did not answer within ${deadlineMs} ms.`, {
    details: { deadlineMs },
  });
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
