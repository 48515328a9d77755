/** Tracks superseded facts, so that an older export does not bring them back. */
import type { MemoryStore, Namespace, NewEntry, UnixMs } from "../../engine/index.ts";
import { formerKeys } from "../history.ts";

/** When the last value was written, for each key that is no longer in use. */
export async function readRetiredKeys(
  store: MemoryStore,
  namespace: Namespace,
): Promise<ReadonlyMap<string, UnixMs>> {
  const retired = new Map<string, UnixMs>();
  for await (const { key, updatedAt, of } of formerKeys(store, namespace)) {
    if (key !== of.key) retired.set(key, Math.max(updatedAt, retired.get(key) ?? 0));
  }
  for (const key of retired.keys()) {
    if ((await store.countWhere({ namespace, origins: ["fact"], key })) > 0) retired.delete(key);
  }
  return retired;
}

/** A line without a time counts as new. A note without a time counts as written at its import: its file is the same each time. */
export function isRetired(
  retired: ReadonlyMap<string, UnixMs>,
  { origin, key, updatedAt }: NewEntry,
  isNote = false,
): boolean {
  const last = retired.get(key);
  if (origin !== "fact" || last === undefined) return false;
  return updatedAt === undefined ? isNote : updatedAt <= last;
}
