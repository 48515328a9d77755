/**
 * Deletes expired entries and the names of empty subjects, subject by subject.
 *
 * The attacker can write the database and has no key. An expiry is a clear column, so each row must authenticate before it is
 * trusted: a row that does not is kept, and doctor reports it.
 */
import { isHelmdeckError } from "../../errors.ts";
import { ALL_COLUMNS } from "../fields.ts";
import type { UnixMs } from "../memory-store.ts";
import type { Namespace } from "../namespace.ts";
import { all } from "../sql/conditions.ts";
import { openRow } from "../stored-rows.ts";
import { ownedBy } from "./conditions.ts";
import type { Connection } from "./connection.ts";
import { selectEntries } from "./entry-rows.ts";
import { noteEnded, type Putting } from "./entry-writes.ts";
import { removeEntries } from "./removals.ts";
import { textOf } from "./sql.ts";
import type { WriteTransactions } from "./transactions.ts";
import type { Writing } from "./writing.ts";

const ROWS_AT_ONCE = 500;

type ReadingAll = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>;

/** Of subjects without entries, a while after their last one. Readers who saw more start over. */
export async function dropNames(transactions: WriteTransactions, readingAll: ReadingAll): Promise<void> {
  const empty = "SELECT owner FROM subjects WHERE entries = 0 ORDER BY owner";
  for (const row of await readingAll((connection) => connection.query(empty))) {
    const owner = textOf(row.owner) as Namespace; // always written as a namespace
    const dropping = transactions.write(
      [owner],
      async (writing) => {
        if (writing.of(owner).entries > 0) return;
        void writing.connection.query("DELETE FROM removals WHERE owner = ?", [row.owner ?? null]);
        await writing.connection.query("DELETE FROM subjects WHERE owner = ?", [row.owner ?? null]);
      },
      { numbers: 0 },
    );
    await dropping.catch(asNothing);
  }
}

/** Returns their number. Leaves a subject for whom somebody else writes to the next sweep. */
export async function sweepExpired(
  putting: Putting,
  transactions: WriteTransactions,
  until: UnixMs,
  readingAll: ReadingAll,
): Promise<number> {
  const sql = "SELECT DISTINCT owner FROM entries WHERE expires_at <= ? ORDER BY owner";
  const owners = await readingAll((connection) => connection.query(sql, [until]));
  let deleted = 0;
  for (const row of owners) {
    const owner = textOf(row.owner) as Namespace; // always written as a namespace
    for (let after: Place | undefined = FIRST; after !== undefined; ) {
      const from: Place = after;
      const sweeping = transactions.write(
        [owner],
        (writing) => sweepSome(putting, writing, owner, { until, after: from }),
        { numbers: 0 },
      );
      const swept = await sweeping.catch(asNothing);
      deleted += swept.rows;
      after = swept.after;
    }
  }
  return deleted;
}

function asNothing(error: unknown): { readonly rows: 0; readonly after: undefined } {
  if (isHelmdeckError(error, "store_locked")) return { rows: 0, after: undefined };
  throw error;
}

interface Place {
  readonly expiresAt: number;
  readonly seq: number;
}

const FIRST: Place = { expiresAt: Number.MIN_SAFE_INTEGER, seq: 0 };

async function sweepSome(
  putting: Putting,
  writing: Writing,
  owner: Namespace,
  { until, after }: { readonly until: UnixMs; readonly after: Place },
): Promise<{ readonly rows: number; readonly after: Place | undefined }> {
  const subject = writing.of(owner);
  const meant = all([
    ownedBy(owner),
    { sql: "expires_at <= ? AND (expires_at, seq) > (?, ?)", values: [until, after.expiresAt, after.seq] },
  ]);
  const rest = { sql: `ORDER BY expires_at, seq LIMIT ${ROWS_AT_ONCE}`, values: [] };
  const rows = await selectEntries(writing.connection, ALL_COLUMNS, meant, rest);
  const opened = rows.flatMap((row) => openRow(row, putting.sealer) ?? []);
  const ids = opened.map(({ id }) => id);
  const last = rows.at(-1);
  const isDone = rows.length < ROWS_AT_ONCE || last === undefined;
  const swept =
    ids.length === 0
      ? { rows: 0 }
      : await removeEntries(writing, subject, { sql: "id = ANY (?::text[])", values: [ids] }, putting);
  await noteEnded(putting, opened, writing, until);
  return {
    rows: swept.rows,
    after: isDone ? undefined : { expiresAt: Number(last.expires_at), seq: Number(last.seq) },
  };
}
