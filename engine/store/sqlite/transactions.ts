/** The write transactions of an open store: each verifies the store and observes the time. */
import { HelmdeckError } from "../../errors.ts";
import type { Erasure } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import type { StoreClock } from "../store-clock.ts";
import { saveLastSeq } from "./change-feed.ts";
import { announceCheckpoint, type Checkpointer } from "./checkpoint.ts";
import type { Moment } from "./conditions.ts";
import { correctTimes } from "./corrections.ts";
import { pendingForgets } from "./forgets.ts";
import { requireNotNewer } from "./schema.ts";
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
