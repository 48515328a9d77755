/** Our own deadline on work that the host would wait 30 seconds for. */
import { HelmdeckError } from "../app/index.ts";

/** The result, or `deadline_exceeded` after so many milliseconds. The work itself goes on; its late end is ignored. */
export function within<T>(deadlineMs: number, work: Promise<T>): Promise<T> {
  return startDeadline(deadlineMs)(work);
}

/** One deadline for several steps: each has what is left of it when it begins. */
export function startDeadline(deadlineMs: number): <T>(work: Promise<T>) => Promise<T> {
  const endsAt = performance.now() + deadlineMs;
  return (work) => race(work, endsAt - performance.now(), deadlineMs);
}

async function race<T>(work: Promise<T>, leftMs: number, deadlineMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const alarm = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooLate(deadlineMs)), Math.max(0, leftMs));
  });
  try {
    return await Promise.race([work, alarm]);
  } finally {
    clearTimeout(timer);
  }
}

function tooLate(deadlineMs: number): HelmdeckError {
  const seconds = deadlineMs / 1_000;
  return new HelmdeckError("deadline_exceeded", `Memory did not answer within ${seconds} s; try again.`, {
    details: { deadlineMs },
  });
}
