/** The rows of histories: sealed with their fact's id, and deleted with the fact's row. */
import {
  type FoundFormer,
  formerCursor,
  formerKeyOf,
  historyWithout,
  isCoveredAlone,
  mayCoverFormer,
} from "../../rules/history.ts";
import { type HistoryChange, historyChange } from "../../rules/plans.ts";
import type { EntryFilter, FormerKeysPage, FormerKeysQuery, FormerValue } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import { all } from "../sql/conditions.ts";
import { type FormerRow, openFormer, parseTags, sealFormer } from "../stored-rows.ts";
import {
  type Condition,
  liveCondition,
  type Moment,
  namespaceCondition,
  ownerCondition,
} from "./conditions.ts";
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
  readonly entryId: string;
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
function formerOfWritten(
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
    entryId: `${row.entry_id}`,
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

const ROWS_AT_ONCE = 200;

interface CoveredParts {
  readonly session: SqliteSession;
  readonly sealer: Sealer;
}

/**
 * Finds former values by their names: lists them, and erases those that a scope covers from the histories of remaining facts.
 *
 * Their names are sealed, so every history is opened, in slices. Histories that were written meanwhile are checked again by the
 * transaction that deletes the entries; after that, no covered value can enter a history.
 *
 * Call it in a read transaction.
 */
export function readFormerKeys(
  parts: CoveredParts,
  { namespace, cursor }: FormerKeysQuery,
  moment: Moment,
): FormerKeysPage {
  const meant = all([namespaceCondition(namespace), liveCondition(moment)]);
  const after = cursor === undefined ? Number.MIN_SAFE_INTEGER : formerCursor(cursor);
  const rows = formerAfter(parts, after, ROWS_AT_ONCE, meant);
  const keys = rows.flatMap(formerKeyOf);
  const last = rows.at(-1);
  return rows.length < ROWS_AT_ONCE || last === undefined ? { keys } : { keys, nextCursor: `${last.number}` };
}

/** One pass over all histories. */
export class CoveredRun {
  readonly #parts: CoveredParts;
  readonly #filter: EntryFilter;
  #after = Number.MIN_SAFE_INTEGER;
  /** The last sequence number when the slices began. */
  #since: number | undefined;
  #erased = 0;
  readonly #newer = new Set<string>();

  constructor(parts: CoveredParts, filter: EntryFilter) {
    this.#parts = parts;
    this.#filter = filter;
  }

  /** Former values erased so far. */
  get erased(): number {
    return this.#erased;
  }

  /** Keys of facts that were written after the filter's bound, so that covered values stay in their histories. */
  get newer(): readonly string[] {
    return [...this.#newer];
  }

  /** Runs a transaction; one that fails has erased nothing. */
  attempt<T>(transaction: () => T): T {
    const [after, erased] = [this.#after, this.#erased];
    try {
      return transaction();
    } catch (error) {
      [this.#after, this.#erased] = [after, erased];
      throw error;
    }
  }

  /** Erases until `mayGoOn` returns false; returns true when nothing is left. Call it in a write transaction. */
  slice(mayGoOn: () => boolean, lastSeq: number): boolean {
    this.#since ??= lastSeq;
    for (;;) {
      const rows = this.#next();
      for (const row of rows) {
        this.#erase(row);
        if (!mayGoOn()) return false;
      }
      if (rows.length < ROWS_AT_ONCE) return true;
    }
  }

  /**
   * Checks all histories if there are few, or those written since the slices began; call it in the transaction that deletes
   * entries. Returns false, having done nothing, when there are many and no slices ran.
   */
  finish(): boolean {
    if (!mayCoverFormer(this.#filter)) return true;
    const rows =
      this.#since === undefined
        ? this.#next()
        : formerOfWritten(this.#parts, this.#since, ownerCondition(this.#filter));
    if (this.#since === undefined && rows.length === ROWS_AT_ONCE) return false;
    for (const row of rows) this.#erase(row);
    return true;
  }

  #next(): readonly FoundRow[] {
    return formerAfter(this.#parts, this.#after, ROWS_AT_ONCE, ownerCondition(this.#filter));
  }

  /** With the other covered values of its history, whose rows are written again if they must. */
  #erase(found: FoundRow): void {
    const { number, entryId, isMeant, of, former } = found;
    this.#after = number;
    if (!isMeant || !isCoveredAlone(found, this.#filter)) return;
    const { upTo = of.revision } = this.#filter;
    if (of.revision > upTo) {
      this.#newer.add(of.key);
      return;
    }
    if (former === undefined) {
      this.#parts.session.statement("DELETE FROM history WHERE number = ?").run(number);
      this.#erased += 1;
      return;
    }
    const before = readFormer(this.#parts, entryId);
    const after = historyWithout(before, (one) => isCoveredAlone({ former: one, of }, this.#filter));
    writeFormer(this.#parts, entryId, historyChange(before, after));
    this.#erased += before.length - after.length;
  }
}
