/** The store's own row: identity, sequence numbers, last checkpoint, observed time. */

import { defined } from "../../defined.ts";
import type { History } from "../cursors.ts";
import type { KeyChange, StoredKeys } from "../key-ring.ts";
import type { StoreIdentity } from "../memory-store.ts";
import { decodeTimeSeen, encodeTimeSeen, type TimeSeen } from "../time-seen.ts";
import { damaged } from "./schema.ts";
import type { SqliteRow, SqliteValue } from "./sqlite-driver.ts";
import type { SqliteSession } from "./sqlite-session.ts";

/** Since this schema, the row holds the store's identity. */
export const IDENTITY_SINCE = 3;

export interface StoreRow {
  readonly history: History;
  /** The store's id (32 hex digits) and generation: together they identify one line of history. */
  readonly identity: string;
  /** The time of the last checkpoint, which is also the file's mtime, in Unix milliseconds. */
  readonly checkpointedAt: number;
  readonly timeSeen: string | undefined;
  readonly keys: StoredKeys;
}

/** Selects every column of any schema version. */
const SELECT = "SELECT store.*, (SELECT seen FROM time_seen) AS time_seen FROM store";

/** Call it in a transaction, for a file of schema 3 or later. */
export function readStoreRow(session: SqliteSession): StoreRow {
  const row = session.statement(SELECT).get();
  if (row === undefined) throw damaged(session.path);
  return {
    history: historyOf(row),
    identity: identityOf(row),
    checkpointedAt: Number(row.folded_at),
    timeSeen: typeof row.time_seen === "string" ? row.time_seen : undefined,
    keys: keysOf(row, session.path),
  };
}

/** The store's change history, in a file of any schema; call it in a transaction. */
export function readHistory(session: SqliteSession): History {
  return historyOf(readRow(session));
}

/** The keys of the rows, in a file of any schema; call it in a transaction. */
export function readStoredKeys(session: SqliteSession): StoredKeys {
  return keysOf(readRow(session), session.path);
}

/** Saves the keys of the rows; call it in a write transaction. */
export function saveStoredKeys(session: SqliteSession, { check, change, legacy }: StoredKeys): void {
  const columns = "key_check, former_check, former_key, new_key, legacy";
  session
    .statement(`UPDATE store SET (${columns}) = (?, ?, ?, ?, ?)`)
    .run(
      check,
      change?.formerCheck ?? null,
      change?.former ?? null,
      change?.current ?? null,
      legacy instanceof Uint8Array ? legacy : null,
    );
}

/** Undefined when nothing was saved, or it cannot be parsed. */
export function timeSeenIn({ timeSeen }: StoreRow): TimeSeen | undefined {
  return timeSeen === undefined ? undefined : decodeTimeSeen(timeSeen);
}

/** Returns what was saved; call it in a write transaction. */
export function saveTimeSeen(session: SqliteSession, seen: TimeSeen): string {
  const text = encodeTimeSeen(seen);
  session.statement("INSERT OR REPLACE INTO time_seen (one, seen) VALUES (1, ?)").run(text);
  return text;
}

function readRow(session: SqliteSession): SqliteRow {
  const row = session.statement("SELECT * FROM store").get();
  if (row === undefined) throw damaged(session.path);
  return row;
}

function keysOf(row: SqliteRow, path: string): StoredKeys {
  const { key_check: check, id, former_check, former_key, new_key, legacy } = row;
  if (!(check instanceof Uint8Array)) throw damaged(path);
  const change = changeOf(former_check, former_key, new_key);
  const isFirstEnvelope = !("newest_seq" in row);
  if (!isFirstEnvelope && !(id instanceof Uint8Array)) throw damaged(path);
  return {
    check,
    ...(id instanceof Uint8Array && { storeId: id }),
    ...defined({ change }),
    ...(isFirstEnvelope && { legacy: true }),
    ...(legacy instanceof Uint8Array && { legacy }),
  };
}

function changeOf(
  formerCheck: SqliteValue | undefined,
  former: SqliteValue | undefined,
  current: SqliteValue | undefined,
): KeyChange | undefined {
  if (!(formerCheck instanceof Uint8Array) || !(former instanceof Uint8Array)) return undefined;
  return current instanceof Uint8Array ? { formerCheck, former, current } : undefined;
}

function historyOf(row: SqliteRow): History {
  return {
    lastSeq: Number(row.newest_seq ?? row.last_seq),
    prunedThrough: Number(row.pruned_through),
    prunes: Number(row.prunes),
  };
}

function identityOf({ id, generation }: SqliteRow): string {
  const name = id instanceof Uint8Array ? Buffer.from(id).toString("hex") : "";
  return `${name}/${generation}`;
}

/** Splits {@link StoreRow.identity} into its two parts. */
export function identityNamed(identity: string): StoreIdentity {
  const [storeId = "", generation] = identity.split("/");
  return { storeId, generation: Number(generation) };
}
