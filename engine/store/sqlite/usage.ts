/** How much a subject keeps, as the database counts it. */
import type { EntryRef, Usage } from "../memory-store.ts";
import { type Namespace, ownerOf } from "../namespace.ts";
import { type Quota, requireWithin } from "../quota.ts";
import type { SqliteSession } from "./sqlite-session.ts";

/** Of values that are kept only as long as there is room. */
export function isOverQuota(session: SqliteSession, ref: EntryRef, quota: Quota): boolean {
  return usageOf(session, ref.namespace).bytes > quota.bytes;
}

/** To be called in the write transaction that made it more. */
export function requireQuota(session: SqliteSession, { namespace }: EntryRef, quota: Quota): void {
  requireWithin(usageOf(session, namespace), quota, namespace);
}

/** What the subject has whose namespace, or whose session's, this is. */
export function usageOf(session: SqliteSession, namespace: Namespace): Usage {
  const owner = ownerOf(namespace);
  const used = session.statement("SELECT entries, bytes FROM usage WHERE owner = ?").get(owner);
  return { entries: Number(used?.entries ?? 0), bytes: Number(used?.bytes ?? 0) };
}
