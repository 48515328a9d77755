/** The change feed, over the sequence numbers of rows and removals. */

import type { Beginnings } from "../beginnings.ts";
import { encodeChangeCursor, historySince, openChanges, resumeFrom } from "../cursors.ts";
import { changesLimitOf } from "../entry-rules.ts";
import { ALL_COLUMNS } from "../fields.ts";
import type { Changes, ChangesQuery, UnixMs } from "../memory-store.ts";
import type { Namespace } from "../namespace.ts";
import type { Sealer } from "../sealing.ts";
import { all } from "../sql/conditions.ts";
import { type Condition, namespaceCondition, sparedCondition } from "./conditions.ts";
import { forgottenThrough, pendingForgets } from "./forgets.ts";
import { orOneByOne, readEach, TIME_INDEX_COLUMNS } from "./salvage.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import { readHistory } from "./store-row.ts";

/** The changes since a cursor; call it in a read transaction. */
export function readChanges(
  session: SqliteSession,
  sealer: Sealer,
  query: ChangesQuery,
  { now, beginnings }: { readonly now: UnixMs; readonly beginnings: Beginnings },
): Changes {
  const limit = changesLimitOf(query);
  const kept = readHistory(session);
  const begun = beginnings.at(now, kept.lastSeq, (after, until) => expiresBetween(session, after, until));
  const forgotten = forgottenThrough(session, query.namespace);
  const prunedThrough = Math.max(kept.prunedThrough, forgotten);
  const history = historySince({ ...kept, prunedThrough }, begun);
  const since = resumeFrom(history, query.since);
  if (since === undefined) return { kind: "start_over" };
  const owner = namespaceCondition(query.namespace);
  const spared = sparedCondition(pendingForgets(session));
  const page = (columns: string, table: string, { sql, values }: Condition): readonly SqliteRow[] =>
    session
      .statement(`SELECT ${columns} FROM ${table} WHERE ${sql} AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`)
      .all(...values, since, history.lastSeq, limit + 1);
  const upserts = orOneByOne(
    () => page(ALL_COLUMNS, "entries", all([owner, spared])),
    () =>
      readEach(session, page(TIME_INDEX_COLUMNS, "entries INDEXED BY entries_by_time", all([owner, spared]))),
  );
  const removals = page("seq, id", "removals", owner);
  const rows = [...upserts, ...removals].sort((a, b) => seqOf(a) - seqOf(b)).slice(0, limit);
  const more = upserts.length + removals.length > limit;
  const last = rows.at(-1);
  const cursor = encodeChangeCursor(history, more && last !== undefined ? seqOf(last) : history.lastSeq);
  return { kind: "changes", ...openChanges(rows, sealer, now), cursor, more };
}

/** The namespace's last number. Pruned removals had numbers too, so pruning must not lower it. */
export function readRevision(session: SqliteSession, namespace: Namespace): number {
  const owner = namespaceCondition(namespace);
  const last = (table: "entries" | "removals"): number =>
    Number(
      session.statement(`SELECT max(seq) AS seq FROM ${table} WHERE ${owner.sql}`).get(...owner.values)?.seq,
    );
  const forgotten = forgottenThrough(session, namespace);
  return Math.max(last("entries"), last("removals"), forgotten, readHistory(session).prunedThrough);
}

/** Saves the highest number in use; call it in the write transaction that used it. */
export function saveLastSeq(session: SqliteSession, lastSeq: number): void {
  session.statement("UPDATE store SET newest_seq = ?").run(lastSeq);
}

function expiresBetween(session: SqliteSession, after: UnixMs, until: UnixMs): boolean {
  const sql = "SELECT 1 AS found FROM entries WHERE expires_at > ? AND expires_at <= ? LIMIT 1";
  return session.statement(sql).get(after, until) !== undefined;
}

function seqOf(row: SqliteRow): number {
  return Number(row.seq);
}
