/** Vectors of entries: each statement reaches them through the entry, in its namespace and with its digest. */

import { ALL_COLUMNS } from "../fields.ts";
import type { EntryId, EntryVectors, ReferenceVectors, UnixMs, VectorsQuery } from "../memory-store.ts";
import { type Namespace, ownerOf } from "../namespace.ts";
import type { Sealer } from "../sealing.ts";
import { all } from "../sql/conditions.ts";
import { openReferences, openRow, openVectors, type StoredRow } from "../stored-rows.ts";
import { encodeVectors, KEPT_REFERENCE_SPACES } from "../vector-rules.ts";
import { liveCondition, namespaceCondition } from "./conditions.ts";
import type { Connection } from "./connection.ts";
import { selectEntries } from "./entry-rows.ts";
import { bytesOf, type Condition, textOf, withTexts } from "./sql.ts";
import type { Writing } from "./writing.ts";

/** One index look-up per distinct name; call it in a transaction that reads across subjects. */
export async function readVectorSpaces(connection: Connection): Promise<readonly string[]> {
  const rows = await connection.query(
    `WITH RECURSIVE spaces AS (
       (SELECT space FROM vectors ORDER BY space LIMIT 1)
       UNION ALL
       SELECT (SELECT space FROM vectors WHERE space > spaces.space ORDER BY space LIMIT 1) FROM spaces WHERE spaces.space IS NOT NULL
     ) SELECT space FROM spaces WHERE space IS NOT NULL`,
  );
  return rows.map(({ space }) => textOf(space));
}

export async function readVectors(
  connection: Connection,
  sealer: Sealer,
  { namespace, space, ids }: VectorsQuery,
  now: UnixMs,
): Promise<readonly EntryVectors[]> {
  const { sql, values } = all([meant(namespace, ids), liveCondition(now)]);
  const rows = await connection.query(
    `SELECT id, digest, dimensions, vectors.sealed FROM entries JOIN vectors ON entry_id = id WHERE ${sql} AND space = ?`,
    [...values, bytesOf(space)],
  );
  return rows.flatMap((row) => openVectors(row, sealer, { namespace, space }) ?? []);
}

export async function writeVectors(
  { connection, now }: Writing,
  sealer: Sealer,
  { namespace, space, batch }: { namespace: Namespace; space: string; batch: readonly EntryVectors[] },
): Promise<readonly EntryId[]> {
  const ids = batch.map(({ id }) => id);
  const condition = all([meant(namespace, ids), liveCondition(now)]);
  const rows = await selectEntries(connection, ALL_COLUMNS, condition);
  const known = new Map(rows.map((row) => [`${row.id}`, row]));
  return batch.flatMap((made) => {
    const { id, dimensions, fingerprint } = made;
    const row = known.get(id);
    const entry = row && openRow(row, sealer);
    if (entry?.fingerprint !== fingerprint || !(row?.digest instanceof Uint8Array)) return [];
    const columns = { space, dimensions, id, namespace, digest: row.digest };
    void connection.query(
      `INSERT INTO vectors (entry_id, owner, space, dimensions, sealed) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (entry_id, space) DO UPDATE SET dimensions = excluded.dimensions, sealed = excluded.sealed`,
      [
        ...[id, bytesOf(ownerOf(namespace)), bytesOf(space), dimensions],
        sealer.sealVectors(columns, encodeVectors(made)),
      ],
    );
    return [id];
  });
}

export async function removeOtherVectors(
  { connection }: Writing,
  { namespace, space, ids }: VectorsQuery,
): Promise<void> {
  const { sql, values } = meant(namespace, ids);
  await connection.query(
    `DELETE FROM vectors WHERE entry_id IN (SELECT id FROM entries WHERE ${sql}) AND space <> ?`,
    [...values, bytesOf(space)],
  );
}

function meant(namespace: Namespace, ids: readonly EntryId[]): Condition {
  return all([namespaceCondition(namespace), { sql: "id = ANY (?::text[])", values: [ids] }]);
}

/** A page of every vector in the order of its entry's id and its space, with the entry's columns. */
export async function vectorsAfter(
  connection: Connection,
  last: StoredRow | undefined,
  most = 500,
): Promise<readonly StoredRow[]> {
  const rows = await connection.query(
    `SELECT id, seq, key, namespace, space, digest, dimensions, vectors.sealed FROM vectors JOIN entries ON id = entry_id
     WHERE (entry_id, space) > (?, ?) ORDER BY entry_id, space LIMIT ?`,
    [`${last?.id ?? ""}`, last?.space instanceof Uint8Array ? last.space : bytesOf(""), most],
  );
  return rows.map(withTexts);
}

/** Whether a row of {@link vectorsAfter} opens. */
export function opensVectors(row: StoredRow, sealer: Sealer): boolean {
  const namespace = `${row.namespace}` as Namespace; // a forged one does not open
  return openVectors(row, sealer, { namespace, space: textOf(row.space) }) !== undefined;
}

/** Vectors of the reference texts by space, sealed with the space and the store's id. */
export async function readReferences(
  connection: Connection,
  sealer: Sealer,
  space: string,
): Promise<ReferenceVectors | undefined> {
  const sql = "SELECT dimensions, sealed FROM reference_vectors WHERE space = ?";
  const [row] = await connection.query(sql, [bytesOf(space)]);
  return openReferences(row, sealer, space);
}

/** There are few, and they can be made again; call it in a write transaction. */
export async function resealReferences(connection: Connection, sealer: Sealer): Promise<void> {
  for (const row of await connection.query("SELECT space, dimensions, sealed FROM reference_vectors")) {
    const columns = { space: textOf(row.space), dimensions: Number(row.dimensions) };
    const content = row.sealed instanceof Uint8Array ? sealer.openReferences(columns, row.sealed) : undefined;
    const place = bytesOf(columns.space);
    if (content === undefined)
      void connection.query("DELETE FROM reference_vectors WHERE space = ?", [place]);
    else
      void connection.query("UPDATE reference_vectors SET sealed = ? WHERE space = ?", [
        ...[sealer.sealReferences(columns, content), place],
      ]);
  }
}

/** Call it in a write transaction. */
export async function writeReferences(
  connection: Connection,
  sealer: Sealer,
  space: string,
  made: ReferenceVectors,
): Promise<void> {
  const { dimensions } = made;
  const sealed = sealer.sealReferences({ space, dimensions }, encodeVectors(made));
  void connection.query("DELETE FROM reference_vectors WHERE space = ?", [bytesOf(space)]);
  await connection.query("INSERT INTO reference_vectors (space, dimensions, sealed) VALUES (?, ?, ?)", [
    ...[bytesOf(space), dimensions, sealed],
  ]);
  await connection.query(
    `DELETE FROM reference_vectors WHERE number NOT IN
     (SELECT number FROM reference_vectors ORDER BY number DESC LIMIT ${KEPT_REFERENCE_SPACES})`,
  );
}
