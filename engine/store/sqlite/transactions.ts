/**
 * The write transactions of an open store: each verifies the store and observes the time. Once the clock is right, the times of
 * entries that were written while it was certainly wrong are corrected.
 */
import { HelmdeckError } from "../../errors.ts";
import { historyChange } from "../../rules/plans.ts";
import { ALL_COLUMNS, cellsOf } from "../fields.ts";
import type { Erasure } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import type { StoreClock } from "../store-clock.ts";
import { parseColumns } from "../stored-rows.ts";
import { type Correction, withCorrectedTimes } from "../time-seen.ts";
import { saveLastSeq } from "./change-feed.ts";
import { announceCheckpoint, type Checkpointer } from "./checkpoint.ts";
import { type Moment, sparedCondition } from "./conditions.ts";
import { pendingForgets } from "./forgets.ts";
import { readFormer, writeFormer } from "./former-rows.ts";
import { requireNotNewer, UPDATE_ROW } from "./schema.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import type { StoreGuard } from "./store-guard.ts";
import { readStoreRow, type StoreRow, saveTimeSeen, timeSeenIn } from "./store-row.ts";
import { followKeys } from "./stored-keys.ts";

/** One write transaction. */
export interface Writing {
  readonly moment: Moment;
  /** The store's own row at its beginning. */
  readonly row: StoreRow;
  /** Allocates a sequence number. */
  readonly nextSeq: () => number;
  /** Allocates several; returns the first. */
  readonly takeSeqs: (count: number) => number;
  /** The highest number in use, those of this transaction included. */
  readonly newestSeq: () => number;
  /** All of a part or none of it: if it throws, its sequence numbers are free again, and the transaction goes on. */
  readonly attempt: <T>(part: () => T) => T;
}

interface TransactionParts {
  readonly session: SqliteSession;
  readonly sealer: Sealer;
  readonly clock: StoreClock;
  readonly guard: StoreGuard;
  readonly log: Checkpointer;
  /** The file or its folder is read-only: every write is refused. */
  readonly isReadOnly: boolean;
}

/** How long vectors wait for another writer: they can be written later, and must not block the thread. */
const VECTOR_PATIENCE_MS = 50;

export class WriteTransactions {
  readonly #parts: TransactionParts;
  /** As last read or written. */
  #timeSeen: string | undefined;

  constructor(parts: TransactionParts) {
    this.#parts = parts;
  }

  /** All of `work` or none of it, in the opened store. */
  write<T>(work: (writing: Writing) => T): T {
    this.requireWritable();
    const { session, guard, log } = this.#parts;
    const { answer, lastSeq } = session.write(() => this.#inTransaction(work));
    guard.noteLastSeq(lastSeq);
    log.noteWrite();
    return answer;
  }

  /** Yields: throws `store_locked` soon when another writer is active. */
  writeIfFree<T>(work: (writing: Writing) => T): T {
    return this.#patiently(VECTOR_PATIENCE_MS, work);
  }

  /** Saves the observed time, unless somebody else is writing: at open and at close. */
  keepTime(): void {
    const { isReadOnly, clock } = this.#parts;
    if (isReadOnly || !clock.isWorthKeeping()) return;
    try {
      this.#patiently(0, () => undefined);
    } catch {
      // The next write saves it.
    }
  }

  checkpointNow(): Erasure["erased"] {
    const time = this.write(({ row }) => announceCheckpoint(this.#parts.session, row.checkpointedAt));
    return this.#parts.log.finishErasure(time);
  }

  /** With the next delete, which reports whether it was erased. */
  foldLater(): void {
    this.#parts.log.requireErasure();
  }

  requireWritable(): void {
    if (this.#parts.isReadOnly) throw readOnly(this.#parts.session.path);
  }

  #patiently<T>(busyTimeoutMs: number, work: (writing: Writing) => T): T {
    return this.#parts.session.withBusyTimeout(busyTimeoutMs, () => this.write(work));
  }

  #inTransaction<T>(work: (writing: Writing) => T): { readonly answer: T; readonly lastSeq: number } {
    const { session, clock } = this.#parts;
    const row = this.#requireSame();
    let { lastSeq } = row.history;
    const takeSeqs = (count: number): number => {
      lastSeq += count;
      return lastSeq - count + 1;
    };
    const attempt = <Part>(part: () => Part): Part => {
      const before = lastSeq;
      try {
        return session.attempt(part);
      } catch (error) {
        lastSeq = before;
        throw error;
      }
    };
    const seqs = { row, takeSeqs, nextSeq: () => takeSeqs(1), newestSeq: () => lastSeq };
    this.#observe(seqs);
    const answer = work({ ...seqs, attempt, moment: { now: clock.now(), forgets: pendingForgets(session) } });
    if (lastSeq !== row.history.lastSeq) saveLastSeq(session, lastSeq);
    return { answer, lastSeq };
  }

  /** Verifies that it is the opened store, with its current keys. */
  #requireSame(): StoreRow {
    const { session, guard, sealer } = this.#parts;
    requireNotNewer(session);
    const row = readStoreRow(session);
    guard.requireSame(row);
    if (!sealer.ring.isUpToDate(row.keys)) followKeys(session, sealer.ring, row.keys);
    return row;
  }

  #observe({ row, nextSeq }: Pick<Writing, "row" | "nextSeq">): void {
    const { session, sealer, clock } = this.#parts;
    const kept = row.timeSeen === this.#timeSeen ? undefined : timeSeenIn(row);
    if (kept !== undefined) clock.adopt(kept);
    this.#timeSeen = row.timeSeen;
    const observation = clock.observe();
    if (observation === undefined && row.timeSeen !== undefined) return;
    this.#timeSeen = saveTimeSeen(session, clock.seen);
    if (observation?.correction) correctTimes(session, sealer, observation.correction, nextSeq);
  }
}

function readOnly(path: string): HelmdeckError {
  return new HelmdeckError(
    "store_readonly",
    `The memory database ${path} is open read-only, because it or its folder is not writable. ` +
      "Make both writable for this account.",
    { details: { path }, unchanged: "Nothing was written." },
  );
}

/**
 * Otherwise a fact that was stored before the machine knew the date would expire at once. Call it in a write transaction. A row
 * that does not open stays unchanged.
 */
function correctTimes(
  session: SqliteSession,
  sealer: Sealer,
  correction: Correction,
  nextSeq: () => number,
): void {
  const { from, to } = correction;
  const select = session.statement(`SELECT ${ALL_COLUMNS} FROM entries WHERE id = ?`);
  const update = session.statement(UPDATE_ROW);
  const spared = sparedCondition(pendingForgets(session)); // rows being deleted must not get a later number
  const ids = session
    .statement(`SELECT id FROM entries WHERE updated_at BETWEEN ? AND ? AND ${spared.sql} ORDER BY seq`)
    .all(from, to, ...spared.values);
  for (const { id } of ids) {
    const row = select.get(`${id}`);
    const columns = row && parseColumns(row);
    const content =
      columns && row.sealed instanceof Uint8Array ? sealer.open(columns, row.sealed) : undefined;
    if (columns === undefined || content === undefined) continue;
    const right = { ...withCorrectedTimes(columns, correction), seq: nextSeq() };
    update.run(...cellsOf(right, sealer.seal(right, content)), columns.id);
    const history = readFormer({ session, sealer }, columns.id);
    const corrected = history.map((former) => withCorrectedTimes(former, correction));
    writeFormer({ session, sealer }, columns.id, historyChange(history, corrected));
  }
}
