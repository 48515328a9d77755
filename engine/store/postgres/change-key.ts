/**
 * Changes the key of a database while engines use it; can be interrupted at any point.
 *
 * The first transaction makes the new key current and stores each key sealed under the other, so that either of them opens
 * everything from then on. Rows are then resealed, subject by subject. The last transaction removes the former key. The first and
 * the last wait until no engine writes, so that no row is sealed under a removed key; engines find the new key in the database.
 */
import { HEADER_BYTES } from "../envelope.ts";
import { ALL_COLUMNS } from "../fields.ts";
import {
  begunChange,
  finishedChange,
  type KeyChangeReport,
  type ResealOptions,
  type ResealProgress,
  requireChanging,
} from "../key-change.ts";
import type { MasterKey } from "../master-key.ts";
import type { Namespace } from "../namespace.ts";
import type { Sealer } from "../sealing.ts";
import { all } from "../sql/conditions.ts";
import { parseColumns, type StoredRow } from "../stored-rows.ts";
import { ownedBy } from "./conditions.ts";
import type { Connection } from "./connection.ts";
import { selectEntries } from "./entry-rows.ts";
import { resealReferences } from "./postgres-vectors.ts";
import { bytesOf, textOf } from "./sql.ts";
import { followKeys, requireStoreRow, saveKeys } from "./store-row.ts";
import type { WriteTransactions } from "./transactions.ts";
import type { Writing } from "./writing.ts";

const ROWS_AT_ONCE = 200;

type ReadingAll = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>;

interface Parts {
  readonly sealer: Sealer;
  readonly transactions: WriteTransactions;
  readonly readingAll: ReadingAll;
}

/** Makes `newKey` the current key; calling it again has no effect. */
export async function beginKeyChange(
  { sealer: { ring }, transactions }: Parts,
  newKey: MasterKey,
): Promise<void> {
  const changed = await transactions.alone(async (connection) => {
    const row = await requireStoreRow(connection);
    followKeys(ring, row, connection.name);
    const begun = begunChange(ring, row.keys, newKey);
    if (begun !== undefined) saveKeys(connection, begun);
    return begun;
  });
  if (changed !== undefined) ring.update(changed);
}

/** Runs `exchange` while no other process can finish this change or begin another one. */
export function whileChanging({ sealer, transactions }: Parts, exchange: () => void): Promise<void> {
  return transactions.alone(async (connection) => {
    requireChanging(sealer.ring, (await requireStoreRow(connection)).keys);
    exchange();
  });
}

/** Can be interrupted and called again at any time. A row that does not open stays unchanged. */
export async function reseal(parts: Parts, { onProgress, signal }: ResealOptions): Promise<void> {
  const owners = await parts.readingAll((connection) =>
    connection.query("SELECT owner, entries FROM subjects ORDER BY owner"),
  );
  const total = owners.reduce((sum, { entries }) => sum + Number(entries), 0);
  let done = 0;
  for (const row of owners) {
    const owner = textOf(row.owner) as Namespace; // always written as a namespace
    for (let after: number | undefined = 0; after !== undefined; ) {
      signal?.throwIfAborted();
      const from: number = after;
      const slice = await parts.transactions.write(
        [owner],
        (writing) => sealSliceAnew(writing, parts.sealer, owner, from),
        { numbers: 0 },
      );
      after = slice.after;
      done += slice.rows;
      onProgress?.({ done: Math.min(done, total), total } satisfies ResealProgress);
    }
  }
}

