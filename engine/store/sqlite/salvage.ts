/**
 * Salvages rows of a damaged database, one by one, using every intact index.
 *
 * SQLite aborts a whole statement at the first bad page. So the row numbers are collected first, from the table and its indexes,
 * each as far as it goes, and then each row is read individually.
 */

import { ALL_COLUMNS, cellsOf } from "../fields.ts";
import { KeyRing, SealingKeys } from "../key-ring.ts";
import type { MasterKey } from "../master-key.ts";
import { type ClearColumns, Sealer } from "../sealing.ts";
import { openRow, parseColumns } from "../stored-rows.ts";
import { readingBytes } from "./read-bytes.ts";
import { INSERT_ROW } from "./schema.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import { isCorrupt } from "./sqlite-errors.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import { openSealer } from "./stored-keys.ts";

const ROWS_AT_ONCE = 500;
const TRIED_ROWS = 50;

/** The table and indexes that hold the row numbers. */
const SOURCES = {
  entries: ["NOT INDEXED", "INDEXED BY entries_by_change", "INDEXED BY entries_by_time"],
  vectors: ["NOT INDEXED", "INDEXED BY vectors_by_space"],
  history: ["NOT INDEXED", "INDEXED BY history_by_entry"],
} as const;
export type SalvagedTable = keyof typeof SOURCES;
export const SALVAGED_TABLES: readonly SalvagedTable[] = ["entries", "vectors", "history"];

/** The numbers of all rows that any source still knows, sorted; empty for a table that an older version lacks. */
export function numbersOf(session: SqliteSession, table: SalvagedTable): readonly number[] {
  const numbers = new Set<number>();
  for (const source of SOURCES[table]) collect(session, `${table} ${source}`, numbers);
  return [...numbers].sort((a, b) => a - b);
}

function collect(session: SqliteSession, source: string, numbers: Set<number>): void {
  try {
    const rows = session.connection.prepare(`SELECT rowid AS number FROM ${source}`);
    for (const { number } of rows.all()) numbers.add(Number(number));
  } catch {
    collectInParts(session, source, numbers);
  }
}

/** Reads as far as possible from both ends. */
function collectInParts(session: SqliteSession, source: string, numbers: Set<number>): void {
  for (const [comparison, order, from] of [
    [">", "ASC", Number.MIN_SAFE_INTEGER],
    ["<", "DESC", Number.MAX_SAFE_INTEGER],
  ] as const) {
    try {
      const part = session.connection.prepare(
        `SELECT rowid AS number FROM ${source} WHERE rowid ${comparison} ? ORDER BY rowid ${order} LIMIT ${ROWS_AT_ONCE}`,
      );
      for (let after: number = from, rows = part.all(after); rows.length > 0; rows = part.all(after)) {
        for (const { number } of rows) numbers.add(Number(number));
        after = Number(rows.at(-1)?.number);
      }
    } catch {
      // The rest is in another source, or lost.
    }
  }
}

const COLUMNS = {
  entries: ALL_COLUMNS,
  vectors:
    "entry_id, space, dimensions, sealed, (SELECT name FROM vector_spaces WHERE number = space) AS name",
  history: "number, entry_id, written_at, sealed",
} as const;

/** Undefined when the row is gone or unreadable. */
function readRow(session: SqliteSession, table: SalvagedTable, number: number): SqliteRow | undefined {
  try {
    return session
      .statement(`SELECT ${COLUMNS[table]} FROM ${table} NOT INDEXED WHERE rowid = ?`)
      .get(number);
  } catch (error) {
    if (isCorrupt(error)) return undefined;
    throw error;
  }
}

/** The columns of the time index. */
export const TIME_INDEX_COLUMNS = "seq, id, namespace, origin, category, updated_at, expires_at";

/**
 * Reads rows found in the time index, one by one if needed. An unreadable row has the index's columns only, without a sealed
 * value.
 */
export function readEach(session: SqliteSession, found: readonly SqliteRow[]): readonly SqliteRow[] {
  return found.map(
    (known) =>
      readRow(session, "entries", Number(known.seq)) ?? {
        ...known,
        key: keyIn(session, known),
        sealed: null,
      },
  );
}

/** Limits the loss to a bad page, instead of everything in a statement. */
export function orOneByOne<T>(atOnce: () => T, oneByOne: (error: unknown) => T): T {
  try {
    return atOnce();
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    return oneByOne(error);
  }
}

/** From the index of keys; empty when it is not there. */
function keyIn(session: SqliteSession, { seq = null, namespace = null, origin = null }: SqliteRow): string {
  try {
    const sql =
      "SELECT key FROM entries INDEXED BY sqlite_autoindex_entries_2 WHERE namespace = ? AND origin = ? AND +seq = ?";
    return `${session.statement(sql).get(namespace, origin, seq)?.key ?? ""}`;
  } catch {
    return "";
  }
}

/** Like `openSealer`; when the store's own row is unreadable, tries the candidate ids and uses the one that opens rows. */
export function salvageSealer(
  session: SqliteSession,
  key: MasterKey,
  possibleIds: () => Iterable<string>,
): Sealer {
  try {
    return openSealer(session, key);
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    const tried = numbersOf(session, "entries").slice(0, TRIED_ROWS);
    for (const id of new Set(possibleIds())) {
      const ring = KeyRing.open(key, { check: new SealingKeys(key).check, storeId: Buffer.from(id, "hex") });
      const sealer = ring && new Sealer({ ring });
      if (sealer === undefined) continue;
      const opens = (number: number): boolean => {
        const row = readRow(session, "entries", number);
        return row !== undefined && openRow(row, sealer) !== undefined;
      };
      if (tried.some(opens)) return sealer;
    }
    throw error;
  }
}

