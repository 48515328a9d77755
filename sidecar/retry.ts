/** Retries temporary failures after a random pause, so that many clients do not retry together. */
import { pauseAfter, retryAfterMsOf, sleep, type Timer } from "../engine/timing.ts";
import { isPassing } from "./service-failures.ts";

const ATTEMPTS = 3;
/** Full jitter: the first pause is random up to this, each later one up to twice the previous limit. */
const PAUSES = { firstMs: 250, longestMs: 500 };

export interface RetryOptions {
  readonly timer: Timer;
  /** From 0 up to, but not including, 1. */
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** Waits at least for the service's `Retry-After`, plus the jitter. */
export async function withRetry<T>(options: RetryOptions, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !isPassing(error)) throw error;
      const jitterMs = options.random() * pauseAfter(attempt, PAUSES);
      await sleep(options.timer, retryAfterMsOf(error) + jitterMs, options.signal);
    }
  }
}
