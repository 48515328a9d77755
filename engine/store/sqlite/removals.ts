/** Removes rows, and records removals for the change feed. */
import { pruneTarget } from "../cursors.ts";
import type { Condition } from "./conditions.ts";
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

/** Drops old removals once there are many. */
function pruneRemovals(session: SqliteSession, lastSeq: number, keep: number): void {
  const oldest = session.statement("SELECT min(seq) AS seq FROM removals").get()?.seq;
  const target = pruneTarget(lastSeq, typeof oldest === "number" ? oldest : undefined, keep);
  if (target === undefined) return;
  session.statement("DELETE FROM removals WHERE seq <= ?").run(target);
  session.statement("UPDATE store SET pruned_through = ?, prunes = prunes + 1").run(target);
}
