/** A subject's usage, as counted by the database. */
import type { TotalUsage, Usage } from "../memory-store.ts";
import { type Namespace, ownerOf } from "../namespace.ts";
import { TOTAL_USAGE, totalUsageIn } from "../sql/total-usage.ts";
import type { SqliteSession } from "./sqlite-session.ts";

/** The usage of the subject of this namespace or session namespace. */
export function usageOf(session: SqliteSession, namespace: Namespace): Usage {
  const owner = ownerOf(namespace);
  const used = session.statement("SELECT entries, bytes FROM usage WHERE owner = ?").get(owner);
  return { entries: Number(used?.entries ?? 0), bytes: Number(used?.bytes ?? 0) };
}

export function totalUsageOf(session: SqliteSession): TotalUsage {
  return totalUsageIn(session.statement(`${TOTAL_USAGE} FROM usage`).get());
}
