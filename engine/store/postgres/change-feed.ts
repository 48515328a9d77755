/** The change feed over the sequence numbers of rows and removals; one subject's changes are committed in order. */
import type { Beginnings } from "../beginnings.ts";
import {
  encodeChangeCursor,
  type History,
  historySince,
  openChanges,
  resumeFrom,
  seqOfCursor,
} from "../cursors.ts";
import { changesLimitOf } from "../entry-rules.ts";
import { ALL_COLUMNS } from "../fields.ts";
import type { Changes, ChangesQuery, UnixMs } from "../memory-store.ts";
import { ownerOf } from "../namespace.ts";
import type { Sealer } from "../sealing.ts";
import type { StoredRow } from "../stored-rows.ts";
import { namespaceCondition } from "./conditions.ts";
import type { Connection } from "./connection.ts";
import { selectEntries } from "./entry-rows.ts";
import { readSubject } from "./subjects.ts";

/** A consistent snapshot of the feed. */
export interface FeedPage {
  readonly history: History;
  /** The highest number of any change. */
  readonly lastNumber: number;
  /** Entries and removals, in order. */
  readonly rows: readonly StoredRow[];
  readonly more: boolean;
  /** Whether something expires between the two given times. */
  readonly hides: boolean;
}

/** Sends all queries at once; call it in a read transaction. */
export async function readFeed(
  connection: Connection,
  query: ChangesQuery,
  hidden: { readonly after: UnixMs; readonly until: UnixMs } | undefined,
): Promise<FeedPage> {
  const limit = changesLimitOf(query);
  const { sql, values } = namespaceCondition(query.namespace);
  const since = seqOfCursor(query.since);
  const page = { sql: "ORDER BY seq LIMIT ?", values: [limit + 1] };
  const meant = { sql: `${sql} AND seq > ?`, values: [...values, since] };
  const subject = readSubject(connection, ownerOf(query.namespace));
  const [{ born, newestSeq, prunedThrough, prunes }, upserts, removals, [last], [found]] = await Promise.all([
    subject,
    selectEntries(connection, ALL_COLUMNS, meant, page),
    connection.query(`SELECT seq, id FROM removals WHERE ${meant.sql} ${page.sql}`, [
      ...meant.values,
      ...page.values,
    ]),
    connection.query("SELECT last_value FROM change_numbers"),
    hidden === undefined
      ? []
      : connection
          .acrossSubjects()
          .query("SELECT 1 AS found FROM entries WHERE expires_at > ? AND expires_at <= ? LIMIT 1", [
            ...[hidden.after, hidden.until],
          ]),
  ]);
  const rows = [...upserts, ...removals].sort((a, b) => Number(a.seq) - Number(b.seq));
  return {
    history: { born, lastSeq: newestSeq, prunedThrough, prunes },
    lastNumber: Number(last?.last_value),
    rows: rows.slice(0, limit),
    more: rows.length > limit,
    hides: found !== undefined,
  };
}

/** Turns a page into the contract's changes. */
export function changesOf(
  { history: kept, lastNumber, rows, more, hides }: FeedPage,
  { since: cursor }: ChangesQuery,
  { sealer, now, beginnings }: { sealer: Sealer; now: UnixMs; beginnings: Beginnings },
): Changes {
  const history = historySince(
    kept,
    beginnings.at(now, lastNumber, () => hides),
  );
  if (resumeFrom(history, cursor) === undefined) return { kind: "start_over" };
  const last = rows.at(-1);
  const end = more && last !== undefined ? Number(last.seq) : history.lastSeq;
  return {
    kind: "changes",
    ...openChanges(rows, sealer, now),
    cursor: encodeChangeCursor(history, end),
    more,
  };
}
