/** The rows of histories: each beside its fact's id, which it is sealed with, and gone with the fact's row. */
import { decodeFormer, encodeFormer } from "../former-content.ts";
import type { FormerKey, FormerValue } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import { parseTags } from "../stored-rows.ts";
import type { Condition } from "./conditions.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import { isSchemaMismatch } from "./sqlite-errors.ts";
import type { SqliteSession } from "./sqlite-session.ts";

const COLUMNS = "number, entry_id, written_at, history.sealed";

/** One that was read from its row. */
interface FormerRow extends FormerValue {
  readonly number: number;
}

interface Parts {
  readonly session: SqliteSession;
  readonly sealer: Sealer;
}

/** Of one fact, the oldest first, without what does not open; none in a file that an older program made. */
export function readFormer({ session, sealer }: Parts, entryId: string): readonly FormerRow[] {
  const select = `SELECT ${COLUMNS} FROM history WHERE entry_id = ? ORDER BY number`;
  const rows = orNone(() => session.statement(select).all(entryId));
  return rows.flatMap((row) => openFormer(sealer, row) ?? []);
}

/**
 * Makes it the history of a fact, of which `before` has been read; to be called in a write transaction. Rows that stay are left as
 * they are, but for those that are sealed under a key that is on its way out.
 */
export function writeFormer(
  { session, sealer }: Parts,
  entryId: string,
  before: readonly FormerValue[],
  history: readonly FormerValue[],
): void {
  const isKept = (former: FormerValue): boolean => before.includes(former);
  const staying = sealer.ring.former === undefined ? history.findIndex((former) => !isKept(former)) : 0;
  const stay = staying === -1 ? history : history.slice(0, staying);
  const remove = session.statement("DELETE FROM history WHERE entry_id = ? AND number = ?");
  for (const former of before) {
    if ("number" in former && !stay.includes(former)) remove.run(entryId, Number(former.number));
  }
  for (const former of history.slice(stay.length)) insertFormer({ session, sealer }, entryId, former);
}

/** A former value, and the fact whose history it is in. */
export interface FoundFormer {
  readonly number: number;
  /** Undefined for one that does not open, or is not asked for. */
  readonly former: FormerValue | undefined;
  /** The fact is among those that are asked for. */
  readonly isMeant: boolean;
  readonly of: FormerKey["of"];
}

const FOUND = `${COLUMNS}, entries.key AS fact_key, entries.category AS fact_category, entries.tags AS fact_tags`;

/** The next so many of all histories after a number; only those of facts that are meant are opened. */
export function formerAfter(
  { session, sealer }: Parts,
  after: number,
  most: number,
  { sql, values }: Condition,
): readonly FoundFormer[] {
  const select = `SELECT ${FOUND}, (${sql}) AS is_meant FROM history LEFT JOIN entries ON entries.id = entry_id
    WHERE number > ? ORDER BY number LIMIT ?`;
  return orNone(() => session.statement(select).all(...values, after, most)).map((row) =>
    foundIn(row, sealer),
  );
}

/** Of all facts that are meant and were written after this number. */
export function formerOfWritten(
  { session, sealer }: Parts,
  seq: number,
  { sql, values }: Condition,
): readonly FoundFormer[] {
  const select = `SELECT ${FOUND}, 1 AS is_meant FROM entries CROSS JOIN history ON entry_id = entries.id
    WHERE seq > ? AND ${sql}`;
  return session
    .statement(select)
    .all(seq, ...values)
    .map((row) => foundIn(row, sealer));
}

function foundIn(row: SqliteRow, sealer: Sealer): FoundFormer {
  const isMeant = row.is_meant === 1;
  return {
    number: Number(row.number),
    former: isMeant ? openFormer(sealer, row) : undefined,
    isMeant,
    of: { key: `${row.fact_key}`, category: `${row.fact_category}`, tags: parseTags(`${row.fact_tags}`) },
  };
}

/** A file that an older program made, which may be read as it is, has no histories. */
function orNone(read: () => readonly SqliteRow[]): readonly SqliteRow[] {
  try {
    return read();
  } catch (error) {
    if (isSchemaMismatch(error)) return [];
    throw error;
  }
}

function openFormer(sealer: Sealer, row: SqliteRow): FormerRow | undefined {
  const { number, entry_id: entryId, written_at: writtenAt, sealed } = row;
  if (typeof number !== "number" || typeof entryId !== "string" || typeof writtenAt !== "number")
    return undefined;
  const content =
    sealed instanceof Uint8Array ? sealer.openHistory({ number, entryId, writtenAt }, sealed) : undefined;
  const former = content && decodeFormer(content, writtenAt);
  return former && { ...former, number };
}

function insertFormer({ session, sealer }: Parts, entryId: string, former: FormerValue): void {
  const number = Number(session.statement("SELECT coalesce(max(number), 0) + 1 AS n FROM history").get()?.n);
  const writtenAt = former.updatedAt;
  session
    .statement("INSERT INTO history (number, entry_id, written_at, sealed) VALUES (?, ?, ?, ?)")
    .run(
      number,
      entryId,
      writtenAt,
      sealer.sealHistory({ number, entryId, writtenAt }, encodeFormer(former)),
    );
}

/** The oldest of a subject's, to make room; false when there is none. */
export function dropOldestFormer(session: SqliteSession, owner: Condition): boolean {
  const oldest = `SELECT number FROM history CROSS JOIN entries ON entries.id = entry_id WHERE ${owner.sql} ORDER BY number LIMIT 1`;
  const sql = `DELETE FROM history WHERE number = (${oldest}) RETURNING number`;
  return session.statement(sql).get(...owner.values) !== undefined;
}
