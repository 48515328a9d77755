/** The two kinds of cursor (a position in a listing, and one in the change feed), and the changes that a feed shows. */
import { invalidField } from "../errors.ts";
import { jsonListOf } from "../json.ts";
import { isExpired } from "./entry-rules.ts";
import type { Changes, EntryId, UnixMs } from "./memory-store.ts";
import type { Sealer } from "./sealing.ts";
import { openRows, type StoredRow } from "./stored-rows.ts";

/** The last entry of a page. Pages go from newer to older, then by id, so a position is stable while others write. */
interface ListPlace {
  readonly updatedAt: UnixMs;
  readonly id: string;
}

export function encodeListCursor({ updatedAt, id }: ListPlace): string {
  return Buffer.from(JSON.stringify([clamp(updatedAt), id])).toString("base64url");
}

/** Throws `invalid_input` for anything that {@link encodeListCursor} did not create. */
export function decodeListCursor(cursor: string): ListPlace {
  const [updatedAt, id, ...more] = jsonListOf(Buffer.from(cursor, "base64url").toString());
  if (!Number.isSafeInteger(updatedAt) || typeof id !== "string" || more.length > 0)
    throw invalidField("cursor", "is not from an earlier page; leave it out");
  return { updatedAt: Number(updatedAt), id };
}

/** A damaged row at the end of a page may have a time beyond safe integers; the next page must still follow it. */
function clamp(updatedAt: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, updatedAt));
}

/**
 * A store's change history. Every write takes the next `lastSeq`. Removals up to `prunedThrough` were dropped from the feed, in
 * `prunes` rounds.
 */
export interface History {
  /** Cursors from before it are of an earlier history, which was dropped with its subject's name. Default 0. */
  readonly born?: number;
  readonly lastSeq: number;
  readonly prunedThrough: number;
  readonly prunes: number;
}

/**
 * How often this store made every reader start over, and the last sequence number before that. This happens when a wrong clock
 * was corrected, because hidden entries reappear without a write, and when another database was opened.
 */
export interface Beginning {
  readonly times: number;
  readonly before: number;
}

/** More than a database that took over can lack: its history must not come to the round of the former one again. */
const ROUNDS_FOR_BEGINNING = 64;

/** The history as shown to readers: those from before the last beginning must start over. */
export function historySince(history: History, { times, before }: Beginning): History {
  return {
    ...history,
    prunes: history.prunes + times * ROUNDS_FOR_BEGINNING,
    prunedThrough: Math.max(history.prunedThrough, before),
  };
}

/** A cursor holds the sequence number in its low 40 bits and the round of pruning, modulo 2^13, above them. */
const SEQ_SPAN = 2 ** 40;
const ROUND_SPAN = 2 ** 13;

/** The cursor of a reader that has seen everything up to `seq`. */
export function encodeChangeCursor(history: History, seq: number): number {
  return (history.prunes % ROUND_SPAN) * SEQ_SPAN + seq;
}

/**
 * The sequence number to resume from, or undefined when the reader must start over.
 *
 * A reader at `seq` may have missed removals if later ones were pruned. But a reader that started from 0 after that pruning and
 * is still paging through old rows has missed nothing: the removed rows were gone before it started. The round in its cursor,
 * that of its first answer, distinguishes the two.
 */
export function resumeFrom(history: History, since: number): number | undefined {
  if (since === 0) return 0;
  if (!Number.isSafeInteger(since) || since < 0) return undefined;
  const seq = seqOfCursor(since);
  const round = Math.floor(since / SEQ_SPAN);
  if (seq > history.lastSeq || (seq > 0 && seq < (history.born ?? 0))) return undefined;
  const samePruning = round === history.prunes % ROUND_SPAN;
  return samePruning || seq >= history.prunedThrough ? seq : undefined;
}

/** The sequence number in a cursor; 0 when it is not a valid cursor. */
export function seqOfCursor(since: number): number {
  return Number.isSafeInteger(since) && since > 0 ? since % SEQ_SPAN : 0;
}

/** For how many sequence numbers removals are kept by default. */
export const KEEP_REMOVALS = 20_000;

/**
 * The sequence number to prune through, or undefined when it is too early. Waits until the oldest removal is twice as old as
 * required: pruning makes slow readers start over, so it should be rare.
 */
export function pruneTarget(
  lastSeq: number,
  oldestRemoval: number | undefined,
  keep: number,
): number | undefined {
  if (oldestRemoval === undefined || oldestRemoval > lastSeq - 2 * keep) return undefined;
  return lastSeq - keep;
}

/** An entry that was written and has expired since counts as removed: a reader may hold an older version with a later expiry. */
export function openChanges(
  page: readonly StoredRow[],
  sealer: Sealer,
  now: UnixMs,
): Pick<Extract<Changes, { kind: "changes" }>, "upserts" | "removed" | "unreadable"> {
  const isGone = (row: StoredRow): boolean =>
    !("sealed" in row) || (typeof row.expires_at === "number" && isExpired(row.expires_at, now));
  const { entries, unreadable } = openRows(
    page.filter((row) => !isGone(row)),
    sealer,
  );
  const removed = page.filter(isGone).map((row) => `${row.id}` as EntryId); // ids are only ever written by us
  return { upserts: entries, removed, unreadable };
}
