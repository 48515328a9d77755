/**
 * Group commit: puts that wait at the same moment share one transaction and one sync.
 *
 * A group is complete before its transaction begins. Each put has a savepoint: one that a rule refuses is undone alone, and its
 * neighbours stay. All others are acknowledged after the one commit; if that fails, or nobody knows, none is, and none is repeated.
 * When something else goes wrong before, such as a page that cannot be read, each put is tried alone.
 */
import { nextTurn } from "../timing.ts";
import type { PutResult } from "./memory-store.ts";

/** Called after the commit: returns the answer, or throws why a rule refused the put. */
export type Outcome = () => PutResult;

/** How far a group has come. */
export interface Progress {
  /** Set while the puts are carried out: when that fails, nothing was written. Unset before the commit. */
  isInside: boolean;
}

/** Carries out puts in one transaction, with a savepoint each if there are several. */
export type CarryOut<Put> = (
  puts: readonly Put[],
  progress: Progress,
  lane: string,
) => Promise<readonly Outcome[]>;

interface Waiting<Put> {
  readonly put: Put;
  readonly settle: (outcome: Outcome) => void;
}

/** The most puts of a group, so that no other process waits long for its turn. PostgreSQL also keeps that many savepoints at hand. */
const MOST_TOGETHER = 64;

export class GroupCommit<Put> {
  readonly #carryOut: CarryOut<Put>;
  readonly #waiting = new Map<string, Waiting<Put>[]>();
  readonly #committing = new Map<string, Promise<void>>();

  constructor(carryOut: CarryOut<Put>) {
    this.#carryOut = carryOut;
  }

  /** With others of the same lane that are asked for before the event loop's next turn, or while the lane's former group is written. */
  write(put: Put, lane = ""): Promise<PutResult> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome): void => {
        try {
          resolve(outcome());
        } catch (error) {
          reject(error);
        }
      };
      const waiting = this.#waiting.get(lane);
      if (waiting !== undefined) waiting.push({ put, settle });
      else {
        this.#waiting.set(lane, [{ put, settle }]);
        void Promise.all([nextTurn(), this.#committing.get(lane)]).then(() => this.flush(lane));
      }
    });
  }

  /** Begins to write what waits, so that a write which is asked for later comes later. Never rejects. */
  async flush(lane = ""): Promise<void> {
    const waiting = this.#waiting.get(lane) ?? [];
    this.#waiting.delete(lane);
    if (waiting.length === 0) return;
    const groups = Math.ceil(waiting.length / MOST_TOGETHER);
    const committing = Promise.all(
      Array.from({ length: groups }, (_, n) =>
        this.#commit(waiting.slice(n * MOST_TOGETHER, (n + 1) * MOST_TOGETHER), lane),
      ),
    ).then(() => {
      if (this.#committing.get(lane) === committing) this.#committing.delete(lane);
    });
    this.#committing.set(lane, committing);
    await committing;
  }

  async flushAll(): Promise<void> {
    await Promise.all([...this.#waiting.keys()].map((lane) => this.flush(lane)));
  }

  async #commit(group: readonly Waiting<Put>[], lane: string): Promise<void> {
    const progress: Progress = { isInside: false };
    try {
      const puts = group.map(({ put }) => put);
      const outcomes = await this.#carryOut(puts, progress, lane);
      for (const [n, outcome] of outcomes.entries()) group[n]?.settle(outcome);
    } catch (error) {
      if (progress.isInside && group.length > 1) for (const one of group) await this.#commit([one], lane);
      else for (const { settle } of group) settle(refused(error));
    }
  }
}

export function refused(error: unknown): Outcome {
  return () => {
    throw error;
  };
}
