/** Writing one entry: over the one that is there, whose id and creation it keeps, or as a new one; and retiring others with it. */

import { type ConflictRule, staysThere } from "../conflicts.ts";
import { makeEntryId } from "../entry-id.ts";
import { isExpired } from "../entry-rules.ts";
import { grown, HISTORY_LIMITS, hasHistory, type Retired } from "../history.ts";
import type { Entry, EntryMeta, EntryRef, NewEntry, PutResult, UnixMs } from "../memory-store.ts";
import { namespaceOf, subjectOf } from "../namespace.ts";
import type { Quota } from "../quota.ts";
import type { ClearColumns, Sealer } from "../sealing.ts";
import { ALL_COLUMNS, columnsOf, metaOf, openRow } from "../stored-rows.ts";
import {
  all,
  type Condition,
  type Moment,
  ownerCondition,
  refCondition,
  sparedCondition,
} from "./conditions.ts";
import { INSERT_ROW, UPDATE_ROW, valuesOf } from "./entry-rows.ts";
import { dropOldestFormer, readFormer, writeFormer } from "./former-rows.ts";
import { noteRemoval, type Removing } from "./removals.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import { removeVectors } from "./sqlite-vectors.ts";
import type { Writing } from "./transactions.ts";
import { isOverQuota, requireQuota } from "./usage.ts";

export interface Putting extends Removing {
  readonly sealer: Sealer;
  readonly quota: Quota;
}

/**
 * To be called in a write transaction, with an entry that has been checked. `supersedes`: other keys of the namespace, whose facts
 * are retired. Throws `quota_exceeded`.
 */
export function putEntry(
  putting: Putting,
  entry: NewEntry,
  writing: Writing,
  supersedes: readonly string[] = [],
): PutResult {
  const retired = supersedes.flatMap((key) => retire(putting, { ...entry, key }, writing) ?? []);
  const written = writeEntry(putting, entry, writing);
  const { columns, before } = written;
  const sameValue = before !== undefined && Buffer.compare(before.value, entry.value) === 0;
  if (hasHistory(entry)) keepFormer(putting, entry, { written, retired, sameValue });
  keepWithinQuota(putting, entry, written);
  const superseded = retired.map(({ entry: { key } }) => key);
  const result = { entry: metaOf(columns), superseded };
  return before === undefined ? result : { ...result, replaced: { updatedAt: before.updatedAt, sameValue } };
}

/** The same, but for what stays by the rule for conflicts. */
export function putUnlessKept(
  putting: Putting,
  entry: NewEntry,
  writing: Writing,
  rule: ConflictRule,
): PutResult {
  const there = rule === "replace" ? undefined : livingAt(putting, entry, writing.moment);
  if (there === undefined || !staysThere(there, entry, rule)) return putEntry(putting, entry, writing);
  const { value: _, fingerprint: __, writer: ___, prolonged: ____, ...meta } = there;
  return { entry: meta, superseded: [], kept: true };
}

interface Written {
  readonly columns: ClearColumns;
  /** What it took the place of, if that was alive. */
  readonly before: Entry | undefined;
  /** Its sealed value takes more room than what was there. */
  readonly isMore: boolean;
}

/** The row alone, whatever was there before. */
export function writeEntry(putting: Putting, entry: NewEntry, { moment, nextSeq }: Writing): Written {
  const { session, sealer } = putting;
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
  return { columns, before, isMore: isMore(row, sealed) };
}

/** The entry that is there for everybody; undefined for one that does not open, or is being forgotten. */
export function livingAt(putting: Putting, ref: EntryRef, { now, forgets }: Moment): Entry | undefined {
  const row = rowOf(putting, all([refCondition(ref), sparedCondition(forgets)]));
  return row && livingEntry(row, putting.sealer, now);
}

/** Takes an entry out, as if it were deleted; the change feed tells. */
export function takeOut(putting: Putting, { namespace, id }: EntryMeta, { nextSeq }: Writing): void {
  noteRemoval(putting, { namespace, id }, nextSeq());
  putting.session.statement("DELETE FROM entries WHERE id = ?").run(id);
}

function retire(putting: Putting, ref: EntryRef, writing: Writing): Retired | undefined {
  const entry = livingAt(putting, ref, writing.moment);
  if (entry === undefined) return undefined;
  const history = readFormer(putting, entry.id);
  takeOut(putting, entry, writing);
  return { entry, history };
}

function keepFormer(
  putting: Putting,
  { history: given = [] }: NewEntry,
  {
    written: { columns, before },
    retired,
    sameValue,
  }: { readonly written: Written; readonly retired: readonly Retired[]; readonly sameValue: boolean },
): void {
  const known = before === undefined ? [] : readFormer(putting, before.id);
  const replaced = sameValue && retired.length === 0 ? undefined : before;
  const history = grown(known, { replaced, superseded: retired });
  const kept = history.length > 0 ? history : given.slice(-HISTORY_LIMITS.kept);
  writeFormer(putting, columns.id, known, kept);
}

/** Former values count, and give way: they are dropped before anything is refused. */
function keepWithinQuota({ session, quota }: Putting, entry: NewEntry, { isMore }: Written): void {
  const owner = ownerCondition({ namespace: namespaceOf(subjectOf(entry.namespace)), includeSessions: true });
  while (isOverQuota(session, entry, quota) && dropOldestFormer(session, owner));
  if (isMore) requireQuota(session, entry, quota);
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
