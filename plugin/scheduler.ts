/**
 * The gateway's scheduled jobs, for every copy of the plugin in the process.
 *
 * OpenClaw hands its scheduler to the service alone, and asks another copy of this module about a run (decision 14). The two
 * meet in one place that hangs on the process, as they do for the open memory.
 */
import type { ServiceContext } from "./openclaw-api.ts";

type GetScheduler = NonNullable<ServiceContext["getCron"]>;

/** Changes with the type of what stands under it, since another version's copy may still be there. */
const REGISTRY = Symbol.for("helmdeck-memory/scheduler/1");

/** Lends the scheduler to all copies until the returned function is called. */
export function lendScheduler(getScheduler: GetScheduler): () => void {
  Reflect.set(globalThis, REGISTRY, getScheduler);
  return () => {
    if (Reflect.get(globalThis, REGISTRY) === getScheduler) Reflect.deleteProperty(globalThis, REGISTRY);
  };
}

/** All jobs as they are now, or undefined where no scheduler is lent. What a job holds beyond its public type is unchecked. */
export async function scheduledJobs(): Promise<readonly unknown[] | undefined> {
  // Whatever stands under this symbol was put there by lendScheduler, in this or another copy of the module.
  const getScheduler = Reflect.get(globalThis, REGISTRY) as GetScheduler | undefined;
  return getScheduler?.()?.list({ includeDisabled: true });
}
