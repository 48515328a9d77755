/**
 * Runs the calls of an open store: refuses them after close, verifies that the file is still the opened one, and explains
 * SQLite's errors.
 */
import { HelmdeckError } from "../../errors.ts";
import type { StoreClock } from "../store-clock.ts";
import type { Moment } from "./conditions.ts";
import { pendingForgets } from "./forgets.ts";
import { requireNotNewer } from "./schema.ts";
import { explainSqliteError, isSchemaMismatch } from "./sqlite-errors.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import { migratedByOther, type StoreGuard } from "./store-guard.ts";

interface CallsParts {
  readonly session: SqliteSession;
  readonly clock: StoreClock;
  readonly guard: StoreGuard;
}

export class GuardedCalls {
  readonly #session: SqliteSession;
  readonly #clock: StoreClock;
  readonly #guard: StoreGuard;
  #isClosed = false;

  constructor({ session, clock, guard }: CallsParts) {
    this.#session = session;
    this.#clock = clock;
    this.#guard = guard;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Runs one call, unless the store is closed or its file was replaced, and explains SQLite's errors. */
  async perform<T>(work: () => T): Promise<T> {
    try {
      this.#requireOpen();
      if (!this.#guard.isInPlace()) await this.#explainWrite();
      return work();
    } catch (error) {
      throw isSchemaMismatch(error) ? this.#explainMismatch() : explainSqliteError(error, this.#session.path);
    }
  }

  /** Like {@link perform}, in a read transaction that knows which rows are hidden. */
  read<T>(work: (moment: Moment) => T): Promise<T> {
    return this.perform(() => {
      const now = this.#clock.now();
      return this.#session.read(() => work({ now, forgets: pendingForgets(this.#session) }));
    });
  }

  /** Like {@link perform}, for writes: nothing is acknowledged unless the file is still in place afterwards. */
  async write<T>(work: () => T): Promise<T> {
    const result = await this.perform(work);
    return this.perform(() => result);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#guard.close();
  }

  async #explainWrite(): Promise<void> {
    await this.#guard.verify();
    this.#requireOpen();
  }

  /** The file had the tables when it was opened, so another process has changed them. */
  #explainMismatch(): HelmdeckError {
    try {
      requireNotNewer(this.#session);
      return migratedByOther(this.#session.path);
    } catch (error) {
      return explainSqliteError(error, this.#session.path);
    }
  }

  #requireOpen(): void {
    if (!this.#isClosed) return;
    throw new HelmdeckError("store_unavailable", "This memory store is closed.");
  }
}