/** The last transaction. */
export async function finishKeyChange({ sealer, transactions }: Parts): Promise<KeyChangeReport> {
  const { ring } = sealer;
  const { current, former } = ring;
  const finished = await transactions.alone(async (connection) => {
    const stored = finishedChange(ring, (await requireStoreRow(connection)).keys);
    await resealReferences(connection, sealer);
    saveKeys(connection, stored);
    const [others] = await connection
      .acrossSubjects()
      .query(`SELECT count(*) AS n FROM entries WHERE substring(sealed FROM 1 FOR ${HEADER_BYTES}) <> ?`, [
        current.header,
      ]);
    return { stored, unreadable: Number(others?.n) };
  });
  ring.update(finished.stored);
  const { unreadable } = finished;
  return { from: former?.id ?? current.id, to: current.id, unreadable, erased: "pending" };
}

async function sealSliceAnew(
  writing: Writing,
  sealer: Sealer,
  owner: Namespace,
  after: number,
): Promise<{ readonly rows: number; readonly after: number | undefined }> {
  writing.of(owner);
  const isOld = `substring(sealed FROM 1 FOR ${HEADER_BYTES}) <> ?`;
  const { header } = sealer.ring.current;
  // A later write seals an entry anew, and leaves its history as it is.
  const hasOld = `(${isOld} OR EXISTS (SELECT FROM history WHERE entry_id = id AND ${isOld}))`;
  const meant = all([ownedBy(owner), { sql: `seq > ? AND ${hasOld}`, values: [after, header, header] }]);
  const rest = { sql: `ORDER BY seq LIMIT ${ROWS_AT_ONCE}`, values: [] };
  const rows = await selectEntries(writing.connection, ALL_COLUMNS, meant, rest);
  for (const row of rows) await sealEntryAnew(writing.connection, sealer, row);
  return {
    rows: rows.length,
    after: rows.length < ROWS_AT_ONCE ? undefined : Number(rows.at(-1)?.seq),
  };
}

async function sealEntryAnew(connection: Connection, sealer: Sealer, row: StoredRow): Promise<void> {
  const columns = parseColumns(row);
  const content = columns && row.sealed instanceof Uint8Array ? sealer.open(columns, row.sealed) : undefined;
  if (columns === undefined || content === undefined) return;
  const digest = sealer.digest(columns.id, content.value);
  void connection.query("UPDATE entries SET digest = ?, sealed = ? WHERE seq = ?", [
    ...[digest, sealer.seal({ ...columns, digest }, content), columns.seq],
  ]);
  const { id, namespace } = columns;
  await sealVectorsAnew(connection, sealer, { id, namespace, before: columns.digest, digest });
  await sealHistoryAnew(connection, sealer, id);
}

async function sealVectorsAnew(
  connection: Connection,
  sealer: Sealer,
  { before, digest, ...entry }: { id: string; namespace: string; before: Uint8Array; digest: Uint8Array },
): Promise<void> {
  const sql = "SELECT space, dimensions, sealed FROM vectors WHERE entry_id = ?";
  for (const row of await connection.query(sql, [entry.id])) {
    const space = textOf(row.space);
    const beside = { ...entry, space, dimensions: Number(row.dimensions) };
    const content =
      row.sealed instanceof Uint8Array
        ? sealer.openVectors({ ...beside, digest: before }, row.sealed)
        : undefined;
    if (content === undefined) continue;
    void connection.query("UPDATE vectors SET sealed = ? WHERE entry_id = ? AND space = ?", [
      ...[sealer.sealVectors({ ...beside, digest }, content), entry.id, bytesOf(space)],
    ]);
  }
}

async function sealHistoryAnew(connection: Connection, sealer: Sealer, entryId: string): Promise<void> {
  const sql = "SELECT number, written_at, sealed FROM history WHERE entry_id = ?";
  for (const row of await connection.query(sql, [entryId])) {
    const columns = { number: Number(row.number), entryId, writtenAt: Number(row.written_at) };
    const content = row.sealed instanceof Uint8Array ? sealer.openHistory(columns, row.sealed) : undefined;
    if (content === undefined) continue;
    void connection.query("UPDATE history SET sealed = ? WHERE number = ?", [
      ...[sealer.sealHistory(columns, content), columns.number],
    ]);
  }
}
