/**
 * Group commit: writes that wait at the same moment share one transaction and one sync of the log.
 *
 * A group forms before its transaction begins, and nothing is awaited inside. Each write has a savepoint: one that a rule refuses is
 * undone with its change numbers, and its neighbours stay. All others are acknowledged after the one commit; if that fails, none
 * is. When something else goes wrong before, such as a page that cannot be read, each write is tried alone.
 */
import { isHelmdeckError } from "../../errors.ts";
import { nextTurn } from "../../timing.ts";
import type { GuardedCalls } from "./guarded-calls.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import type { WriteTransactions, Writing } from "./transactions.ts";

interface GroupCommitParts {
  readonly session: SqliteSession;
  readonly calls: GuardedCalls;
  readonly transactions: WriteTransactions;
}

interface Waiting {
  /** Returns what acknowledges the write. */
  readonly work: (writing: Writing) => () => void;
  readonly refuse: (error: unknown) => void;
}

/** The most writes of a group, so that no other process waits long for its turn. */
const MOST_TOGETHER = 64;

export class GroupCommit {
  readonly #parts: GroupCommitParts;
  #waiting: Waiting[] = [];

  constructor(parts: GroupCommitParts) {
    this.#parts = parts;
  }

  /** All of `work` or none of it, with others' that are asked for before the event loop's next turn. */
  write<T>(work: (writing: Writing) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const acknowledging = (writing: Writing) => {
        const answer = work(writing);
        return () => resolve(answer);
      };
      const isFirst = this.#waiting.push({ work: acknowledging, refuse: reject }) === 1;
      if (isFirst) void nextTurn().then(() => this.flush());
    });
  }

  /** Begins to write what waits, so that a write which is asked for later comes later. Never rejects. */
  async flush(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    const groups = Math.ceil(waiting.length / MOST_TOGETHER);
    await Promise.all(
      Array.from({ length: groups }, (_, n) =>
        this.#commit(waiting.slice(n * MOST_TOGETHER, (n + 1) * MOST_TOGETHER)),
      ),
    );
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    const { calls, transactions } = this.#parts;
    let mayTryAlone = false;
    try {
      const settle = await calls.write(() =>
        transactions.write((writing) => {
          mayTryAlone = group.length > 1;
          const settling = group.map((one) => this.#attempt(one, writing, group.length > 1));
          mayTryAlone = false;
          return settling;
        }),
      );
      for (const one of settle) one();
    } catch (error) {
      if (mayTryAlone) for (const one of group) await this.#commit([one]);
      else for (const { refuse } of group) refuse(error);
    }
  }

  /** Returns what settles the write after the commit. A write that is alone needs no savepoint: the transaction is it. */
  #attempt({ work, refuse }: Waiting, writing: Writing, isOneOfMany: boolean): () => void {
    if (!isOneOfMany) return work(writing);
    try {
      return writing.attempt(() => work(writing));
    } catch (error) {
      if (!isHelmdeckError(error) || !this.#parts.session.connection.inTransaction) throw error;
      return () => refuse(error);
    }
  }
}
