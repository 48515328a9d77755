/** SQL with its values: placeholders are written `?` and converted to PostgreSQL's when a statement is sent. */

import type { Cell } from "../moving/movable-store.ts";
import type { Condition as ConditionOn } from "../sql/conditions.ts";
import type { StoredRow } from "../stored-rows.ts";

/** Types of values: numbers are bigint, bytes bytea, and text is only used for our own names. */
export type SqlValue = number | string | boolean | Uint8Array | null | readonly (string | Uint8Array)[];

export type Condition = ConditionOn<SqlValue>;

export interface Prepared {
  readonly name: string;
  readonly text: string;
}

const PREPARED = new Map<string, Prepared>();

/** The same object for the same SQL, so that each connection parses and plans it once. */
export function prepared(sql: string): Prepared {
  const known = PREPARED.get(sql);
  if (known !== undefined) return known;
  let number = 0;
  const text = sql.replaceAll("?", () => {
    number += 1;
    return `$${number}`;
  });
  const made = { name: `hdm${PREPARED.size}`, text };
  PREPARED.set(sql, made);
  return made;
}

/**
 * Stores texts as UTF-8 bytes in `bytea`.
 *
 * PostgreSQL's text cannot hold U+0000 and compares by the database's collation. Bytes can hold every text of the contract,
 * compare as bytes everywhere, and are copied unchanged from another store.
 *
 * Null for text that is not valid UTF-8; it equals nothing, since no entry has such a name.
 */
export function textBytes(text: string): Uint8Array | null {
  return text.isWellFormed() ? Buffer.from(text) : null;
}

/** For texts that were checked. */
export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text);
}

export function textOf(bytes: unknown): string {
  return bytes instanceof Uint8Array
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
    : "";
}

const TEXT_COLUMNS = ["namespace", "key", "category", "tags"] as const;

/** A row of `entries` with the contract's types; columns that were not selected stay absent. */
export function withTexts(row: StoredRow): StoredRow {
  const texts = TEXT_COLUMNS.flatMap((column) => (column in row ? [[column, textOf(row[column])]] : []));
  return { ...row, ...Object.fromEntries(texts) };
}

/** The first bytes after all with this prefix; undefined when there are none. */
export function successorOf(prefix: Uint8Array): Uint8Array | undefined {
  const end = prefix.findLastIndex((byte) => byte !== 0xff);
  if (end === -1) return undefined;
  const successor = Uint8Array.from(prefix.subarray(0, end + 1)); // a Buffer's slice would share its bytes
  successor[end] = (successor[end] ?? 0) + 1;
  return successor;
}

/** Columns whose texts are stored as bytes. */
export const AS_BYTES: ReadonlySet<string> = new Set([
  "namespace",
  "key",
  "category",
  "tags",
  "space",
  "owner",
]);

export function storedCell(column: string | undefined, cell: Cell): SqlValue {
  return typeof cell === "string" && AS_BYTES.has(column ?? "") ? bytesOf(cell) : cell;
}
