/** Removes rows, and records removals for the change feed. */
import { pruneTarget } from "../cursors.ts";
import type { Condition } from "./conditions.ts";
import { ownerOf } from "./schema.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import type { SqliteSession } from "./sqlite-session.ts";

/** Call it in a write transaction that allocates sequence numbers. */
export interface Removing {
  readonly session: SqliteSession;
  /** The least number of writes for which removals are remembered. */
  readonly keepRemovals: number;
}

/** Records one row that is deleted or overwritten by another entry. */
export function noteRemoval({ session, keepRemovals }: Removing, row: SqliteRow, seq: number): void {
  const { namespace = null, id = null } = row;
  session.statement("INSERT INTO removals (seq, namespace, id) VALUES (?, ?, ?)").run(seq, namespace, id);
  pruneRemovals(session, seq, keepRemovals);
}

/** Deletes `rows` rows without decrypting, and records each under a number from `firstSeq` on. */
export function removeRows(
  { session, keepRemovals }: Removing,
  where: Condition,
  { firstSeq, rows }: { readonly firstSeq: number; readonly rows: number },
): void {
  session
    .statement(
      "INSERT INTO removals (seq, namespace, id) " +
        `SELECT ? + row_number() OVER (ORDER BY seq), namespace, id FROM entries WHERE ${where.sql}`,
    )
    .run(firstSeq - 1, ...where.values);
  session.statement(`DELETE FROM entries WHERE ${where.sql}`).run(...where.values);
  pruneRemovals(session, firstSeq + rows - 1, keepRemovals);
}

const FORGOTTEN_NAME = "json_extract(filter, '$.namespace')";
/** One look-up in the index for each namespace with removals, however many these are. */
const NAMES_WITHOUT_ENTRIES = `
  WITH RECURSIVE removed (name) AS (
    SELECT min(namespace) FROM removals
    UNION ALL SELECT (SELECT min(namespace) FROM removals WHERE namespace > name) FROM removed WHERE name IS NOT NULL
  )
  SELECT name FROM (SELECT name FROM removed UNION ALL SELECT ${FORGOTTEN_NAME} FROM forgets WHERE NOT is_pending)
  WHERE ${ownerOf("name")} NOT IN (SELECT owner FROM usage)`;

/**
 * Drops what names subjects without entries: their removals, and that they were forgotten. Readers from before that start over.
 * Returns whether there was any.
 */
export function dropNames(session: SqliteSession): boolean {
  const names = session.statement(NAMES_WITHOUT_ENTRIES).all();
  const rows = ["removals WHERE namespace = ?", `forgets WHERE NOT is_pending AND ${FORGOTTEN_NAME} = ?`];
  for (const { name = null } of names)
    for (const those of rows) {
      const seq = session.statement(`SELECT max(seq) AS seq FROM ${those}`).get(name)?.seq ?? 0;
      session.statement(`DELETE FROM ${those}`).run(name);
      const pruned = "UPDATE store SET pruned_through = max(pruned_through, ?), prunes = prunes + 1";
      session.statement(pruned).run(seq);
    }
  return names.length > 0;
}

/** Drops old removals once there are many. */
function pruneRemovals(session: SqliteSession, lastSeq: number, keep: number): void {
  const oldest = session.statement("SELECT min(seq) AS seq FROM removals").get()?.seq;
  const target = pruneTarget(lastSeq, typeof oldest === "number" ? oldest : undefined, keep);
  if (target === undefined) return;
  session.statement("DELETE FROM removals WHERE seq <= ?").run(target);
  session.statement("UPDATE store SET pruned_through = ?, prunes = prunes + 1").run(target);
}
