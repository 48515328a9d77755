/** One open connection: its prepared statements, its transactions, and what it insists on before a commit. */
import { HelmdeckError } from "../../errors.ts";
import type { SqliteConnection, SqliteStatement, SqliteValue } from "./sqlite-driver.ts";
import { isBusy, isFailedSync } from "./sqlite-errors.ts";

/** `PRAGMA synchronous` as SQLite numbers it: the log is synced before a commit returns. */
const SYNCHRONOUS_FULL = 2;
/**
 * SQLite queues nobody who waits for the lock. It looks after 1, 2, 5, 10, 15, 20 and then 25 ms (`sqliteDefaultBusyCallback`), and
 * less and less often from 128 ms on. So whoever waits to write begins anew before that.
 */
const LOOKS_OFTEN_MS = 100;
const BUSY_TIMEOUT_MS = 5_000;

export class SqliteSession {
  readonly connection: SqliteConnection;
  /** For messages. */
  readonly path: string;
  readonly #statements = new Map<string, SqliteStatement>();
  #patienceMs = 0;
  #failedSync: unknown;

  /** `patienceMs`: how long it waits for other processes. */
  constructor(connection: SqliteConnection, path: string, patienceMs = BUSY_TIMEOUT_MS) {
    this.connection = connection;
    this.path = path;
    this.#setPatience(patienceMs);
  }

  get patienceMs(): number {
    return this.#patienceMs;
  }

  /** What SQLite said when it could not sync the log or the database, by whoever's call; undefined while it could. */
  get failedSync(): unknown {
    return this.#failedSync;
  }

  /** Prepared once for each text, so texts must not hold values. */
  statement(sql: string): SqliteStatement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** After a change of the schema. */
  forgetStatements(): void {
    this.#statements.clear();
  }

  /** The present value of a pragma that has one. Never cached: SQLite settles some values when it prepares. */
  pragma(name: string): SqliteValue | undefined {
    return Object.values(this.connection.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  }

  /** Everything that `work` reads is of one moment. */
  read<T>(work: () => T): T {
    this.statement("BEGIN").run();
    return this.#carryOut(work, "ROLLBACK"); // a commit would fail after a bad page was met
  }

  /** All of `work` or none of it, on stable storage when this returns. Waits for other writers as long as it has patience. */
  write<T>(work: () => T): T {
    this.#beginToWrite();
    return this.#carryOut(() => {
      const result = work();
      this.#requireFullSync();
      return result;
    });
  }

  /** Runs `work` waiting for other processes no longer than `mostMs`, and as long as before again after it. */
  patiently<T>(mostMs: number, work: () => T): T {
    const before = this.#patienceMs;
    this.#setPatience(Math.min(mostMs, before));
    try {
      return work();
    } catch (error) {
      this.#note(error);
      throw error;
    } finally {
      this.#setPatience(before);
    }
  }

  #setPatience(ms: number): void {
    this.#patienceMs = ms;
    this.connection.exec(`PRAGMA busy_timeout = ${Math.trunc(ms)}`);
  }

  #beginToWrite(): void {
    const until = performance.now() + this.#patienceMs;
    while (!this.#triesToBegin(until));
  }

  #triesToBegin(until: number): boolean {
    return this.patiently(LOOKS_OFTEN_MS, () => {
      try {
        this.statement("BEGIN IMMEDIATE").run();
        return true;
      } catch (error) {
        if (isBusy(error) && performance.now() < until) return false;
        throw error;
      }
    });
  }

  #carryOut<T>(work: () => T, end = "COMMIT"): T {
    try {
      const result = work();
      this.statement(end).run();
      return result;
    } catch (error) {
      this.#note(error);
      // SQLite has already rolled back after some errors, such as a full disk.
      if (this.connection.inTransaction) this.statement("ROLLBACK").run();
      throw error;
    }
  }

  #note(error: unknown): void {
    if (isFailedSync(error)) this.#failedSync ??= error;
  }

  /**
   * A library may be built to lower `synchronous` by itself when the log is first used (better-sqlite3 is), which loses
   * acknowledged writes in a power cut. It is set at open; this makes sure that it has stayed so.
   */
  #requireFullSync(): void {
    const synchronous = this.pragma("synchronous");
    if (synchronous === SYNCHRONOUS_FULL) return;
    throw new HelmdeckError(
      "internal",
      `SQLite would not sync writes to ${this.path} (synchronous is ${String(synchronous)}), so nothing was written.`,
      { details: { path: this.path } },
    );
  }
}
