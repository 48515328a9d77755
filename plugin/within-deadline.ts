/** Our own deadline on work that the host would wait 30 seconds for. */
import { HelmdeckError, systemClock, within } from "../app/index.ts";

/** The result, or `deadline_exceeded` after so many milliseconds. The work itself goes on; its late end is ignored. */
export function withinDeadline<T>(deadlineMs: number, work: Promise<T>): Promise<T> {
  return startDeadline(deadlineMs)(work);
}

/** One deadline for several steps: each has what is left of it when it begins. */
export function startDeadline(deadlineMs: number): <T>(work: Promise<T>) => Promise<T> {
  const endsAt = systemClock.now() + deadlineMs;
  const tooLate = (): never => {
    throw new HelmdeckError(
      "deadline_exceeded",
      `Memory did not answer within ${deadlineMs / 1_000} s; try again.`,
      {
        details: { deadlineMs },
      },
    );
  };
  return (work) => within(Math.max(0, endsAt - systemClock.now()), work, tooLate);
}
