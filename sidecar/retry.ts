/** Tries again what may succeed a moment later, after a random pause, so that many clients do not return together. */
import { isHelmdeckError } from "../engine/errors.ts";
import { type Clock, sleep } from "./clock.ts";
import { isPassing } from "./service-failures.ts";

const ATTEMPTS = 3;
/** The first pause is anywhere below this, each later one anywhere below twice as much ("full jitter"). */
const FIRST_PAUSE_MS = 250;

export interface RetryOptions {
  readonly clock: Clock;
  /** 0 up to, but not including, 1. */
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** The service's `Retry-After` is waited for at least; the jitter comes on top. */
export async function withRetry<T>(options: RetryOptions, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !isPassing(error)) throw error;
      await sleep(options.clock, pauseAfter(attempt, error, options.random), options.signal);
    }
  }
}

function pauseAfter(attempt: number, error: unknown, random: () => number): number {
  const askedFor = isHelmdeckError(error) ? error.details.retryAfterMs : undefined;
  return (typeof askedFor === "number" ? askedFor : 0) + random() * FIRST_PAUSE_MS * 2 ** (attempt - 1);
}
