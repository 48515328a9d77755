/** Writing one entry: over the one that is there, whose id and creation it keeps, or as a new one. */
import { makeEntryId } from "../entry-id.ts";
import { isExpired } from "../entry-rules.ts";
import type { NewEntry, PutResult, UnixMs } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import { all, type Condition, refCondition, sparedCondition } from "./conditions.ts";
import { ALL_COLUMNS, columnsOf, INSERT_ROW, metaOf, openRow, UPDATE_ROW, valuesOf } from "./entry-rows.ts";
import { noteRemoval, type Removing } from "./removals.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import { removeVectors } from "./sqlite-vectors.ts";
import type { Writing } from "./transactions.ts";
import { type Quota, requireQuota } from "./usage.ts";

export interface Putting extends Removing {
  readonly sealer: Sealer;
  readonly quota: Quota;
}

/** To be called in a write transaction, with an entry that has been checked. Throws `quota_exceeded`. */
export function putEntry(putting: Putting, entry: NewEntry, { moment, nextSeq }: Writing): PutResult {
  const { session, sealer, quota } = putting;
  const { now, forgets } = moment;
  const ref = refCondition(entry);
  const row = rowOf(putting, all([ref, sparedCondition(forgets)]));
  const before = row && livingEntry(row, sealer, now);
  if (row !== undefined && before === undefined) noteRemoval(putting, row, nextSeq());
  const identity = {
    seq: nextSeq(),
    id: before?.id ?? makeEntryId(),
    createdAt: entry.createdAt ?? before?.createdAt ?? now,
  };
  const columns = columnsOf(entry, identity, now, sealer);
  const sealed = sealer.seal(columns, entry);
  if (before === undefined) {
    session.statement(`DELETE FROM entries WHERE ${ref.sql}`).run(...ref.values);
    session.statement(INSERT_ROW).run(...valuesOf(columns, sealed));
  } else {
    session.statement(UPDATE_ROW).run(...valuesOf(columns, sealed), columns.id);
    if (!hasDigest(row, columns.digest)) removeVectors(session, columns.id);
  }
  if (isMore(row, sealed)) requireQuota(session, entry, quota);
  if (before === undefined) return { entry: metaOf(columns) };
  const sameValue = Buffer.compare(before.value, entry.value) === 0;
  return { entry: metaOf(columns), replaced: { updatedAt: before.updatedAt, sameValue } };
}

function rowOf({ session }: Putting, { sql, values }: Condition): SqliteRow | undefined {
  return session.statement(`SELECT ${ALL_COLUMNS} FROM entries WHERE ${sql}`).get(...values);
}

/**
 * The entry whose id and creation a put may take over. An expired one has ended; one that does not authenticate vouches
 * for nothing, and sealing its claims anew would make them true.
 */
function livingEntry(row: SqliteRow, sealer: Sealer, now: UnixMs): ReturnType<typeof openRow> {
  const entry = openRow(row, sealer);
  return entry !== undefined && isExpired(entry.expiresAt, now) ? undefined : entry;
}

/** Whoever has too much may still overwrite with less, and renew what is there. */
function isMore(before: SqliteRow | undefined, sealed: Uint8Array): boolean {
  return !(before?.sealed instanceof Uint8Array) || sealed.byteLength > before.sealed.byteLength;
}

/** Vectors belong to the value that their entry's digest is of. */
function hasDigest(row: SqliteRow | undefined, digest: Uint8Array): boolean {
  return row?.digest instanceof Uint8Array && Buffer.compare(row.digest, digest) === 0;
}
