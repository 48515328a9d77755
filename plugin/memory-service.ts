/** The gateway's service: opens memory at start, so that problems show at once and the first search is fast. */

import type { Memory } from "../app/memory.ts";
import { HelmdeckError } from "../engine/errors.ts";
import type { MemoryAccess } from "./memory-access.ts";
import type { Logger, Service, ServiceContext } from "./openclaw-api.ts";
import { logLineOf } from "./plugin-failure.ts";
import { lendScheduler } from "./scheduler.ts";
import { withinDeadline } from "./within-deadline.ts";

/** A memory that opens later is reported as off until the next check. */
const START_DEADLINE_MS = 3_000;

/** Interval of the checks that let the gateway's health show failures and recoveries. */
export const RECHECK_MS = 30_000;

export interface ServiceParts {
  readonly access: MemoryAccess;
  readonly log: Logger;
  /** The subjects to index before the first question. */
  readonly subjects: () => readonly string[];
  readonly deadlineMs?: number;
}

/**
 * `start` never throws: if memory does not open, the service reports the failure and OpenClaw runs without memory. The host
 * may start and stop one service several times.
 */
export function makeService(parts: ServiceParts): Service {
  let running: ServiceContext | undefined;
  let recheck: NodeJS.Timeout | undefined;
  let reported: string | undefined;
  let takeBackScheduler: (() => void) | undefined;
  let isWarm = false;

  async function look(context: ServiceContext): Promise<void> {
    const failure = await failureOfOpening(parts, isWarm);
    if (running !== context) return; // stopped or restarted while memory was opening
    isWarm = failure === undefined;
    report(context, failure);
    recheck = setTimeout(() => void look(context), RECHECK_MS).unref();
  }

  function report({ serviceHealth }: ServiceContext, failure: string | undefined): void {
    if (failure !== undefined && failure !== reported) parts.log.error(`helmdeck memory is off: ${failure}`);
    reported = failure;
    try {
      if (failure === undefined) serviceHealth?.clearFailure();
      // The line, not the error itself: its cause may hold more than belongs into a health report.
      else serviceHealth?.reportFailure(new Error(failure));
    } catch {
      // The host does not take it now. The next check reports again.
    }
  }

  return {
    id: "helmdeck-memory",
    start(context) {
      clearTimeout(recheck);
      takeBackScheduler = context.getCron && lendScheduler(context.getCron);
      running = context;
      reported = undefined;
      isWarm = false;
      return look(context);
    },
    async stop() {
      running = undefined;
      clearTimeout(recheck);
      takeBackScheduler?.();
      await parts.access
        .close()
        .catch((error: unknown) => parts.log.warn(`helmdeck memory: ${logLineOf(error)}`));
    },
  };
}

/** Opens memory, and warms it up unless it is warm. The result is one line about the failure, if any. */
async function failureOfOpening(parts: ServiceParts, isWarm: boolean): Promise<string | undefined> {
  try {
    const memory = await openWorking(parts);
    if (!isWarm) warmInBackground(memory, parts);
    return undefined;
  } catch (error) {
    return logLineOf(error);
  }
}

async function openWorking(parts: ServiceParts): Promise<Memory> {
  const opened = parts.access.open().then(async (memory) => ({ memory, status: await memory.status() }));
  const { memory, status } = await withinDeadline(parts.deadlineMs ?? START_DEADLINE_MS, opened);
  if (status.error) throw new HelmdeckError(status.error.code, status.error.message);
  return memory;
}

function warmInBackground(memory: Memory, parts: ServiceParts): void {
  const warming = parts.subjects().map((subject) => memory.warm(subject));
  Promise.all(warming).catch((error: unknown) =>
    parts.log.debug?.(`helmdeck memory: not warmed up: ${logLineOf(error)}`),
  );
}
