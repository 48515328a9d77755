/** Clocks, timers, deadlines and back-off. They are passed in, so that a test controls the time. */
import { type HelmdeckError, isHelmdeckError } from "./errors.ts";

/** Calls back once after this many milliseconds; the returned function cancels it. */
export type Timer = (callback: () => void, delayMs: number) => () => void;

export interface Clock {
  /** Monotonic milliseconds; only differences are meaningful. */
  now(): number;
  readonly timer: Timer;
}

/** Keeps the process alive until it fires or is cancelled: for deadlines that somebody waits for. */
export const processTimer: Timer = (callback, delayMs) => {
  const timeout = setTimeout(callback, Math.max(delayMs, 0));
  return () => clearTimeout(timeout);
};

/** Never keeps the process alive: for background work. */
export const backgroundTimer: Timer = (callback, delayMs) => {
  const timeout = setTimeout(callback, Math.max(delayMs, 0));
  timeout.unref();
  return () => clearTimeout(timeout);
};

export const systemClock: Clock = { now: () => performance.now(), timer: processTimer };

/** Yields to the event loop once. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The longest stretch of work before it yields to the event loop, in milliseconds. */
const SLICE_MS = 4;

/** For long work: called after each step, the returned function yields once a slice is over. */
export function makeSlices(): () => Promise<void> | undefined {
  let begun = performance.now();
  const yieldOnce = async () => {
    await nextTurn();
    begun = performance.now();
  };
  return () => (performance.now() - begun < SLICE_MS ? undefined : yieldOnce());
}

/** Rejects with the signal's reason as soon as the signal fires. */
export function sleep(timer: Timer, delayMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  return orAborted(promise, signal).finally(timer(resolve, delayMs));
}

/** The result of the work or, when it takes longer, what `late` returns or throws. The work then continues unobserved. */
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

/** Whatever can end a piece of work early; `signal.reason` is always a HelmdeckError. */
export interface Limits {
  readonly signal: AbortSignal;
  /** Ends the work for this reason; only the first call counts. */
  abort(reason: HelmdeckError): void;
  /** Releases the timer and the listeners. */
  release(): void;
}

export interface LimitsOptions {
  readonly timer: Timer;
  /** Default: none. */
  readonly deadlineMs?: number | undefined;
  readonly tooLate: (deadlineMs: number) => HelmdeckError;
  /** Other signals that end the work, each with the error to end it with. */
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

/** Calls back when the signal fires, or at once if it already has; the returned function stops listening. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal?.aborted) callback();
  else signal?.addEventListener("abort", callback, { once: true });
  return () => signal?.removeEventListener("abort", callback);
}

/**
 * The result of the work, or the signal's reason once it fires and the grace period has passed; the work then continues
 * unobserved.
 */
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

/** Exponential back-off: each pause is twice the one before, up to a maximum. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The pause after this many consecutive failures, at least 1. */
export function pauseAfter(failures: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(longestMs, firstMs * 2 ** (failures - 1));
}

/** How long the failed service asks to wait, in milliseconds. */
export function retryAfterMsOf(error: unknown): number {
  const askedFor = isHelmdeckError(error) ? error.details.retryAfterMs : undefined;
  return typeof askedFor === "number" ? askedFor : 0;
}
