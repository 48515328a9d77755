/** Quotas: limits what a subject may store, so that one caller cannot fill the disk for all. */
import { HelmdeckError } from "../errors.ts";
import type { Usage } from "../store/memory-store.ts";
import { type Namespace, subjectOf } from "../store/namespace.ts";

export interface Quota {
  readonly entries: number;
  /** Of sealed values, including former ones. */
  readonly bytes: number;
}

export const DEFAULT_QUOTA: Quota = { entries: 100_000, bytes: 256 * 1_024 * 1_024 };

/**
 * Throws `quota_exceeded` when the subject of the last write is over its quota. Call it in the write transaction, which is then
 * rolled back.
 */
export function requireWithin({ entries, bytes }: Usage, quota: Quota, namespace: Namespace): void {
  if (entries > quota.entries) throw exceeded(`${quota.entries} entries`, subjectOf(namespace));
  if (bytes > quota.bytes)
    throw exceeded(`${Math.floor(quota.bytes / 1_048_576)} MiB of values`, subjectOf(namespace));
}

function exceeded(limit: string, subject: string): HelmdeckError {
  return new HelmdeckError(
    "quota_exceeded",
    `The memory of ${JSON.stringify(subject)} is full: it may hold ${limit}. Forget facts that are no longer ` +
      "needed, or ask the operator to raise HELMDECK_MEMORY_MAX_ENTRIES or HELMDECK_MEMORY_MAX_MIB.",
    { details: { subject, limit }, unchanged: "Nothing was written." },
  );
}
