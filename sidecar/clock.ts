/** Time as this room uses it, passed in so that tests need not wait. */

export interface Clock {
  /** Milliseconds; only differences count. */
  now(): number;
  /** Runs the action once, after the delay; the answer calls it off. */
  schedule(delayMs: number, action: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  schedule: (delayMs, action) => {
    const timer = setTimeout(action, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Rejects with the signal's reason as soon as the signal fires. */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const callOff = clock.schedule(delayMs, () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    const onAbort = () => {
      callOff();
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
