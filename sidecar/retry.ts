/** Tries again what may succeed a moment later, after a random pause, so that many clients do not return together. */
import { pauseAfter, retryAfterMsOf, sleep, type Timer } from "../engine/basics.ts";
import { isPassing } from "./service-failures.ts";

const ATTEMPTS = 3;
/** The first pause is anywhere below this, each later one anywhere below twice as much ("full jitter"). */
const PAUSES = { firstMs: 250, longestMs: 500 };

export interface RetryOptions {
  readonly timer: Timer;
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
      const jitterMs = options.random() * pauseAfter(attempt, PAUSES);
      await sleep(options.timer, retryAfterMsOf(error) + jitterMs, options.signal);
    }
  }
}
