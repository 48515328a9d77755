/** Writes one entry: replaces an existing one, keeping its id and creation time, or inserts a new one; and supersedes others. */

import { type ConflictRule, keepsExisting } from "../conflicts.ts";
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
 * Call it in a write transaction, with a checked entry. `supersedes`: other keys of the namespace to supersede. Throws
 * `quota_exceeded`.
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

/** The same, unless the conflict rule keeps the existing entry. */
export function putUnlessKept(
  putting: Putting,
  entry: NewEntry,
  writing: Writing,
  rule: ConflictRule,
): PutResult {
  const there = rule === "replace" ? undefined : livingAt(putting, entry, writing.moment);
  if (there === undefined || !keepsExisting(there, entry, rule)) return putEntry(putting, entry, writing);
  const { value: _, fingerprint: __, writer: ___, prolonged: ____, ...meta } = there;
  return { entry: meta, superseded: [], kept: true };
}

interface Written {
  readonly columns: ClearColumns;
  /** The replaced live entry. */
  readonly before: Entry | undefined;
  /** Whether its sealed value is larger than the replaced one. */
  readonly isMore: boolean;
}

/** Writes the row only, whatever was there before. */
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

/** The visible entry; undefined when it does not open or is being deleted. */
export function livingAt(putting: Putting, ref: EntryRef, { now, forgets }: Moment): Entry | undefined {
  const row = rowOf(putting, all([refCondition(ref), sparedCondition(forgets)]));
  return row && livingEntry(row, putting.sealer, now);
}

/** Removes an entry as if it were deleted; the change feed reports it. */
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

/** Former values count, but are dropped before a write is refused. */
function keepWithinQuota({ session, quota }: Putting, entry: NewEntry, { isMore }: Written): void {
  const owner = ownerCondition({ namespace: namespaceOf(subjectOf(entry.namespace)), includeSessions: true });
  while (isOverQuota(session, entry, quota) && dropOldestFormer(session, owner));
  if (isMore) requireQuota(session, entry, quota);
}

function rowOf({ session }: Putting, { sql, values }: Condition): SqliteRow | undefined {
  return session.statement(`SELECT ${ALL_COLUMNS} FROM entries WHERE ${sql}`).get(...values);
}

/**
 * The live entry, whose id and creation time a put takes over. An expired one has ended. An unauthenticated one must not be
 * resealed, which would make its claims genuine.
 */
function livingEntry(row: SqliteRow, sealer: Sealer, now: UnixMs): ReturnType<typeof openRow> {
  const entry = openRow(row, sealer);
  return entry !== undefined && isExpired(entry.expiresAt, now) ? undefined : entry;
}

/** A subject over its quota may still overwrite with less, and renew entries. */
function isMore(before: SqliteRow | undefined, sealed: Uint8Array): boolean {
  return !(before?.sealed instanceof Uint8Array) || sealed.byteLength > before.sealed.byteLength;
}

/** Vectors belong to the value of their entry's digest. */
function hasDigest(row: SqliteRow | undefined, digest: Uint8Array): boolean {
  return row?.digest instanceof Uint8Array && Buffer.compare(row.digest, digest) === 0;
}
