/** Waiting, passed in wherever time matters, so that a test turns the clock itself. */

/** Calls back once after so many milliseconds; the answer cancels it. */
export type Timer = (callback: () => void, delayMs: number) => () => void;

/** Keeps the process alive until it has called back or is cancelled: for deadlines somebody waits for. */
export const processTimer: Timer = (callback, delayMs) => {
  const timeout = setTimeout(callback, delayMs);
  return () => clearTimeout(timeout);
};

/** Never keeps the process alive: for work that nobody waits for. */
export const backgroundTimer: Timer = (callback, delayMs) => {
  const timeout = setTimeout(callback, delayMs);
  timeout.unref();
  return () => clearTimeout(timeout);
};
