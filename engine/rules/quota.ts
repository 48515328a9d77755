/** Quotas: limits what a subject may store, so that one caller cannot fill the disk for all. */
import { HelmdeckError } from "../errors.ts";
import type { Quota, Usage } from "../store/memory-store.ts";
import { type Namespace, type Subject, subjectOf } from "../store/namespace.ts";

export type { Quota };

export const DEFAULT_QUOTA: Quota = { entries: 100_000, bytes: 256 * 1_024 * 1_024 };

export function quotaOf({ own, ...usual }: Quota, subject: Subject): Usage {
  return { ...usual, ...own?.().get(subject) };
}

/**
 * To how many bytes former values are dropped after a write. A memory that was over its quota before loses no more of them than
 * the write added: a lowered quota deletes nothing.
 */
export function bytesToKeep(quota: Usage, bytesBefore: number): number {
  return Math.max(quota.bytes, bytesBefore);
}

/**
 * Throws `quota_exceeded` when the subject of the last write is over its quota. Call it in the write transaction, which is then
 * rolled back. `notes`: entries that a memory makes of itself, which take nothing.
 */
export function requireWithin(
  { entries, bytes }: Usage,
  quota: Usage,
  namespace: Namespace,
  notes = 0,
): void {
  if (entries - notes > quota.entries) throw exceeded(`${quota.entries} entries`, subjectOf(namespace));
  if (bytes > quota.bytes) throw exceeded(`${sizeText(quota.bytes)} of values`, subjectOf(namespace));
}

function sizeText(bytes: number): string {
  return bytes % 1_048_576 === 0 ? `${bytes / 1_048_576} MiB` : `${bytes} bytes`;
}

function exceeded(limit: string, subject: string): HelmdeckError {
  return new HelmdeckError(
    "quota_exceeded",
    `The memory of ${JSON.stringify(subject)} is full: it may hold ${limit}. Forget facts that are no longer ` +
      "needed, or ask the operator to raise HELMDECK_MEMORY_MAX_ENTRIES or HELMDECK_MEMORY_MAX_MIB, or this caller's limits.",
    { details: { subject, limit }, unchanged: "Nothing was written." },
  );
}
