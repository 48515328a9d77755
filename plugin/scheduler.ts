/**
 * Shares the gateway's scheduled jobs with every copy of the plugin in the process.
 *
 * OpenClaw gives its scheduler to the service only, and asks another copy of this module about a run (decision 14). Both use
 * one process-wide symbol, as they do for the open memory.
 */
import type { ServiceContext } from "./openclaw-api.ts";

type GetScheduler = NonNullable<ServiceContext["getCron"]>;

/** Changes with the stored type, because another version's copy may still be loaded. */
const REGISTRY = Symbol.for("helmdeck-memory/scheduler/1");

/** Makes the scheduler available to all copies until the returned function is called. */
export function lendScheduler(getScheduler: GetScheduler): () => void {
  Reflect.set(globalThis, REGISTRY, getScheduler);
  return () => {
    if (Reflect.get(globalThis, REGISTRY) === getScheduler) Reflect.deleteProperty(globalThis, REGISTRY);
  };
}

/** All current jobs, or undefined if no scheduler is available. Fields beyond a job's public type are unchecked. */
export async function scheduledJobs(): Promise<readonly unknown[] | undefined> {
  // Only lendScheduler, in this or another copy of the module, writes under this symbol.
  const getScheduler = Reflect.get(globalThis, REGISTRY) as GetScheduler | undefined;
  return getScheduler?.()?.list({ includeDisabled: true });
}
