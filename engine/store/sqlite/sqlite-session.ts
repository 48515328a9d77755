/** One open connection: its prepared statements, its transactions, and what it insists on before a commit. */
import { HelmdeckError } from "../../errors.ts";
import type { SqliteConnection, SqliteStatement, SqliteValue } from "./sqlite-driver.ts";
import { isFailedSync } from "./sqlite-errors.ts";

/** `PRAGMA synchronous` as SQLite numbers it: the log is synced before a commit returns. */
const SYNCHRONOUS_FULL = 2;

export class SqliteSession {
  readonly connection: SqliteConnection;
  /** For messages. */
  readonly path: string;
  readonly #statements = new Map<string, SqliteStatement>();
  #failedSync: unknown;

  constructor(connection: SqliteConnection, path: string) {
    this.connection = connection;
    this.path = path;
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
    return this.#transact("BEGIN", work, "ROLLBACK"); // a commit would fail after a bad page was met
  }

  /** All of `work` or none of it, on stable storage when this returns. Waits for other writers up to the busy timeout. */
  write<T>(work: () => T): T {
    return this.#transact("BEGIN IMMEDIATE", () => {
      const result = work();
      this.#requireFullSync();
      return result;
    });
  }

  /** Runs `work` waiting for other processes no longer than `patienceMs`, and as long as `busyTimeoutMs` again after it. */
  patiently<T>(patienceMs: number, busyTimeoutMs: number, work: () => T): T {
    this.connection.exec(`PRAGMA busy_timeout = ${Math.trunc(Math.min(patienceMs, busyTimeoutMs))}`);
    try {
      return work();
    } catch (error) {
      this.#note(error);
      throw error;
    } finally {
      this.connection.exec(`PRAGMA busy_timeout = ${Math.trunc(busyTimeoutMs)}`);
    }
  }

  #transact<T>(begin: string, work: () => T, end = "COMMIT"): T {
    this.statement(begin).run();
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
