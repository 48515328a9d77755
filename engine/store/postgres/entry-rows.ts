/** Reads and writes the row of an entry. */

import { createHash } from "node:crypto";
import { associatedData } from "../envelope.ts";
import type { EntryRef } from "../memory-store.ts";
import { ownerOf } from "../namespace.ts";
import type { ClearColumns } from "../sealing.ts";
import { CLEAR_COLUMNS, parseTags, type StoredRow } from "../stored-rows.ts";
import type { Connection } from "./connection.ts";
import { bytesOf, type Condition, type SqlValue, withTexts } from "./sql.ts";

export const ENTRY_COLUMNS = `${CLEAR_COLUMNS}, sealed`;

const WRITTEN = `${ENTRY_COLUMNS}, owner, slot, tag_list`;
const PLACES = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?";
export const INSERT_ENTRY = `INSERT INTO entries (${WRITTEN}) VALUES (${PLACES})`;
export const UPDATE_ENTRY = `UPDATE entries SET (${WRITTEN}) = (${PLACES}) WHERE id = ?`;

/** The values for {@link INSERT_ENTRY}, and for {@link UPDATE_ENTRY} except its last. */
export function valuesOf(columns: ClearColumns, sealed: Uint8Array): readonly SqlValue[] {
  const ref = columns as unknown as EntryRef; // its texts have been checked
  return [
    columns.seq,
    columns.id,
    bytesOf(columns.namespace),
    columns.origin,
    bytesOf(columns.key),
    bytesOf(columns.category),
    bytesOf(columns.tags),
    columns.createdAt,
    columns.updatedAt,
    columns.expiresAt,
    columns.digest,
    sealed,
    bytesOf(ownerOf(ref.namespace)),
    slotOf(ref),
    parseTags(columns.tags).map(bytesOf),
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
