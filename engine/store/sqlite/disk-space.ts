/** Disk space: deletes work on a full disk by using the reserve, and freed space is returned afterwards. */
import type { Erasure } from "../memory-store.ts";
import type { Checkpointer } from "./checkpoint.ts";
import type { GuardedCalls } from "./guarded-calls.ts";
import { ReserveFile } from "./reserve-file.ts";
import { inSlices, sliceEnd } from "./slices.ts";
import { isFull } from "./sqlite-errors.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import type { WriteTransactions } from "./transactions.ts";
import { canCheckpoint, hasFreePages, releaseFreePages } from "./vacuum.ts";

interface DiskSpaceParts {
  readonly session: SqliteSession;
  readonly calls: GuardedCalls;
  readonly transactions: WriteTransactions;
  readonly log: Checkpointer;
}

/** How long one delete may spend on returning freed pages; the rest is left to the next delete or sweep. */
const SHRINK_MS = 2_000;

/** On a full disk: about a megabyte of pages, so that moving them does not outgrow the reserve. */
const FULL_DISK_ROUNDS = 5;

export class DiskSpace {
  readonly #session: SqliteSession;
  readonly #calls: GuardedCalls;
  readonly #transactions: WriteTransactions;
  readonly #log: Checkpointer;
  readonly #reserve: ReserveFile;
  /** Whether pages were released; the file shrinks with the next checkpoint. */
  #hasReleasedPages = false;

  constructor({ session, calls, transactions, log }: DiskSpaceParts) {
    this.#session = session;
    this.#calls = calls;
    this.#transactions = transactions;
    this.#log = log;
    this.#reserve = new ReserveFile(session.path);
  }

  /** Deletes must work on a full disk: on failure the work is retried with the reserve and `isDiskFull` set. */
  async withReserve<T>(work: (isDiskFull: boolean) => Promise<T>): Promise<T> {
    try {
      return await work(false);
    } catch (error) {
      if (!isFull(error)) throw error;
      await this.freeReserve();
      return work(true);
    }
  }

  /** Deletes the reserve and checkpoints, so that a full disk has room again. */
  async freeReserve(): Promise<void> {
    this.#reserve.delete();
    await this.#calls.perform(() => {
      if (canCheckpoint(this.#session)) this.#transactions.checkpointNow();
    });
  }

  createReserve(): void {
    this.#reserve.create();
  }

  /** Shrinks the file by its freed pages and re-creates the reserve, within the time limit. */
  async shrinkFile(erasure: Erasure): Promise<Erasure> {
    if (erasure.deleted === 0) return erasure;
    try {
      await this.withReserve((isDiskFull) => this.#releasePages(isDiskFull));
      return { ...erasure, erased: await this.#calls.write(() => this.#finishShrinking(erasure)) };
    } catch {
      return erasure; // it is erased; the next sweep releases the space
    }
  }

  /** Moving pages to the front goes through the log: on a full disk, a little at a time. */
  #releasePages(isDiskFull: boolean): Promise<void> {
    const isLate = sliceEnd(SHRINK_MS);
    return inSlices((isOver) =>
      this.#calls.perform(
        () => isLate() || !this.#releaseSomePages(isDiskFull ? afterRounds(FULL_DISK_ROUNDS) : isOver),
      ),
    );
  }

  #releaseSomePages(isOver: () => boolean): boolean {
    if (!hasFreePages(this.#session)) return false;
    this.#transactions.write(() => releaseFreePages(this.#session, isOver));
    this.#log.checkpointBetweenSlices();
    this.#hasReleasedPages = true;
    return true;
  }

  #finishShrinking({ erased }: Erasure): Erasure["erased"] {
    const result = this.#hasReleasedPages ? this.#transactions.checkpointNow() : erased;
    this.#hasReleasedPages = false;
    this.#reserve.recreate();
    return result;
  }
}

function afterRounds(rounds: number): () => boolean {
  let done = 0;
  return () => ++done >= rounds;
}
