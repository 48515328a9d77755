/** The one row that a store keeps about itself: who it is, how far it has come, when it was folded, what it has seen of time. */
import type { History } from "../cursors.ts";
import { decodeTimeSeen, encodeTimeSeen, type TimeSeen } from "../time-seen.ts";
import { damaged } from "./schema.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import type { SqliteSession } from "./sqlite-session.ts";

/** Since this schema the row says who the store is. */
export const IDENTITY_SINCE = 3;

export interface StoreRow {
  readonly history: History;
  /** 32 hex digits, and how often a backup was put in the store's place: together they name one line of history. */
  readonly identity: string;
  /** When the log was last folded into the database: the time that the file itself then bears, in Unix milliseconds. */
  readonly foldedAt: number;
  readonly timeSeen: string | undefined;
}

const SELECT = `SELECT last_seq, pruned_through, prunes, id, generation, folded_at,
  (SELECT seen FROM time_seen) AS time_seen FROM store`;

/** To be called in a transaction, of a file that is of schema 3 or later. */
export function readStoreRow(session: SqliteSession): StoreRow {
  const row = session.statement(SELECT).get();
  if (row === undefined) throw damaged(session.path);
  return {
    history: historyOf(row),
    identity: identityOf(row),
    foldedAt: Number(row.folded_at),
    timeSeen: typeof row.time_seen === "string" ? row.time_seen : undefined,
  };
}

/** The store's memory of its own history, in a file of any schema; to be called in a transaction. */
export function readHistory(session: SqliteSession): History {
  const row = session.statement("SELECT last_seq, pruned_through, prunes FROM store").get();
  if (row === undefined) throw damaged(session.path);
  return historyOf(row);
}

/** Undefined when nothing was kept, or nothing that can be understood. */
export function timeSeenIn({ timeSeen }: StoreRow): TimeSeen | undefined {
  return timeSeen === undefined ? undefined : decodeTimeSeen(timeSeen);
}

/** Answers what was kept; to be called in a write transaction. */
export function saveTimeSeen(session: SqliteSession, seen: TimeSeen): string {
  const text = encodeTimeSeen(seen);
  session.statement("INSERT OR REPLACE INTO time_seen (one, seen) VALUES (1, ?)").run(text);
  return text;
}

function historyOf(row: SqliteRow): History {
  return {
    lastSeq: Number(row.last_seq),
    prunedThrough: Number(row.pruned_through),
    prunes: Number(row.prunes),
  };
}

function identityOf({ id, generation }: SqliteRow): string {
  const name = id instanceof Uint8Array ? Buffer.from(id).toString("hex") : "";
  return `${name}/${generation}`;
}
