/** A subject's usage, as counted by the database. */
import type { SubjectUsage, Usage } from "../memory-store.ts";
import { type Namespace, ownerOf } from "../namespace.ts";
import type { SqliteSession } from "./sqlite-session.ts";

/** The usage of the subject of this namespace or session namespace. */
export function usageOf(session: SqliteSession, namespace: Namespace): Usage {
  const owner = ownerOf(namespace);
  const used = session.statement("SELECT entries, bytes FROM usage WHERE owner = ?").get(owner);
  return { entries: Number(used?.entries ?? 0), bytes: Number(used?.bytes ?? 0) };
}

export function subjectsAfter(session: SqliteSession, after: Namespace | undefined, limit: number) {
  const sql = "SELECT owner, entries, bytes FROM usage WHERE owner > ? ORDER BY owner LIMIT ?";
  const rows = session.statement(sql).all(after ?? "", limit);
  return rows.map(({ owner, entries, bytes }): SubjectUsage => {
    const namespace = `${owner}` as Namespace; // always written as a namespace
    return { namespace, entries: Number(entries), bytes: Number(bytes) };
  });
}
