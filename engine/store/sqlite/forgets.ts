/**
 * Forgetting much, in slices.
 *
 * It begins with one short transaction that writes down what is meant: from then on no reader sees any of it (`conditions.ts`),
 * and readers of the change feed start over. Slices then erase it: those of the process that began, or where that was killed, of
 * the next one that opens the store to write. What is written after the beginning is not meant.
 */
import { isExpired } from "../entry-rules.ts";
import type { EntryFilter, UnixMs } from "../memory-store.ts";
import { isWithin, type Namespace } from "../namespace.ts";
import { type Forget, restCondition, sessionsCondition } from "./conditions.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import { isSchemaMismatch } from "./sqlite-errors.ts";
import type { SqliteSession } from "./sqlite-session.ts";

/** The change feed remembers so many that are done. */
const KEPT_DONE = 8;
const ROWS_AT_ONCE = 500;

/** What is hidden now; to be called in a transaction. */
export function pendingForgets(session: SqliteSession): readonly Forget[] {
  return rowsOf(session, "SELECT seq, filter FROM forgets WHERE is_pending").map(forgetOf);
}

/** Readers of this namespace who have not read up to here start over; to be called in a transaction. */
export function forgottenThrough(session: SqliteSession, namespace: Namespace): number {
  return rowsOf(session, "SELECT seq, filter FROM forgets")
    .map(forgetOf)
    .reduce((last, { seq, filter }) => (isWithin(namespace, filter) ? Math.max(last, seq) : last), 0);
}

/** The highest number that a forget has taken; to be called in a transaction. */
export function lastForget(session: SqliteSession): number {
  return Number(rowsOf(session, "SELECT max(seq) AS seq FROM forgets")[0]?.seq);
}

/** Hides all that matches and is there by now; to be called in a write transaction. */
export function beginForget(session: SqliteSession, { seq, filter }: Forget): void {
  session
    .statement("INSERT INTO forgets (seq, filter, is_pending, deleted) VALUES (?, ?, 1, 0)")
    .run(seq, JSON.stringify(filter));
  session.statement("UPDATE store SET prunes = prunes + 1").run();
}

/** How many entries it has erased that had not expired. */
export function deletedBy(session: SqliteSession, { seq }: Forget): number {
  return Number(session.statement("SELECT deleted FROM forgets WHERE seq = ?").get(seq)?.deleted);
}

/** One process's work on one forget; each slice is to be called in a write transaction. */
export class ForgetRun {
  readonly #session: SqliteSession;
  readonly #forget: Forget;
  readonly #rows: Iterator<SqliteRow>;

  constructor(session: SqliteSession, forget: Forget) {
    this.#session = session;
    this.#forget = forget;
    this.#rows = this.#candidates();
  }

  /** Erases rows until it may not go on, which it asks after each. True when nothing is left, and that is written down. */
  slice(mayGoOn: () => boolean, now: UnixMs): boolean {
    let deleted = 0;
    let isDone = false;
    do {
      const { value, done } = this.#rows.next();
      isDone = done === true;
      if (value?.is_meant === 1) deleted += this.#erase(value, now);
    } while (!isDone && mayGoOn());
    const { seq } = this.#forget;
    this.#session.statement("UPDATE forgets SET deleted = deleted + ? WHERE seq = ?").run(deleted, seq);
    if (isDone) endForget(this.#session, this.#forget);
    return isDone;
  }

  /** Another process may have taken the row since it was looked at. 1 for an entry that had not expired. */
  #erase({ seq = null }: SqliteRow, now: UnixMs): number {
    const gone = this.#session.statement("DELETE FROM entries WHERE seq = ? RETURNING expires_at").get(seq);
    if (gone === undefined) return 0;
    return typeof gone.expires_at === "number" && isExpired(gone.expires_at, now) ? 0 : 1;
  }

  /** Every row of every namespace that is meant, in the order of an index, so that no slice begins at the beginning. */
  *#candidates(): Generator<SqliteRow, undefined> {
    const { seq, filter } = this.#forget;
    const rest = restCondition(filter);
    const select = this.#session.statement(
      `SELECT seq, (${rest.sql}) AS is_meant FROM entries INDEXED BY entries_by_change
       WHERE namespace = ? AND seq > ? AND seq < ? ORDER BY seq LIMIT ${ROWS_AT_ONCE}`,
    );
    for (let namespace: string | undefined = filter.namespace; namespace !== undefined; ) {
      let rows: readonly SqliteRow[] = [];
      do {
        const after = Number(rows.at(-1)?.seq ?? Number.MIN_SAFE_INTEGER);
        rows = select.all(...rest.values, namespace, after, seq);
        yield* rows;
      } while (rows.length > 0);
      namespace = filter.includeSessions === true ? this.#sessionAfter(namespace) : undefined;
    }
  }

  #sessionAfter(namespace: string): string | undefined {
    const { sql, values } = sessionsCondition(this.#forget.filter);
    const next = this.#session
      .statement(`SELECT min(namespace) AS namespace FROM entries WHERE ${sql} AND namespace > ?`)
      .get(...values, namespace)?.namespace;
    return typeof next === "string" ? next : undefined;
  }
}

/** What was meant may name keys; whose it was is all that the change feed goes by. */
function endForget(session: SqliteSession, { seq, filter }: Forget): void {
  const { namespace, includeSessions = false } = filter;
  session
    .statement("UPDATE forgets SET is_pending = 0, filter = ? WHERE seq = ?")
    .run(JSON.stringify({ namespace, includeSessions }), seq);
  const old = session
    .statement(`SELECT seq FROM forgets WHERE NOT is_pending ORDER BY seq DESC LIMIT 1 OFFSET ${KEPT_DONE}`)
    .get()?.seq;
  if (old === undefined) return;
  session.statement("DELETE FROM forgets WHERE seq <= ? AND NOT is_pending").run(old);
  session.statement("UPDATE store SET pruned_through = max(pruned_through, ?), prunes = prunes + 1").run(old);
}

/** None in a file that an older program made, which may be read as it is. */
function rowsOf(session: SqliteSession, sql: string): readonly SqliteRow[] {
  try {
    return session.statement(sql).all();
  } catch (error) {
    if (isSchemaMismatch(error)) return [];
    throw error;
  }
}

function forgetOf({ seq, filter }: SqliteRow): Forget {
  return { seq: Number(seq), filter: JSON.parse(`${filter}`) as EntryFilter }; // only ever written by us
}
