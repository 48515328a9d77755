/** Disk space: deletes work on a full disk by using the reserve, and freed space is returned afterwards. */
import type { Erasure } from "../memory-store.ts";
import type { GuardedCalls } from "./calls.ts";
import type { LogFolder } from "./fold-log.ts";
import { Reserve } from "./reserve.ts";
import { inSlices, sliceEnd } from "./slices.ts";
import { giveBackPages, hasSparePages, mayFold } from "./spare-pages.ts";
import { isFull } from "./sqlite-errors.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import type { WriteTransactions } from "./transactions.ts";

interface RoomParts {
  readonly session: SqliteSession;
  readonly calls: GuardedCalls;
  readonly transactions: WriteTransactions;
  readonly log: LogFolder;
}

/** How long one delete may spend on returning freed pages; the rest is left to the next delete or sweep. */
const GIVING_BACK_MS = 2_000;

/** On a full disk: about a megabyte of pages, so that moving them does not outgrow the reserve. */
const TIGHT_ROUNDS = 5;

export class Room {
  readonly #session: SqliteSession;
  readonly #calls: GuardedCalls;
  readonly #transactions: WriteTransactions;
  readonly #log: LogFolder;
  readonly #reserve: Reserve;
  /** Whether pages were released; the file shrinks with the next checkpoint. */
  #hasGivenBack = false;

  constructor({ session, calls, transactions, log }: RoomParts) {
    this.#session = session;
    this.#calls = calls;
    this.#transactions = transactions;
    this.#log = log;
    this.#reserve = new Reserve(session.path);
  }

  /** Deletes must work on a full disk: on failure the work is retried with the reserve and `isTight` set. */
  async deletingIn<T>(work: (isTight: boolean) => Promise<T>): Promise<T> {
    try {
      return await work(false);
    } catch (error) {
      if (!isFull(error)) throw error;
      await this.make();
      return work(true);
    }
  }

  /** On a full disk. */
  async make(): Promise<void> {
    this.#reserve.giveUp();
    await this.#calls.perform(() => {
      if (mayFold(this.#session)) this.#transactions.foldNow();
    });
  }

  makeReserve(): void {
    this.#reserve.make();
  }

  /** Shrinks the file by its freed pages and re-creates the reserve, within the time limit. */
  async giveBack(erasure: Erasure): Promise<Erasure> {
    if (erasure.deleted === 0) return erasure;
    try {
      await this.deletingIn((isTight) => this.#giveBackAll(isTight));
      return { ...erasure, erased: await this.#calls.change(() => this.#gaveBack(erasure)) };
    } catch {
      return erasure; // it is erased; the next sweep releases the space
    }
  }

  /** Moving pages to the front goes through the log: on a full disk, a little at a time. */
  #giveBackAll(isTight: boolean): Promise<void> {
    const isLate = sliceEnd(GIVING_BACK_MS);
    return inSlices((isOver) =>
      this.#calls.perform(
        () => isLate() || !this.#giveBackSome(isTight ? afterRounds(TIGHT_ROUNDS) : isOver),
      ),
    );
  }

  #giveBackSome(isOver: () => boolean): boolean {
    if (!hasSparePages(this.#session)) return false;
    this.#transactions.write(() => giveBackPages(this.#session, isOver));
    this.#log.foldShare();
    this.#hasGivenBack = true;
    return true;
  }

  #gaveBack({ erased }: Erasure): Erasure["erased"] {
    const folded = this.#hasGivenBack ? this.#transactions.foldNow() : erased;
    this.#hasGivenBack = false;
    this.#reserve.makeAgain();
    return folded;
  }
}

function afterRounds(rounds: number): () => boolean {
  let done = 0;
  return () => ++done >= rounds;
}
