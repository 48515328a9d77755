/** The two cursors that stores hand out: a place in a listing, and a place in the change feed. */
import { type HelmdeckError, invalidField } from "../errors.ts";
import type { UnixMs } from "./memory-store.ts";

/** The last entry of a page. Pages go from newer to older, and by id within one instant, so a place stays put while others write. */
export interface ListPlace {
  readonly updatedAt: UnixMs;
  readonly id: string;
}

export function encodeListCursor({ updatedAt, id }: ListPlace): string {
  return Buffer.from(JSON.stringify([clamp(updatedAt), id])).toString("base64url");
}

/** Throws `invalid_input` for anything that {@link encodeListCursor} did not make. */
export function decodeListCursor(cursor: string): ListPlace {
  const [updatedAt, id, ...more] = parseList(Buffer.from(cursor, "base64url").toString());
  if (!Number.isSafeInteger(updatedAt) || typeof id !== "string" || more.length > 0) throw notACursor();
  return { updatedAt: Number(updatedAt), id };
}

/** A damaged row may stand at the end of a page with a time beyond exact numbers; the next page must still go on after it. */
function clamp(updatedAt: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, updatedAt));
}

function parseList(json: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(json);
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

function notACursor(): HelmdeckError {
  return invalidField("cursor", "is not one from an earlier page; ask without it");
}

/**
 * What a store remembers of its own history. Every write takes the next `lastSeq`. Removals up to `prunedThrough` have
 * been dropped from the feed, in `prunes` rounds.
 */
export interface History {
  readonly lastSeq: number;
  readonly prunedThrough: number;
  readonly prunes: number;
}

/**
 * How often this opening had every reader begin anew, and at which number last: when a wrong clock was set right, what it hid
 * is there again without having been written, and so is what another database holds.
 */
export interface Beginning {
  readonly times: number;
  readonly before: number;
}

/** History as readers are shown it: whoever read before the last beginning has missed what only starting over shows. */
export function historySince(history: History, { times, before }: Beginning): History {
  return {
    ...history,
    prunes: history.prunes + times,
    prunedThrough: Math.max(history.prunedThrough, before),
  };
}

/** Cursors hold the sequence number in their low 40 bits and the round of pruning, modulo 2^13, above it. */
const SEQ_SPAN = 2 ** 40;
const ROUND_SPAN = 2 ** 13;

/** A reader who has seen everything up to `seq`, as history stands now. */
export function encodeChangeCursor(history: History, seq: number): number {
  return (history.prunes % ROUND_SPAN) * SEQ_SPAN + seq;
}

/**
 * The sequence number to go on from, or undefined when only starting over is safe.
 *
 * A reader at `seq` may have missed removals if some later than `seq` were pruned. But one who began from 0 after that
 * pruning, and is still paging through old rows, has missed nothing: the removed rows were gone before it began. The
 * round in its cursor tells the two apart, since it is the round in which its answer was given.
 */
export function resumeFrom(history: History, since: number): number | undefined {
  if (since === 0) return 0;
  if (!Number.isSafeInteger(since) || since < 0) return undefined;
  const seq = seqOfCursor(since);
  const round = Math.floor(since / SEQ_SPAN);
  if (seq > history.lastSeq) return undefined;
  const samePruning = round === history.prunes % ROUND_SPAN;
  return samePruning || seq >= history.prunedThrough ? seq : undefined;
}

/** The sequence number in a cursor; 0 in what is none. */
export function seqOfCursor(since: number): number {
  return Number.isSafeInteger(since) && since > 0 ? since % SEQ_SPAN : 0;
}

/** How many sequence numbers back removals are kept, unless a store is told otherwise. */
export const KEEP_REMOVALS = 20_000;

/**
 * Up to where to prune now, or undefined for not yet. Waits until the oldest removal is twice as old as it need be, so
 * that pruning, which makes slow readers start over, happens in rare rounds and not at every removal.
 */
export function pruneTarget(
  lastSeq: number,
  oldestRemoval: number | undefined,
  keep: number,
): number | undefined {
  if (oldestRemoval === undefined || oldestRemoval > lastSeq - 2 * keep) return undefined;
  return lastSeq - keep;
}
