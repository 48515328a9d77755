/** Our own deadline, shorter than the host's 30 seconds. */
import { HelmdeckError } from "../engine/errors.ts";
import { nextTurn, systemClock, within } from "../engine/timing.ts";

/** The result, or `deadline_exceeded` after `deadlineMs`. The work itself continues; a late result is ignored. */
export function withinDeadline<T>(deadlineMs: number, work: Promise<T>): Promise<T> {
  return startDeadline(deadlineMs)(work);
}

/** One deadline for several steps: each step gets the remaining time. */
export function startDeadline(deadlineMs: number): <T>(work: Promise<T>) => Promise<T> {
  const endsAt = systemClock.now() + deadlineMs;
  const tooLate = async (): Promise<never> => {
    // The host may have held this thread past the end. An answer that came meanwhile is read in this turn.
    await nextTurn();
    throw new HelmdeckError(
      "deadline_exceeded",
      `Memory did not answer within ${deadlineMs / 1_000} s. If something was to be changed, it is unknown whether it was: check before you try again.`,
      {
        details: { deadlineMs },
      },
    );
  };
  return async (work) => within(Math.max(0, endsAt - systemClock.now()), work, tooLate);
}
