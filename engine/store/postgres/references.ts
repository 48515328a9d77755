/** Vectors of the reference texts by space, sealed with the space and the store's id. */
import type { ReferenceVectors } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import { decodeVectors, encodeVectors, KEPT_REFERENCE_SPACES } from "../vector-rules.ts";
import type { Connection } from "./connection.ts";
import { bytesOf, textOf } from "./texts.ts";

export async function readReferences(
  connection: Connection,
  sealer: Sealer,
  space: string,
): Promise<ReferenceVectors | undefined> {
  const sql = "SELECT dimensions, sealed FROM reference_vectors WHERE space = ?";
  const [row] = await connection.query(sql, [bytesOf(space)]);
  const dimensions = Number(row?.dimensions);
  if (!(row?.sealed instanceof Uint8Array)) return undefined;
  const content = sealer.openReferences({ space, dimensions }, row.sealed);
  const decoded = content && decodeVectors(content, dimensions);
  return decoded && { dimensions, ...decoded };
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
