/** Limits of a run: it ends when its caller disconnects, its deadline passes, or the engine closes. */
import { HelmdeckError } from "../../engine/errors.ts";
import { type Limits, openLimits, type Timer } from "../../engine/timing.ts";

export interface RunLimitsOptions {
  readonly pack: string;
  readonly deadlineMs: number;
  readonly timer: Timer;
  /** Fires when the engine stops waiting. */
  readonly closing: AbortSignal;
  /** Fires when the caller cancels or leaves. */
  readonly caller?: AbortSignal | undefined;
}

export function openRunLimits({ pack, deadlineMs, timer, closing, caller }: RunLimitsOptions): Limits {
  const until = [[closing, closed] as const, [caller, cancelled] as const];
  return openLimits({ timer, deadlineMs, tooLate: () => deadlineExceeded(pack, deadlineMs), until });
}

export function cancelled(): HelmdeckError {
  return new HelmdeckError("cancelled", "The run was cancelled, or its caller disconnected before it ended.");
}

/** For runs that start too late, and for those that do not end in time. */
export function closed(): HelmdeckError {
  return new HelmdeckError("cancelled", "This server is shutting down; try again when it is back.");
}

function deadlineExceeded(pack: string, deadlineMs: number): HelmdeckError {
  const message = `${pack} did not end within its deadline of ${deadlineMs} ms.`;
  return new HelmdeckError("deadline_exceeded", message, { details: { pack, deadlineMs } });
}
