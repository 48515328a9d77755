/** Writes the row of an entry. */

import type { ClearColumns } from "../sealing.ts";
import { ALL_COLUMNS } from "../stored-rows.ts";
import type { SqliteValue } from "./sqlite-driver.ts";

export const INSERT_ROW = `INSERT INTO entries (${ALL_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
export const UPDATE_ROW = `UPDATE entries SET (${ALL_COLUMNS}) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?`;

/** The values for {@link INSERT_ROW}, and for {@link UPDATE_ROW} except its last. */
export function valuesOf(columns: ClearColumns, sealed: Uint8Array): readonly SqliteValue[] {
  return [
    columns.seq,
    columns.id,
    columns.namespace,
    columns.origin,
    columns.key,
    columns.category,
    columns.tags,
    columns.createdAt,
    columns.updatedAt,
    columns.expiresAt,
    columns.digest,
    sealed,
  ];
}
