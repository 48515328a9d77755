/** Writes one entry: replaces an existing one, keeping its id and creation time, or inserts a new one; and supersedes others. */
import { type ConflictRule, keepsExisting } from "../conflicts.ts";
import { makeEntryId } from "../entry-id.ts";
import { isExpired } from "../entry-rules.ts";
import { grown, HISTORY_LIMITS, hasHistory, type Retired } from "../history.ts";
import type { Entry, EntryRef, NewEntry, PutResult } from "../memory-store.ts";
import { type Quota, requireWithin } from "../quota.ts";
import type { ClearColumns, Sealer } from "../sealing.ts";
import { columnsOf, metaOf, openRow, type StoredRow } from "../stored-rows.ts";
import { refCondition } from "./conditions.ts";
import { ENTRY_COLUMNS, INSERT_ENTRY, selectEntries, UPDATE_ENTRY, valuesOf } from "./entry-rows.ts";
import { dropOldestFormer, readFormer, writeFormer } from "./former-rows.ts";
import { removeEntries } from "./removals.ts";
import type { Subject } from "./subjects.ts";
import type { Writing } from "./writing.ts";

export interface Putting {
  readonly sealer: Sealer;
  readonly quota: Quota;
  readonly keepRemovals: number;
}

/** Requires a checked entry. `supersedes`: other keys of the namespace to supersede. Throws `quota_exceeded`. */
export async function putEntry(
  putting: Putting,
  entry: NewEntry,
  writing: Writing,
  supersedes: readonly string[] = [],
): Promise<PutResult> {
  const retired: Retired[] = [];
  for (const key of supersedes) retired.push(...(await retire(putting, { ...entry, key }, writing)));
  const written = await writeEntry(putting, entry, writing);
  const { columns, before } = written;
  const sameValue = before !== undefined && Buffer.compare(before.value, entry.value) === 0;
  if (hasHistory(entry)) await keepFormer(putting, entry, writing, { written, retired, sameValue });
  await keepWithinQuota(putting, entry, writing, written);
  const superseded = retired.map(({ entry: { key } }) => key);
  const result = { entry: metaOf(columns), superseded };
  return before === undefined ? result : { ...result, replaced: { updatedAt: before.updatedAt, sameValue } };
}

/** The same, unless the conflict rule keeps the existing entry. */
export async function putUnlessKept(
  putting: Putting,
  entry: NewEntry,
  writing: Writing,
  rule: ConflictRule,
): Promise<PutResult> {
  const there = rule === "replace" ? undefined : await livingAt(putting, entry, writing);
  if (there === undefined || !keepsExisting(there, entry, rule)) return putEntry(putting, entry, writing);
  const { value: _, fingerprint: __, writer: ___, prolonged: ____, ...meta } = there;
  return { entry: meta, superseded: [], kept: true };
}

interface Written {
  readonly subject: Subject;
  readonly columns: ClearColumns;
  /** The replaced live entry. */
  readonly before: Entry | undefined;
  /** Whether its sealed value is larger than the replaced one. */
  readonly isMore: boolean;
}

/** Writes the row only, whatever was there before. */
export async function writeEntry(putting: Putting, entry: NewEntry, writing: Writing): Promise<Written> {
  const { sealer } = putting;
  const { connection, now } = writing;
  const subject = writing.of(entry.namespace);
  const row = await rowAt(writing, entry);
  const before = row && livingEntry(row, sealer, now);
  if (row !== undefined && before === undefined) {
    await removeEntries(writing, subject, refCondition(entry), putting);
  }
  const identity = {
    seq: await writing.nextSeq(subject),
    id: before?.id ?? makeEntryId(),
    createdAt: entry.createdAt ?? before?.createdAt ?? now,
  };
  const columns = columnsOf(entry, identity, now, sealer);
  const sealed = sealer.seal(columns, entry);
  const beforeBytes = before === undefined ? 0 : sizeOf(row);
  if (before === undefined) {
    subject.entries += 1;
    void connection.query(INSERT_ENTRY, valuesOf(columns, sealed));
  } else {
    void connection.query(UPDATE_ENTRY, [...valuesOf(columns, sealed), columns.id]);
    if (!hasDigest(row, columns.digest)) {
      void connection.query("DELETE FROM vectors WHERE entry_id = ?", [columns.id]);
    }
  }
  subject.bytes += sealed.byteLength - beforeBytes;
  return { subject, columns, before, isMore: sealed.byteLength > sizeOf(row) };
}

/** The visible entry; undefined when it does not open. */
export async function livingAt(
  { sealer }: Putting,
  ref: EntryRef,
  writing: Writing,
): Promise<Entry | undefined> {
  writing.of(ref.namespace);
  const row = await rowAt(writing, ref);
  return row && livingEntry(row, sealer, writing.now);
}

/** Removes an entry as if it were deleted; the change feed reports it. */
export async function takeOut(putting: Putting, ref: EntryRef, writing: Writing): Promise<void> {
  await removeEntries(writing, writing.of(ref.namespace), refCondition(ref), putting);
}

async function retire(putting: Putting, ref: EntryRef, writing: Writing): Promise<readonly Retired[]> {
  const entry = await livingAt(putting, ref, writing);
  if (entry === undefined) return [];
  const history = await readFormer(writing.connection, putting.sealer, entry.id);
  await takeOut(putting, entry, writing);
  return [{ entry, history }];
}

async function keepFormer(
  { sealer }: Putting,
  { history: given = [] }: NewEntry,
  writing: Writing,
  {
    written: { subject, columns, before },
    retired,
    sameValue,
  }: { readonly written: Written; readonly retired: readonly Retired[]; readonly sameValue: boolean },
): Promise<void> {
  const known = before === undefined ? [] : await readFormer(writing.connection, sealer, before.id);
  const replaced = sameValue && retired.length === 0 ? undefined : before;
  const history = grown(known, { replaced, superseded: retired });
  const kept = history.length > 0 ? history : given.slice(-HISTORY_LIMITS.kept);
  await writeFormer(writing, sealer, { subject, entryId: columns.id }, { before: known, history: kept });
}

/** Former values count, but are dropped before a write is refused. */
async function keepWithinQuota(
  { quota }: Putting,
  { namespace }: NewEntry,
  writing: Writing,
  { subject, isMore }: Written,
): Promise<void> {
  while (subject.bytes > quota.bytes && (await dropOldestFormer(writing, subject)));
  if (isMore) requireWithin(subject, quota, namespace);
}

async function rowAt({ connection }: Writing, ref: EntryRef): Promise<StoredRow | undefined> {
  return (await selectEntries(connection, ENTRY_COLUMNS, refCondition(ref)))[0];
}

/**
 * The live entry, whose id and creation time a put takes over. An expired one has ended. An unauthenticated one must not be
 * resealed, which would make its claims genuine.
 */
function livingEntry(row: StoredRow, sealer: Sealer, now: number): Entry | undefined {
  const entry = openRow(row, sealer);
  return entry !== undefined && isExpired(entry.expiresAt, now) ? undefined : entry;
}

function sizeOf(row: StoredRow | undefined): number {
  return row?.sealed instanceof Uint8Array ? row.sealed.byteLength : 0;
}

/** Vectors belong to the value of their entry's digest. */
function hasDigest(row: StoredRow | undefined, digest: Uint8Array): boolean {
  return row?.digest instanceof Uint8Array && Buffer.compare(row.digest, digest) === 0;
}
