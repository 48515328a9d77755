/** Opens one row of a damaged database, and writes it into a new one, resealed. */
import type { ClearColumns, Sealer } from "../sealing.ts";
import { parseColumns } from "../stored-rows.ts";
import { INSERT_ROW, valuesOf } from "./entry-rows.ts";
import { readRow, type SalvagedTable } from "./salvage.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import type { SqliteSession } from "./sqlite-session.ts";

export interface RowName {
  readonly table: SalvagedTable;
  readonly number: number;
}

/** Writes a row that opens into another store. */
export type Salvaged = (session: SqliteSession, sealer: Sealer) => void;

const NOBODY: Salvaged = () => undefined;

/** A function that writes the row elsewhere; or its claimed identity, if it does not open. */
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
    made.statement(INSERT_ROW).run(...valuesOf(right, anew.seal(right, content)));
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
