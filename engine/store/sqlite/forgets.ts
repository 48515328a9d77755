/**
 * Large deletes, in slices.
 *
 * The first short transaction records what is to be deleted: from then on no reader sees it (`conditions.ts`), and readers of the
 * change feed start over. Slices then erase it: in the process that began or, if that was killed, in the next one that opens the
 * store for writing. Entries that are written later are not affected.
 */
import { isExpired } from "../entry-rules.ts";
import type { EntryFilter, UnixMs } from "../memory-store.ts";
import { isWithin, type Namespace } from "../namespace.ts";
import { type Forget, restCondition, sessionsCondition } from "./conditions.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import { isSchemaMismatch } from "./sqlite-errors.ts";
import type { SqliteSession } from "./sqlite-session.ts";

/** How many finished deletes the change feed remembers. */
const KEPT_DONE = 8;
const ROWS_AT_ONCE = 500;

/** The deletes in progress, whose rows are hidden; call it in a transaction. */
export function pendingForgets(session: SqliteSession): readonly Forget[] {
  return rowsOf(session, "SELECT seq, filter FROM forgets WHERE is_pending").map(forgetOf);
}

/** Readers of this namespace that have not read up to this number start over; call it in a transaction. */
export function forgottenThrough(session: SqliteSession, namespace: Namespace): number {
  return rowsOf(session, "SELECT seq, filter FROM forgets")
    .map(forgetOf)
    .reduce((last, { seq, filter }) => (isWithin(namespace, filter) ? Math.max(last, seq) : last), 0);
}

/** The highest sequence number of a delete; call it in a transaction. */
export function lastForget(session: SqliteSession): number {
  return Number(rowsOf(session, "SELECT max(seq) AS seq FROM forgets")[0]?.seq);
}

/** Hides every row that matches now; call it in a write transaction. */
export function beginForget(session: SqliteSession, { seq, filter }: Forget): void {
  session
    .statement("INSERT INTO forgets (seq, filter, is_pending, deleted) VALUES (?, ?, 1, 0)")
    .run(seq, JSON.stringify(filter));
  session.statement("UPDATE store SET prunes = prunes + 1").run();
}

/** How many unexpired entries it has erased. */
export function deletedBy(session: SqliteSession, { seq }: Forget): number {
  return Number(session.statement("SELECT deleted FROM forgets WHERE seq = ?").get(seq)?.deleted);
}

/** One process's work on one delete; call each slice in a write transaction. */
export class ForgetRun {
  readonly #session: SqliteSession;
  readonly #forget: Forget;
  readonly #rows: Iterator<SqliteRow>;

  constructor(session: SqliteSession, forget: Forget) {
    this.#session = session;
    this.#forget = forget;
    this.#rows = this.#candidates();
  }

  /** Erases rows until `mayGoOn`, called after each, returns false. True when nothing is left, which is recorded. */
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

  /** Another process may have erased the row meanwhile. Returns 1 for an unexpired entry. */
  #erase({ seq = null }: SqliteRow, now: UnixMs): number {
    const gone = this.#session.statement("DELETE FROM entries WHERE seq = ? RETURNING expires_at").get(seq);
    if (gone === undefined) return 0;
    return typeof gone.expires_at === "number" && isExpired(gone.expires_at, now) ? 0 : 1;
  }

  /** Every row in every covered namespace, in the order of an index, so that no slice starts at the beginning. */
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

/** The filter may contain keys; the change feed only needs the namespace. */
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

/** None in a file of an older version, which can be read unchanged. */
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
