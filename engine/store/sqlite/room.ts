/** Room on the disk: a full one can be emptied by what is in reserve for that, and what was freed goes back. */
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

/** So much is freed pages' share of the time of one delete; the rest is for the next delete or sweep. */
const GIVING_BACK_MS = 2_000;

/** On a full disk: about a megabyte of pages, so that what moving them adds to the log fits into what was in reserve. */
const TIGHT_ROUNDS = 5;

export class Room {
  readonly #session: SqliteSession;
  readonly #calls: GuardedCalls;
  readonly #transactions: WriteTransactions;
  readonly #log: LogFolder;
  readonly #reserve: Reserve;
  /** Pages, which the file is rid of after the next fold. */
  #hasGivenBack = false;

  constructor({ session, calls, transactions, log }: RoomParts) {
    this.#session = session;
    this.#calls = calls;
    this.#transactions = transactions;
    this.#log = log;
    this.#reserve = new Reserve(session.path);
  }

  /** Deleting must be possible on a full disk: then it is tried again with what was in reserve, and told that it is tight. */
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

  /** The file gets shorter by what was freed, and the reserve is made again; for no longer than that may take. */
  async giveBack(erasure: Erasure): Promise<Erasure> {
    if (erasure.deleted === 0) return erasure;
    try {
      await this.deletingIn((isTight) => this.#giveBackAll(isTight));
      return { ...erasure, erased: await this.#calls.change(() => this.#gaveBack(erasure)) };
    } catch {
      return erasure; // it is erased; the next sweep gives back
    }
  }

  /** What is moved to the front goes through the log: on a full disk little of it at a time. */
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
