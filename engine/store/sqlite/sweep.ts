/**
 * Deletes expired entries, in slices.
 *
 * The attacker can write the file and has no key. An expiry is a clear column, so each row must authenticate before it is
 * trusted: a row that does not is kept, and doctor and `verify` report it.
 */
import type { UnixMs } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import { ALL_COLUMNS, openRow } from "../stored-rows.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import type { SqliteSession } from "./sqlite-session.ts";

const ROWS_AT_ONCE = 100;

export class SweepRun {
  readonly #session: SqliteSession;
  readonly #sealer: Sealer;
  #after: readonly [expiresAt: number, seq: number] = [Number.MIN_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
  #deleted = 0;

  constructor(session: SqliteSession, sealer: Sealer) {
    this.#session = session;
    this.#sealer = sealer;
  }

  /** Rows so far. */
  get deleted(): number {
    return this.#deleted;
  }

  /** Deletes until `mayGoOn` returns false; true when nothing is left. Call it in a write transaction. */
  slice(mayGoOn: () => boolean, until: UnixMs, remove: (row: SqliteRow) => void): boolean {
    const select = this.#session.statement(
      `SELECT ${ALL_COLUMNS} FROM entries WHERE expires_at <= ? AND (expires_at, seq) > (?, ?)
       ORDER BY expires_at, seq LIMIT ${ROWS_AT_ONCE}`,
    );
    for (;;) {
      const rows = select.all(until, ...this.#after);
      for (const row of rows) {
        this.#after = [Number(row.expires_at), Number(row.seq)];
        if (openRow(row, this.#sealer) !== undefined) {
          remove(row);
          this.#deleted += 1;
        }
        if (!mayGoOn()) return false;
      }
      if (rows.length < ROWS_AT_ONCE) return true;
    }
  }
}
