/** Vectors of entries: each statement reaches them through the entry, in its namespace and with its digest. */

import { ALL_COLUMNS } from "../fields.ts";
import type { EntryId, EntryVectors, ReferenceVectors, VectorsQuery } from "../memory-store.ts";
import type { Namespace } from "../namespace.ts";
import type { Sealer } from "../sealing.ts";
import { openReferences, openRow, openVectors } from "../stored-rows.ts";
import { encodeVectors, KEPT_REFERENCE_SPACES } from "../vector-rules.ts";
import { liveCondition, type Moment, namespaceCondition } from "./conditions.ts";
import type { SqliteSession } from "./sqlite-session.ts";

const NUMBER_OF_SPACE = "(SELECT number FROM vector_spaces WHERE name = ?)";

export function readVectorSpaces(session: SqliteSession): readonly string[] {
  return session
    .statement("SELECT name FROM vector_spaces ORDER BY number")
    .all()
    .map(({ name }) => `${name}`);
}

/** Call it in a read transaction. */
export function readVectors(
  session: SqliteSession,
  sealer: Sealer,
  { namespace, space, ids }: VectorsQuery,
  moment: Moment,
): readonly EntryVectors[] {
  const owner = namespaceCondition(namespace);
  const live = liveCondition(moment);
  const select = session.statement(
    `SELECT id, digest, dimensions, vectors.sealed FROM entries JOIN vectors ON entry_id = id
     WHERE id = ? AND ${owner.sql} AND ${live.sql} AND space = ${NUMBER_OF_SPACE}`,
  );
  return ids.flatMap((id) => {
    const row = select.get(id, ...owner.values, ...live.values, space);
    return (row && openVectors(row, sealer, { namespace, space })) ?? [];
  });
}

/** Call it in a write transaction. */
export function writeVectors(
  session: SqliteSession,
  sealer: Sealer,
  { namespace, space, batch }: { namespace: Namespace; space: string; batch: readonly EntryVectors[] },
  moment: Moment,
): readonly EntryId[] {
  const owner = namespaceCondition(namespace);
  const live = liveCondition(moment);
  const select = session.statement(
    `SELECT ${ALL_COLUMNS} FROM entries WHERE id = ? AND ${owner.sql} AND ${live.sql}`,
  );
  const insert = session.statement(
    `INSERT OR REPLACE INTO vectors (entry_id, space, dimensions, sealed) VALUES (?, ${NUMBER_OF_SPACE}, ?, ?)`,
  );
  session.statement("INSERT OR IGNORE INTO vector_spaces (name) VALUES (?)").run(space);
  return batch.flatMap((made) => {
    const { id, dimensions } = made;
    const row = select.get(id, ...owner.values, ...live.values);
    const entry = row && openRow(row, sealer);
    if (entry?.fingerprint !== made.fingerprint || !(row?.digest instanceof Uint8Array)) return [];
    const columns = { space, dimensions, id, namespace, digest: row.digest };
    insert.run(id, space, dimensions, sealer.sealVectors(columns, encodeVectors(made)));
    return [id];
  });
}

/** Call it in a write transaction when the entry's value changes. */
export function removeVectors(session: SqliteSession, id: string): void {
  session.statement("DELETE FROM vectors WHERE entry_id = ?").run(id);
}

/** Call it in a write transaction. */
export function removeOtherVectors(session: SqliteSession, { namespace, space, ids }: VectorsQuery): void {
  const owner = namespaceCondition(namespace);
  const remove = session.statement(
    `DELETE FROM vectors WHERE entry_id = (SELECT id FROM entries WHERE id = ? AND ${owner.sql})
     AND space IS NOT ${NUMBER_OF_SPACE}`,
  );
  for (const id of ids) remove.run(id, ...owner.values, space);
  session
    .statement("DELETE FROM vector_spaces WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE space = number)")
    .run();
}

/**
 * Vectors of the reference texts by space, sealed with the space and the store's id.
 *
 * Call it in a read transaction.
 */
export function readReferences(
  session: SqliteSession,
  sealer: Sealer,
  space: string,
): ReferenceVectors | undefined {
  if (!hasTable(session)) return undefined;
  const row = session
    .statement("SELECT dimensions, sealed FROM reference_vectors WHERE space = ?")
    .get(space);
  return openReferences(row, sealer, space);
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
