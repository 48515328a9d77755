/**
 * Texts as this store keeps them: as the bytes of their UTF-8, in `bytea`.
 *
 * PostgreSQL's own text holds no U+0000 and compares by the collation of whoever made the database. Bytes hold every text of the
 * contract, compare as bytes everywhere, and come from another store as they are.
 */
import type { StoredRow } from "../stored-rows.ts";

/** Null for what cannot be UTF-8, which equals nothing: no entry has such a name. */
export function textBytes(text: string): Uint8Array | null {
  return text.isWellFormed() ? Buffer.from(text) : null;
}

/** Of texts that have been checked. */
export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text);
}

export function textOf(bytes: unknown): string {
  return bytes instanceof Uint8Array
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
    : "";
}

const TEXT_COLUMNS = ["namespace", "key", "category", "tags"] as const;

/** A row of `entries` with the types of the contract; columns that were not asked for stay absent. */
export function withTexts(row: StoredRow): StoredRow {
  const texts = TEXT_COLUMNS.flatMap((column) => (column in row ? [[column, textOf(row[column])]] : []));
  return { ...row, ...Object.fromEntries(texts) };
}

/** The first bytes after all that begin with these; undefined when there are none. */
export function successorOf(prefix: Uint8Array): Uint8Array | undefined {
  const end = prefix.findLastIndex((byte) => byte !== 0xff);
  if (end === -1) return undefined;
  const successor = Uint8Array.from(prefix.subarray(0, end + 1)); // a Buffer's slice would be the same bytes
  successor[end] = (successor[end] ?? 0) + 1;
  return successor;
}