const ID_BYTES = 16;
/** Between the key check and the id: three numbers of up to 8 bytes each. */
const LARGEST_GAP = 24;
const CHUNK_BYTES = 1_048_576;

/** Candidate store ids in a damaged file: the bytes behind each copy of the key's check. */
export function* storeIdsIn(path: string, key: MasterKey): Generator<string> {
  const { check } = new SealingKeys(key);
  const reach = check.byteLength + LARGEST_GAP + ID_BYTES;
  const chunkAt = (at: number): Buffer => readingBytes(path, (read) => read(at, CHUNK_BYTES + reach));
  for (let at = 0, chunk = chunkAt(at); chunk.length > 0; at += CHUNK_BYTES, chunk = chunkAt(at)) {
    for (let found = chunk.indexOf(check); found !== -1; found = chunk.indexOf(check, found + 1)) {
      const behind = chunk.subarray(found + check.byteLength, found + reach);
      for (let gap = 0; gap + ID_BYTES <= behind.length; gap++)
        yield behind.toString("hex", gap, gap + ID_BYTES);
    }
  }
}

export interface RowName {
  readonly table: SalvagedTable;
  readonly number: number;
}

/** Writes a row that opens into another store. */
export type Salvaged = (session: SqliteSession, sealer: Sealer) => void;

const NOBODY: Salvaged = () => undefined;

/**
 * Opens one row of a damaged database, and writes it into a new one, resealed.
 *
 * A function that writes the row elsewhere; or its claimed identity, if it does not open.
 */
export function openOne(
  session: SqliteSession,
  sealer: Sealer,
  { table, number }: RowName,
): Salvaged | { readonly key?: string; readonly namespace?: string } {
  const row = readRow(session, table, number);
  if (row === undefined) return {};
  switch (table) {
    case "entries":
      return openEntry(sealer, row) ?? { key: `${row.key}`, namespace: `${row.namespace}` };
    case "vectors":
      return openVectors(session, sealer, row) ?? {};
    case "history":
      return openHistory(sealer, row) ?? {};
  }
}

function openEntry(sealer: Sealer, row: SqliteRow): Salvaged | undefined {
  const columns = parseColumns(row);
  if (columns === undefined || !(row.sealed instanceof Uint8Array)) return undefined;
  const content = sealer.open(columns, row.sealed);
  if (content === undefined) return undefined;
  return (made, anew) => {
    const right = { ...columns, digest: anew.digest(columns.id, content.value) };
    removeOlder(made, columns);
    made.statement(INSERT_ROW).run(...cellsOf(right, anew.seal(right, content)));
  };
}

/** A damaged database may hold an entry twice, in an old and a new version; rows that are written later are newer. */
function removeOlder(made: SqliteSession, { id, namespace, origin, key }: ClearColumns): void {
  made
    .statement("DELETE FROM entries WHERE id = ? OR (namespace = ? AND origin = ? AND key = ?)")
    .run(id, namespace, origin, key);
}

function openVectors(session: SqliteSession, sealer: Sealer, row: SqliteRow): Salvaged | undefined {
  const { entry_id: id, dimensions, name, sealed } = row;
  const owner = ownerOf(session, id);
  if (owner === undefined) return NOBODY; // useless without their entry
  if (typeof id !== "string" || typeof dimensions !== "number" || !(sealed instanceof Uint8Array))
    return undefined;
  const beside = { space: `${name}`, dimensions, id, namespace: owner.namespace };
  const content = sealer.openVectors({ ...beside, digest: owner.digest }, sealed);
  if (content === undefined) return undefined;
  return (made, anew) => {
    const digest = ownerOf(made, id)?.digest;
    if (digest === undefined) return;
    made.statement("INSERT OR IGNORE INTO vector_spaces (name) VALUES (?)").run(beside.space);
    made
      .statement(
        "INSERT OR REPLACE INTO vectors (entry_id, space, dimensions, sealed) SELECT ?, number, ?, ? FROM vector_spaces WHERE name = ?",
      )
      .run(id, dimensions, anew.sealVectors({ ...beside, digest }, content), beside.space);
  };
}

function ownerOf(
  session: SqliteSession,
  id: unknown,
): { readonly namespace: string; readonly digest: Uint8Array } | undefined {
  if (typeof id !== "string") return undefined;
  try {
    const row = session.statement("SELECT namespace, digest FROM entries WHERE id = ?").get(id);
    return row?.digest instanceof Uint8Array
      ? { namespace: `${row.namespace}`, digest: row.digest }
      : undefined;
  } catch {
    return undefined;
  }
}

function openHistory(sealer: Sealer, row: SqliteRow): Salvaged | undefined {
  const { number, entry_id: entryId, written_at: writtenAt, sealed } = row;
  if (typeof number !== "number" || typeof entryId !== "string" || typeof writtenAt !== "number")
    return undefined;
  const columns = { number, entryId, writtenAt };
  const content = sealed instanceof Uint8Array ? sealer.openHistory(columns, sealed) : undefined;
  if (content === undefined) return undefined;
  return (made, anew) => {
    made
      .statement(
        "INSERT OR REPLACE INTO history (number, entry_id, written_at, sealed) SELECT ?, id, ?, ? FROM entries WHERE id = ?",
      )
      .run(number, writtenAt, anew.sealHistory(columns, content), entryId);
  };
}
