/** Reads and writes the row of an entry. */

import { createHash } from "node:crypto";
import { associatedData } from "../envelope.ts";
import { cellsOf, ENTRY_COLUMNS, placesFor } from "../fields.ts";
import type { EntryRef, Origin } from "../memory-store.ts";
import type { Cell } from "../moving/movable-store.ts";
import { type Namespace, ownerOf } from "../namespace.ts";
import type { ClearColumns } from "../sealing.ts";
import { parseTags, type StoredRow } from "../stored-rows.ts";
import type { Connection } from "./connection.ts";
import { bytesOf, type Condition, type SqlValue, storedCell, withTexts } from "./sql.ts";

const WRITTEN = [...ENTRY_COLUMNS, "owner", "slot", "tag_list"];
const PLACES = placesFor(WRITTEN);
export const INSERT_ENTRY = `INSERT INTO entries (${WRITTEN.join(", ")}) VALUES (${PLACES})`;
export const UPDATE_ENTRY = `UPDATE entries SET (${WRITTEN.join(", ")}) = (${PLACES}) WHERE id = ?`;

/** The values for {@link INSERT_ENTRY}, and for {@link UPDATE_ENTRY} except its last. */
export function valuesOf(columns: ClearColumns, sealed: Uint8Array): readonly SqlValue[] {
  return valuesOfRow(cellsOf(columns, sealed));
}

/** The same for a row of another store. */
export function valuesOfRow(cells: readonly Cell[]): readonly SqlValue[] {
  const text = (column: string) => `${cells[ENTRY_COLUMNS.indexOf(column)]}`;
  const namespace = text("namespace") as Namespace; // its texts have been checked
  const ref = { namespace, origin: text("origin") as Origin, key: text("key") };
  return [
    ...cells.map((cell, i) => storedCell(ENTRY_COLUMNS[i], cell)),
    bytesOf(ownerOf(namespace)),
    slotOf(ref),
    parseTags(text("tags")).map(bytesOf),
  ];
}

/** Selects entries with the contract's types; `rest` is order and limit. */
export async function selectEntries(
  connection: Connection,
  columns: string,
  { sql, values }: Condition,
  rest: Condition = { sql: "", values: [] },
): Promise<readonly StoredRow[]> {
  const rows = await connection.query(`SELECT ${columns} FROM entries WHERE ${sql} ${rest.sql}`, [
    ...values,
    ...rest.values,
  ]);
  return rows.map(withTexts);
}

const NOTHING = new Uint8Array(0);

/**
 * Hashes that identify entries: namespaces and keys may be too long for PostgreSQL's indexes.
 *
 * A hash over clear columns, which reveals nothing that they do not. Null for text that is not valid UTF-8, which matches no
 * entry.
 */
export function slotOf({ namespace, origin, key }: EntryRef): Uint8Array | null {
  if (!namespace.isWellFormed() || !key.isWellFormed()) return null;
  return createHash("sha256")
    .update(associatedData(NOTHING, [namespace, origin, key]))
    .digest();
}
