/** Clocks, timers, deadlines and the pauses between attempts; passed in where they matter, so that a test turns the clock itself. */
import { type HelmdeckError, isHelmdeckError } from "./errors.ts";

/** Calls back once after so many milliseconds; the answer cancels it. */
export type Timer = (callback: () => void, delayMs: number) => () => void;

export interface Clock {
  /** Monotonic milliseconds; only differences count. */
  now(): number;
  readonly timer: Timer;
}

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

export const systemClock: Clock = { now: () => performance.now(), timer: processTimer };

/** Lets everything else that waits in the event loop run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Rejects with the signal's reason as soon as the signal fires. */
export function sleep(timer: Timer, delayMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  return orAborted(promise, signal).finally(timer(resolve, delayMs));
}

/** The work's end; or, when that takes longer, what `late` returns or throws. The work then goes on unwatched. */
export async function within<T, Late>(
  limitMs: number,
  work: Promise<T>,
  late: () => Late,
  timer: Timer = processTimer,
): Promise<T | Late> {
  const { promise: limit, resolve } = Promise.withResolvers<void>();
  const cancel = timer(resolve, limitMs);
  try {
    return await Promise.race([work, limit.then(late)]);
  } finally {
    cancel();
  }
}

/** What can end a piece of work early; `signal.reason` is always one of our own errors. */
export interface Limits {
  readonly signal: AbortSignal;
  /** Ends the work for this reason; only the first one counts. */
  abort(reason: HelmdeckError): void;
  /** Lets go of the timer and of the signals listened to. */
  release(): void;
}

export interface LimitsOptions {
  readonly timer: Timer;
  /** Default: none. */
  readonly deadlineMs?: number | undefined;
  readonly tooLate: (deadlineMs: number) => HelmdeckError;
  /** Other signals that end the work, each with the error that it then ends with. */
  readonly until?: readonly (readonly [
    signal: AbortSignal | undefined,
    error: (reason: unknown) => HelmdeckError,
  ])[];
}

export function openLimits({ timer, deadlineMs, tooLate, until = [] }: LimitsOptions): Limits {
  const controller = new AbortController();
  const abort = (reason: HelmdeckError): void => controller.abort(reason);
  const undo = until.map(([signal, error]) => onAbort(signal, () => abort(error(signal?.reason))));
  if (deadlineMs !== undefined) undo.push(timer(() => abort(tooLate(deadlineMs)), deadlineMs));
  return {
    signal: controller.signal,
    abort,
    release: () => {
      for (const undoOne of undo) undoOne();
    },
  };
}

/** Calls back when the signal fires, or at once when it has; the answer stops listening. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal?.aborted) callback();
  else signal?.addEventListener("abort", callback, { once: true });
  return () => signal?.removeEventListener("abort", callback);
}

/** The work's end, or the signal's reason as soon as it fires, or after the grace; the work then goes on unwatched. */
export function orAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  grace?: { readonly timer: Timer; readonly graceMs: number },
): Promise<T> {
  return new Promise((resolve, reject) => {
    let stopWaiting = (): void => {};
    const stopListening = onAbort(signal, () => {
      const leave = (): void => reject(signal.reason);
      if (grace === undefined) leave();
      else stopWaiting = grace.timer(leave, grace.graceMs);
    });
    const settle = (): void => {
      stopListening();
      stopWaiting();
    };
    work.then(resolve, reject).finally(settle);
  });
}

/** Pauses between attempts: each twice as long as the one before, up to the longest. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The pause after so many failures in a row, the first of which counts 1. */
export function pauseAfter(failures: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(longestMs, firstMs * 2 ** (failures - 1));
}

/** How long the one who failed asks to be left alone. */
export function retryAfterMsOf(error: unknown): number {
  const askedFor = isHelmdeckError(error) ? error.details.retryAfterMs : undefined;
  return typeof askedFor === "number" ? askedFor : 0;
}
