/** Tracks superseded facts, so that an older export does not bring them back. */
import type { MemoryStore, NewEntry, UnixMs } from "../../engine/store/memory-store.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import { formerKeys } from "../history.ts";

/** For each key that is no longer in use. */
export type RetiredKeys = ReadonlyMap<string, RetiredKey>;

interface RetiredKey {
  /** When the last value was written. */
  readonly updatedAt: UnixMs;
  /** The fact that has it in its history. */
  readonly of: string;
}

export async function readRetiredKeys(store: MemoryStore, namespace: Namespace): Promise<RetiredKeys> {
  const retired = new Map<string, RetiredKey>();
  for await (const { key, updatedAt, of } of formerKeys(store, namespace)) {
    const isLast = updatedAt >= (retired.get(key)?.updatedAt ?? 0);
    if (key !== of.key && isLast) retired.set(key, { updatedAt, of: of.key });
  }
  for (const key of retired.keys()) {
    if ((await store.countWhere({ namespace, origins: ["fact"], key })) > 0) retired.delete(key);
  }
  return retired;
}

/** A line without a time counts as new. A note without a time counts as written at its import: its file is the same each time. */
export function isRetired(
  retired: RetiredKeys,
  { origin, key, updatedAt }: NewEntry,
  isNote = false,
): boolean {
  const last = retired.get(key)?.updatedAt;
  if (origin !== "fact" || last === undefined) return false;
  return updatedAt === undefined ? isNote : updatedAt <= last;
}
