/** Puts, undoes and renews entries: loads what the rules need, and applies their plans. */
import { mustJudgeKeys } from "../../rules/conditions.ts";
import { factsAmong, ownNote, planEnded } from "../../rules/ended.ts";
import { hasHistory } from "../../rules/history.ts";
import {
  historyChange,
  isKept,
  keysToBringBack,
  type Plan,
  type PutRules,
  planPut,
  planRenewal,
  planUndo,
  takesMore,
  type Upsert,
} from "../../rules/plans.ts";
import { bytesToKeep, type Quota, quotaOf, requireWithin } from "../../rules/quota.ts";
import { ALL_COLUMNS } from "../fields.ts";
import type {
  DecideRenewal,
  Entry,
  EntryRef,
  KeysSince,
  NewEntry,
  PutOptions,
  PutResult,
  RenewOptions,
  Revision,
  Undone,
  UndoOptions,
  UnixMs,
} from "../memory-store.ts";
import { type Namespace, subjectOf } from "../namespace.ts";
import type { Sealer } from "../sealing.ts";
import { all } from "../sql/conditions.ts";
import { hasDigest, openRows, openSlot, type RowSlot, sealRow } from "../stored-rows.ts";
import { listCondition, liveCondition, namespaceCondition, refCondition } from "./conditions.ts";
import { INSERT_ENTRY, selectEntries, UPDATE_ENTRY, valuesOf } from "./entry-rows.ts";
import { dropOldestFormer, readFormer, writeFormer } from "./former-rows.ts";
import { removeEntries } from "./removals.ts";
import type { Writing } from "./writing.ts";

export interface Putting {
  readonly sealer: Sealer;
  readonly quota: Quota;
  readonly keepRemovals: number;
}

/** Requires a checked entry and other keys to supersede. Throws `quota_exceeded`, and `changed_meanwhile` for a condition. */
export async function putEntry(
  putting: Putting,
  entry: NewEntry,
  writing: Writing,
  { supersedes = [], keysSince, ...rules }: PutOptions & PutRules,
): Promise<PutResult> {
  await judgeKeys(entry.namespace, keysSince, writing);
  const row = await loadRow(putting, entry, writing);
  const slot = isKept(row.entry, entry, rules) ? row : await withHistory(putting, row, writing);
  const load = (key: string) => loadSlot(putting, { ...entry, key }, writing);
  const others = await Promise.all(supersedes.map(load));
  return apply(putting, planPut({ slot, others }, entry, writing.now, rules), writing);
}

/** See `KeysSince`; throws what it throws. */
export async function judgeKeys(
  namespace: Namespace,
  keysSince: KeysSince | undefined,
  writing: Writing,
): Promise<void> {
  if (!mustJudgeKeys(keysSince, writing.of(namespace).newestSeq)) return;
  const written = { sql: "seq > ? AND origin = 'fact'", values: [keysSince.revision] };
  const meant = all([namespaceCondition(namespace), liveCondition(writing.now), written]);
  const rows = await selectEntries(writing.connection, "key", meant);
  keysSince.judge(rows.map(({ key }) => `${key}`));
}

/** Undefined when the fact does not exist or has no history. */
export async function undoEntry(
  putting: Putting,
  ref: EntryRef,
  writing: Writing,
  options: UndoOptions,
): Promise<Undone | undefined> {
  const slot = await loadSlot(putting, ref, writing);
  const loading = keysToBringBack(slot).map((key) => loadSlot(putting, { ...ref, key }, writing));
  const others = await Promise.all(loading);
  return apply(putting, planUndo({ slot, others }, writing.now, options), writing);
}

/** Undefined when no entry opens. */
export async function renewEntry(
  putting: Putting,
  ref: EntryRef,
  decide: DecideRenewal,
  writing: Writing,
  options: RenewOptions,
): Promise<Entry | undefined> {
  const slot = await loadRow(putting, ref, writing);
  const beside = await loadBeside(putting, ref, writing, options);
  return apply(putting, planRenewal({ slot, beside }, decide, writing.now, options), writing);
}

/** Counts the facts that a sweep deletes, by what is surely past. */
export async function noteEnded(putting: Putting, swept: readonly Entry[], writing: Writing, now: UnixMs) {
  for (const [owner, facts] of factsAmong(swept)) {
    const slot = await loadRow(putting, ownNote(owner, "ended"), writing, now);
    await apply(putting, planEnded(slot, facts, now), writing);
  }
}

