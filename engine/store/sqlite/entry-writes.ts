/** Puts, undoes and renews entries: loads what the rules need, and applies their plans. Call it in a write transaction. */
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
import { ALL_COLUMNS, cellsOf } from "../fields.ts";
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
import { type Namespace, ownerOf, subjectOf } from "../namespace.ts";
import type { Sealer } from "../sealing.ts";
import { all } from "../sql/conditions.ts";
import { hasDigest, openRows, openSlot, type RowSlot, sealRow } from "../stored-rows.ts";
import {
  listCondition,
  liveCondition,
  type Moment,
  namespaceCondition,
  ownerCondition,
  refCondition,
  sparedCondition,
} from "./conditions.ts";
import { dropOldestFormer, readFormer, writeFormer } from "./former-rows.ts";
import { noteRemoval, type Removing } from "./removals.ts";
import { INSERT_ROW, UPDATE_ROW } from "./schema.ts";
import { removeVectors } from "./sqlite-vectors.ts";
import type { Writing } from "./transactions.ts";
import { usageOf } from "./usage.ts";

export interface Putting extends Removing {
  readonly sealer: Sealer;
  readonly quota: Quota;
}

/** Requires a checked entry and other keys to supersede. Throws `quota_exceeded`, and `changed_meanwhile` for a condition. */
export function putEntry(
  putting: Putting,
  entry: NewEntry,
  writing: Writing,
  { supersedes = [], keysSince, ...rules }: PutOptions & PutRules,
): PutResult {
  judgeKeys(putting, entry.namespace, keysSince, writing);
  const row = loadRow(putting, entry, writing.moment);
  const slot = isKept(row.entry, entry, rules) ? row : withHistory(putting, row);
  const others = supersedes.map((key) => loadSlot(putting, { ...entry, key }, writing.moment));
  return apply(putting, planPut({ slot, others }, entry, writing.moment.now, rules), writing);
}

/** See `KeysSince`; throws what it throws. */
export function judgeKeys(
  { session }: Putting,
  namespace: Namespace,
  keysSince: KeysSince | undefined,
  { newestSeq, moment }: Writing,
): void {
  if (!mustJudgeKeys(keysSince, newestSeq())) return;
  const live = liveCondition(moment);
  const { sql, values } = all([namespaceCondition(namespace), live]);
  const written = session
    .statement(`SELECT key FROM entries WHERE seq > ? AND origin = 'fact' AND ${sql}`)
    .all(keysSince.revision, ...values);
  keysSince.judge(written.map(({ key }) => `${key}`));
}

/** Undefined when the fact does not exist or has no history. */
export function undoEntry(
  putting: Putting,
  ref: EntryRef,
  writing: Writing,
  options: UndoOptions,
): Undone | undefined {
  const slot = loadSlot(putting, ref, writing.moment);
  const others = keysToBringBack(slot).map((key) => loadSlot(putting, { ...ref, key }, writing.moment));
  return apply(putting, planUndo({ slot, others }, writing.moment.now, options), writing);
}

/** Undefined when no entry opens. */
export function renewEntry(
  putting: Putting,
  ref: EntryRef,
  decide: DecideRenewal,
  writing: Writing,
  options: RenewOptions,
): Entry | undefined {
  const slot = loadRow(putting, ref, writing.moment);
  const beside = loadBeside(putting, ref, writing.moment, options);
  return apply(putting, planRenewal({ slot, beside }, decide, writing.moment.now, options), writing);
}

/** Counts the facts of a sweep's slice, by what is surely past. */
export function noteEnded(putting: Putting, swept: readonly Entry[], writing: Writing, now: UnixMs): void {
  for (const [owner, facts] of factsAmong(swept)) {
    const slot = loadRow(putting, ownNote(owner, "ended"), { ...writing.moment, now });
    apply(putting, planEnded(slot, facts, now), writing);
  }
}

function loadBeside(
  { session, sealer }: Putting,
  { namespace, origin, key }: EntryRef,
  moment: Moment,
  { besideTag: tag }: RenewOptions,
): readonly Entry[] {
  if (tag === undefined) return [];
  const { sql, values } = listCondition({ namespace, origin, tag }, moment);
  const rows = session.statement(`SELECT ${ALL_COLUMNS} FROM entries WHERE ${sql}`).all(...values);
  return openRows(rows, sealer).entries.filter((entry) => entry.key !== key);
}

function loadSlot(putting: Putting, ref: EntryRef, moment: Moment): RowSlot {
  return withHistory(putting, loadRow(putting, ref, moment));
}

function withHistory(putting: Putting, slot: RowSlot): RowSlot {
  if (slot.entry === undefined || !hasHistory(slot.ref)) return slot;
  return { ...slot, history: readFormer(putting, slot.id) };
}

/** A row that is being deleted is hidden. */
function loadRow({ session, sealer }: Putting, ref: EntryRef, { now, forgets }: Moment): RowSlot {
  const { sql, values } = all([refCondition(ref), sparedCondition(forgets)]);
  const row = session.statement(`SELECT ${ALL_COLUMNS} FROM entries WHERE ${sql}`).get(...values);
  return openSlot(ref, row, { sealer, now });
}

function apply<Answer>(putting: Putting, plan: Plan<RowSlot, Answer>, writing: Writing): Answer {
  const [first] = plan.upsert;
  const bytesBefore = first?.isLimited ? usageOf(putting.session, first.slot.ref.namespace).bytes : 0;
  for (const { row } of plan.remove) {
    if (row === undefined) continue;
    noteRemoval(putting, row, writing.nextSeq());
    putting.session.statement("DELETE FROM entries WHERE seq = ?").run(row.seq ?? null);
  }
  return plan.answer(plan.upsert.map((upsert) => write(putting, upsert, writing, bytesBefore)));
}

/** `bytesBefore`: what the subject had before the plan. */
function write(
  putting: Putting,
  upsert: Upsert<RowSlot>,
  { nextSeq, moment }: Writing,
  bytesBefore: number,
): Revision {
  const { session, sealer } = putting;
  const { slot, history } = upsert;
  const { columns, sealed } = sealRow(upsert, nextSeq(), sealer);
  if (slot.entry === undefined) {
    const { sql, values } = refCondition(slot.ref); // of a row that is being deleted
    session.statement(`DELETE FROM entries WHERE ${sql}`).run(...values);
    session.statement(INSERT_ROW).run(...cellsOf(columns, sealed));
  } else {
    session.statement(UPDATE_ROW).run(...cellsOf(columns, sealed), columns.id);
    if (!hasDigest(slot.row, columns.digest)) removeVectors(session, columns.id);
  }
  if (history !== undefined) writeFormer(putting, columns.id, historyChange(slot.history, history));
  if (!upsert.isLimited) return columns.seq;
  // Former values count, but are dropped before a write is refused.
  const { namespace } = slot.ref;
  const quota = quotaOf(putting.quota, subjectOf(namespace));
  const owner = ownerCondition({ namespace: ownerOf(namespace), includeSessions: true });
  let used = usageOf(session, namespace);
  while (used.bytes > bytesToKeep(quota, bytesBefore) && dropOldestFormer(session, owner))
    used = usageOf(session, namespace);
  if (!takesMore(upsert, sealed.byteLength)) return columns.seq;
  const notes = used.entries > quota.entries ? (["ended", "told"] as const) : [];
  const kept = notes.filter((key) => loadRow(putting, ownNote(namespace, key), moment).row !== undefined);
  requireWithin(used, quota, namespace, kept.length);
  return columns.seq;
}
