/** The rows of histories: sealed with their fact's id, and deleted with the fact's row. */
import type { FoundFormer } from "../../rules/history.ts";
import type { HistoryChange } from "../../rules/plans.ts";
import type { FormerValue } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import { type FormerRow, openFormer, parseTags, sealFormer } from "../stored-rows.ts";
import type { Condition } from "./conditions.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import { isSchemaMismatch } from "./sqlite-errors.ts";
import type { SqliteSession } from "./sqlite-session.ts";

const COLUMNS = "number, entry_id, written_at, history.sealed";

interface Parts {
  readonly session: SqliteSession;
  readonly sealer: Sealer;
}

/** A fact's history, oldest first, without rows that do not open; empty in a file of an older version. */
export function readFormer({ session, sealer }: Parts, entryId: string): readonly FormerRow[] {
  const select = `SELECT ${COLUMNS} FROM history WHERE entry_id = ? ORDER BY number`;
  const rows = orNone(() => session.statement(select).all(entryId));
  return rows.flatMap((row) => openFormer(row, sealer) ?? []);
}

/** Writes the change of a fact's history; call it in a write transaction. */
export function writeFormer(
  { session, sealer }: Parts,
  entryId: string,
  { gone, added }: HistoryChange<FormerRow>,
): void {
  const remove = session.statement("DELETE FROM history WHERE entry_id = ? AND number = ?");
  for (const { number } of gone) remove.run(entryId, number);
  for (const former of added) insertFormer({ session, sealer }, entryId, former);
}

export interface FoundRow extends FoundFormer {
  readonly number: number;
  /** Whether the fact matches the query; only then, the value is opened. */
  readonly isMeant: boolean;
}

const FOUND = `${COLUMNS}, seq AS fact_seq, entries.key AS fact_key, entries.category AS fact_category, entries.tags AS fact_tags`;

/** The next rows of all histories after a number; opens only those of matching facts. */
export function formerAfter(
  { session, sealer }: Parts,
  after: number,
  most: number,
  { sql, values }: Condition,
): readonly FoundRow[] {
  const select = `SELECT ${FOUND}, (${sql}) AS is_meant FROM history LEFT JOIN entries ON entries.id = entry_id
    WHERE number > ? ORDER BY number LIMIT ?`;
  return orNone(() => session.statement(select).all(...values, after, most)).map((row) =>
    foundIn(row, sealer),
  );
}

/** The histories of matching facts that were written after this number. */
export function formerOfWritten(
  { session, sealer }: Parts,
  seq: number,
  { sql, values }: Condition,
): readonly FoundRow[] {
  const select = `SELECT ${FOUND}, 1 AS is_meant FROM entries CROSS JOIN history ON entry_id = entries.id
    WHERE seq > ? AND ${sql}`;
  return session
    .statement(select)
    .all(seq, ...values)
    .map((row) => foundIn(row, sealer));
}

function foundIn(row: SqliteRow, sealer: Sealer): FoundRow {
  const isMeant = row.is_meant === 1;
  return {
    number: Number(row.number),
    former: isMeant ? openFormer(row, sealer) : undefined,
    isMeant,
    of: {
      revision: Number(row.fact_seq),
      key: `${row.fact_key}`,
      category: `${row.fact_category}`,
      tags: parseTags(`${row.fact_tags}`),
    },
  };
}

/** A file of an older version, which can be read unchanged, has no histories. */
function orNone(read: () => readonly SqliteRow[]): readonly SqliteRow[] {
  try {
    return read();
  } catch (error) {
    if (isSchemaMismatch(error)) return [];
    throw error;
  }
}

function insertFormer({ session, sealer }: Parts, entryId: string, former: FormerValue): void {
  const number = Number(session.statement("SELECT coalesce(max(number), 0) + 1 AS n FROM history").get()?.n);
  session
    .statement("INSERT INTO history (number, entry_id, written_at, sealed) VALUES (?, ?, ?, ?)")
    .run(number, entryId, former.updatedAt, sealFormer(former, { number, entryId }, sealer));
}

/** Drops a subject's oldest former value to make room; false when there is none. */
export function dropOldestFormer(session: SqliteSession, owner: Condition): boolean {
  const oldest = `SELECT number FROM history CROSS JOIN entries ON entries.id = entry_id WHERE ${owner.sql} ORDER BY number LIMIT 1`;
  const sql = `DELETE FROM history WHERE number = (${oldest}) RETURNING number`;
  return session.statement(sql).get(...owner.values) !== undefined;
}