async function loadBeside(
  { sealer }: Putting,
  { namespace, origin, key }: EntryRef,
  writing: Writing,
  { besideTag: tag }: RenewOptions,
): Promise<readonly Entry[]> {
  if (tag === undefined) return [];
  const meant = listCondition({ namespace, origin, tag }, writing.now);
  const rows = await selectEntries(writing.connection, ALL_COLUMNS, meant);
  return openRows(rows, sealer).entries.filter((entry) => entry.key !== key);
}

async function loadSlot(putting: Putting, ref: EntryRef, writing: Writing): Promise<RowSlot> {
  return withHistory(putting, await loadRow(putting, ref, writing), writing);
}

async function withHistory({ sealer }: Putting, slot: RowSlot, { connection }: Writing): Promise<RowSlot> {
  if (slot.entry === undefined || !hasHistory(slot.ref)) return slot;
  return { ...slot, history: await readFormer(connection, sealer, slot.id) };
}

async function loadRow(
  { sealer }: Putting,
  ref: EntryRef,
  writing: Writing,
  now = writing.now,
): Promise<RowSlot> {
  writing.of(ref.namespace);
  const [row] = await selectEntries(writing.connection, ALL_COLUMNS, refCondition(ref));
  return openSlot(ref, row, { sealer, now });
}

async function apply<Answer>(
  putting: Putting,
  plan: Plan<RowSlot, Answer>,
  writing: Writing,
): Promise<Answer> {
  const [first] = plan.upsert;
  const bytesBefore = first === undefined ? 0 : writing.of(first.slot.ref.namespace).bytes;
  for (const { ref } of plan.remove)
    await removeEntries(writing, writing.of(ref.namespace), refCondition(ref), putting);
  const revisions: Revision[] = [];
  for (const upsert of plan.upsert) revisions.push(await write(putting, upsert, writing, bytesBefore));
  return plan.answer(revisions);
}

/** `bytesBefore`: what the subject had before the plan. */
async function write(
  putting: Putting,
  upsert: Upsert<RowSlot>,
  writing: Writing,
  bytesBefore: number,
): Promise<Revision> {
  const { sealer } = putting;
  const { connection } = writing;
  const { slot, history } = upsert;
  const subject = writing.of(slot.ref.namespace);
  const quota = quotaOf(putting.quota, subjectOf(subject.owner));
  const isOver = subject.entries + Number(slot.entry === undefined) > quota.entries;
  // The notes are read before the write: what refuses it must not wait for whether it failed.
  const notes = upsert.isLimited && isOver ? await countNotes(putting, writing, subject.owner) : 0;
  const { columns, sealed } = sealRow(upsert, await writing.nextSeq(subject), sealer);
  subject.bytes += sealed.byteLength;
  if (slot.entry === undefined) {
    subject.entries += 1;
    void connection.query(INSERT_ENTRY, valuesOf(columns, sealed));
  } else {
    subject.bytes -= slot.sizeBytes ?? 0;
    void connection.query(UPDATE_ENTRY, [...valuesOf(columns, sealed), columns.id]);
    if (!hasDigest(slot.row, columns.digest))
      void connection.query("DELETE FROM vectors WHERE entry_id = ?", [columns.id]);
  }
  if (history !== undefined) {
    const change = historyChange(slot.history, history);
    await writeFormer(writing, sealer, { subject, entryId: columns.id }, change);
  }
  if (!upsert.isLimited) return columns.seq;
  // Former values count, but are dropped before a write is refused.
  while (subject.bytes > bytesToKeep(quota, bytesBefore) && (await dropOldestFormer(writing, subject)));
  if (takesMore(upsert, sealed.byteLength)) requireWithin(subject, quota, subject.owner, notes);
  return columns.seq;
}

/** Memory's own notes, which no limit counts. */
async function countNotes(putting: Putting, writing: Writing, owner: Namespace): Promise<number> {
  const notes = (["ended", "told"] as const).map((key) => loadRow(putting, ownNote(owner, key), writing));
  return (await Promise.all(notes)).filter(({ row }) => row !== undefined).length;
}
