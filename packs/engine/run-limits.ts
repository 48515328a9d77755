/** How long a run may go on: until its caller leaves, its deadline passes, or the engine closes. */
import { HelmdeckError, type Timer } from "../../engine/index.ts";

/** What can end a run early; `signal.reason` is always one of our own errors. */
export interface RunLimits {
  readonly signal: AbortSignal;
  /** Ends the run for this reason; only the first one counts. */
  abort(reason: HelmdeckError): void;
  /** Lets go of the timer and of the signals listened to. */
  release(): void;
}

export interface RunLimitsOptions {
  readonly pack: string;
  readonly deadlineMs: number;
  readonly timer: Timer;
  /** Fires when the engine waits no longer. */
  readonly closing: AbortSignal;
  /** Fires when the caller cancels or leaves. */
  readonly caller?: AbortSignal | undefined;
}

export function openLimits({ pack, deadlineMs, timer, closing, caller }: RunLimitsOptions): RunLimits {
  const controller = new AbortController();
  const abort = (reason: HelmdeckError): void => controller.abort(reason);
  const undo = [
    timer(() => abort(deadlineExceeded(pack, deadlineMs)), deadlineMs),
    onAbort(closing, () => abort(closed())),
    caller === undefined ? () => {} : onAbort(caller, () => abort(cancelled())),
  ];
  return {
    signal: controller.signal,
    abort,
    release: () => {
      for (const undoOne of undo) undoOne();
    },
  };
}

/** The work's end, or the signal's reason as soon as it fires; the work then goes on unwatched. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return orLeft(work, signal, (leave) => {
    leave();
    return () => {};
  });
}

/** As {@link orAborted}, but the work gets so much time after the signal to end by itself. */
export function orAbandoned<T>(
  work: Promise<T>,
  signal: AbortSignal,
  timer: Timer,
  graceMs: number,
): Promise<T> {
  return orLeft(work, signal, (leave) => timer(leave, graceMs));
}

/** Calls back when the signal fires, or at once when it has; the answer stops listening. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) callback();
  else signal.addEventListener("abort", callback, { once: true });
  return () => signal.removeEventListener("abort", callback);
}

export function cancelled(): HelmdeckError {
  return new HelmdeckError("cancelled", "The run was cancelled, or its caller went away before it ended.");
}

/** For runs that come too late, and for those that did not end in time. */
export function closed(): HelmdeckError {
  return new HelmdeckError("cancelled", "This server is shutting down; try again when it is back.");
}

function deadlineExceeded(pack: string, deadlineMs: number): HelmdeckError {
  const message = `${pack} did not end within its deadline of ${deadlineMs} ms.`;
  return new HelmdeckError("deadline_exceeded", message, { details: { pack, deadlineMs } });
}

function orLeft<T>(
  work: Promise<T>,
  signal: AbortSignal,
  whenAborted: (leave: () => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let stopWaiting = (): void => {};
    const stopListening = onAbort(signal, () => {
      stopWaiting = whenAborted(() => reject(signal.reason));
    });
    const settle = (): void => {
      stopListening();
      stopWaiting();
    };
    work.then(resolve, reject).finally(settle);
  });
}
