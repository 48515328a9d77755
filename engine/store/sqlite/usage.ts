/** A subject's usage, as counted by the database. */
import type { EntryRef, Usage } from "../memory-store.ts";
import { type Namespace, ownerOf } from "../namespace.ts";
import { type Quota, requireWithin } from "../quota.ts";
import type { SqliteSession } from "./sqlite-session.ts";

/** For values that are kept only while there is room. */
export function isOverQuota(session: SqliteSession, ref: EntryRef, quota: Quota): boolean {
  return usageOf(session, ref.namespace).bytes > quota.bytes;
}

/** Call it in the write transaction that increased it. */
export function requireQuota(session: SqliteSession, { namespace }: EntryRef, quota: Quota): void {
  requireWithin(usageOf(session, namespace), quota, namespace);
}

/** The usage of the subject of this namespace or session namespace. */
export function usageOf(session: SqliteSession, namespace: Namespace): Usage {
  const owner = ownerOf(namespace);
  const used = session.statement("SELECT entries, bytes FROM usage WHERE owner = ?").get(owner);
  return { entries: Number(used?.entries ?? 0), bytes: Number(used?.bytes ?? 0) };
}
