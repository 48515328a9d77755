/** The gateway's service: opens memory when the gateway starts, so that trouble shows at once and the first search is quick. */
import { HelmdeckError, type Memory } from "../app/index.ts";
import { within } from "./deadline.ts";
import { logLineOf } from "./failure.ts";
import type { Logger, Service, ServiceContext } from "./host.ts";
import type { MemoryAccess } from "./memory-access.ts";

/** The gateway's start waits for this. */
export const START_DEADLINE_MS = 5_000;

export interface ServiceParts {
  readonly access: MemoryAccess;
  readonly log: Logger;
  /** Whose memories to index ahead of the first question. */
  readonly subjects: () => readonly string[];
  readonly deadlineMs?: number;
}

/**
 * Start never throws: a memory that does not open is reported as the service's failure, and OpenClaw goes on without it.
 * The host may start and stop one object several times.
 */
export function makeService(parts: ServiceParts): Service {
  return {
    id: "helmdeck-memory",
    async start(context) {
      try {
        const memory = await openWorking(parts);
        context.serviceHealth?.clearFailure();
        warmInBackground(memory, parts);
      } catch (error) {
        report(context, parts.log, error);
      }
    },
    async stop() {
      await parts.access
        .close()
        .catch((error: unknown) => parts.log.warn(`helmdeck memory: ${logLineOf(error)}`));
    },
  };
}

async function openWorking(parts: ServiceParts): Promise<Memory> {
  const opened = parts.access.open().then(async (memory) => ({ memory, status: await memory.status() }));
  const { memory, status } = await within(parts.deadlineMs ?? START_DEADLINE_MS, opened);
  if (status.error) throw new HelmdeckError(status.error.code, status.error.message);
  return memory;
}

function report(context: ServiceContext, log: Logger, error: unknown): void {
  log.error(`helmdeck memory is off: ${logLineOf(error)}`);
  // The line, not the error itself: its cause may hold more than belongs into a health report.
  context.serviceHealth?.reportFailure(new Error(logLineOf(error)));
}

function warmInBackground(memory: Memory, parts: ServiceParts): void {
  const warming = parts.subjects().map((subject) => memory.warm(subject));
  Promise.all(warming).catch((error: unknown) =>
    parts.log.debug?.(`helmdeck memory: not warmed up: ${logLineOf(error)}`),
  );
}
