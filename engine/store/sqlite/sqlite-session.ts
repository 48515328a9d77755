/** An open connection: prepared statements, transactions, and checks before each commit. */
import { HelmdeckError } from "../../errors.ts";
import type { SqliteConnection, SqliteStatement, SqliteValue } from "./sqlite-driver.ts";
import { isBusy, isFailedSync } from "./sqlite-errors.ts";

/** SQLite's number for `PRAGMA synchronous = FULL`: the log is synced before a commit returns. */
const SYNCHRONOUS_FULL = 2;
/**
 * SQLite does not queue waiting processes. It retries after 1, 2, 5, 10, 15, 20 and then 25 ms (`sqliteDefaultBusyCallback`), and
 * from 128 ms on less and less often. So a waiting writer starts again before that.
 */
const FREQUENT_RETRY_MS = 100;
const BUSY_TIMEOUT_MS = 5_000;

export class SqliteSession {
  readonly connection: SqliteConnection;
  /** For messages. */
  readonly path: string;
  readonly #statements = new Map<string, SqliteStatement>();
  #busyTimeoutMs = 0;
  #failedSync: unknown;

  /** `busyTimeoutMs`: how long to wait for other processes. */
  constructor(connection: SqliteConnection, path: string, busyTimeoutMs = BUSY_TIMEOUT_MS) {
    this.connection = connection;
    this.path = path;
    this.#setBusyTimeout(busyTimeoutMs);
  }

  get busyTimeoutMs(): number {
    return this.#busyTimeoutMs;
  }

  /** SQLite's error when it could not sync the log or the database, in any call; undefined otherwise. */
  get failedSync(): unknown {
    return this.#failedSync;
  }

  /** Prepares each SQL text once, so texts must not contain values. */
  statement(sql: string): SqliteStatement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Call it after a change of the schema. */
  forgetStatements(): void {
    this.#statements.clear();
  }

  /** The current value of a pragma. Never cached: SQLite evaluates some pragmas when it prepares them. */
  pragma(name: string): SqliteValue | undefined {
    return Object.values(this.connection.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  }

  /** Everything that `work` reads is one consistent snapshot. */
  read<T>(work: () => T): T {
    this.statement("BEGIN").run();
    return this.#runInTransaction(work, "ROLLBACK"); // a commit would fail after a bad page
  }

  /** All of `work` or none of it, on stable storage when this returns. Waits for other writers within its patience. */
  write<T>(work: () => T): T {
    this.#beginToWrite();
    return this.#runInTransaction(() => {
      const result = work();
      this.#requireFullSync();
      return result;
    });
  }

  /** All of `work` or none of it, in a write transaction that goes on. */
  attempt<T>(work: () => T): T {
    this.statement("SAVEPOINT attempt").run();
    try {
      const result = work();
      this.statement("RELEASE attempt").run();
      return result;
    } catch (error) {
      if (this.connection.inTransaction) {
        this.statement("ROLLBACK TO attempt").run();
        this.statement("RELEASE attempt").run();
      }
      throw error;
    }
  }

  /** Runs `work` with a shorter wait for other processes, at most `mostMs`. */
  withBusyTimeout<T>(mostMs: number, work: () => T): T {
    const before = this.#busyTimeoutMs;
    this.#setBusyTimeout(Math.min(mostMs, before));
    try {
      return work();
    } catch (error) {
      this.#noteFailedSync(error);
      throw error;
    } finally {
      this.#setBusyTimeout(before);
    }
  }

  #setBusyTimeout(ms: number): void {
    this.#busyTimeoutMs = ms;
    this.connection.exec(`PRAGMA busy_timeout = ${Math.trunc(ms)}`);
  }

  #beginToWrite(): void {
    const until = performance.now() + this.#busyTimeoutMs;
    while (!this.#tryToBegin(until));
  }

  #tryToBegin(until: number): boolean {
    return this.withBusyTimeout(FREQUENT_RETRY_MS, () => {
      try {
        this.statement("BEGIN IMMEDIATE").run();
        return true;
      } catch (error) {
        if (isBusy(error) && performance.now() < until) return false;
        throw error;
      }
    });
  }

  #runInTransaction<T>(work: () => T, end = "COMMIT"): T {
    try {
      const result = work();
      this.statement(end).run();
      return result;
    } catch (error) {
      this.#noteFailedSync(error);
      // After some errors, such as a full disk, SQLite has already rolled back.
      if (this.connection.inTransaction) this.statement("ROLLBACK").run();
      throw error;
    }
  }

  #noteFailedSync(error: unknown): void {
    if (isFailedSync(error)) this.#failedSync ??= error;
  }

  /**
   * A library may be built to lower `synchronous` when the log is first used (better-sqlite3 is), which loses acknowledged writes
   * in a power cut. It is set at open; this verifies that it has not changed.
   */
  #requireFullSync(): void {
    const synchronous = this.pragma("synchronous");
    if (synchronous === SYNCHRONOUS_FULL) return;
    throw new HelmdeckError(
      "internal",
      `SQLite would not sync writes to ${this.path} (synchronous is ${String(synchronous)}).`,
      { details: { path: this.path }, unchanged: "Nothing was written." },
    );
  }
}
