/** Vectors of the reference texts by space, sealed with the space and the store's id. */
import type { ReferenceVectors } from "../memory-store.ts";
import type { Sealer } from "../sealing.ts";
import { decodeVectors, encodeVectors, KEPT_REFERENCE_SPACES } from "../vector-rules.ts";
import type { SqliteSession } from "./sqlite-session.ts";

/** Call it in a read transaction. */
export function readReferences(
  session: SqliteSession,
  sealer: Sealer,
  space: string,
): ReferenceVectors | undefined {
  if (!hasTable(session)) return undefined;
  const row = session
    .statement("SELECT dimensions, sealed FROM reference_vectors WHERE space = ?")
    .get(space);
  if (typeof row?.dimensions !== "number") return undefined;
  const { dimensions, sealed } = row;
  if (!(sealed instanceof Uint8Array)) return undefined;
  const content = sealer.openReferences({ space, dimensions }, sealed);
  const decoded = content && decodeVectors(content, dimensions);
  return decoded && { dimensions, ...decoded };
}

/** Call it in a write transaction. */
export function writeReferences(
  session: SqliteSession,
  sealer: Sealer,
  space: string,
  made: ReferenceVectors,
): void {
  const { dimensions } = made;
  const sealed = sealer.sealReferences({ space, dimensions }, encodeVectors(made));
  session
    .statement("INSERT OR REPLACE INTO reference_vectors (space, dimensions, sealed) VALUES (?, ?, ?)")
    .run(space, dimensions, sealed);
  session
    .statement(
      `DELETE FROM reference_vectors WHERE number NOT IN
       (SELECT number FROM reference_vectors ORDER BY number DESC LIMIT ${KEPT_REFERENCE_SPACES})`,
    )
    .run();
}

/** Missing in a file of an older version, which can be read unchanged. */
function hasTable(session: SqliteSession): boolean {
  const sql = "SELECT 1 AS there FROM sqlite_schema WHERE type = 'table' AND name = 'reference_vectors'";
  return session.statement(sql).get() !== undefined;
}
