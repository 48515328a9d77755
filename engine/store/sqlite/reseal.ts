/**
 * Reseals every row that is not in the current format under the current key.
 *
 * Works in slices, each its own transaction, so that nobody waits long and a killed process loses nothing: old and new rows both
 * open, and the next run continues. A row that does not open stays unchanged.
 */
import { HEADER_BYTES } from "../envelope.ts";
import { CLEAR_COLUMNS } from "../fields.ts";
import {
  begunChange,
  finishedChange,
  type KeyChangeReport,
  type ResealProgress,
  requireChanging,
} from "../key-change.ts";
import type { MasterKey } from "../master-key.ts";
import type { Sealer } from "../sealing.ts";
import { parseColumns } from "../stored-rows.ts";
import { requireNotNewer } from "./schema.ts";
import { inSlices } from "./slices.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import { readStoredKeys, saveStoredKeys } from "./store-row.ts";
import { followKeys } from "./stored-keys.ts";

const SLICE_ROWS = 500;

/** One pass over all entries and their dependent rows. */
export class ResealRun {
  readonly #session: SqliteSession;
  readonly #sealer: Sealer;
  readonly #total: number;
  #done = 0;
  /** The last examined row; undefined at the end. */
  #after: number | undefined = Number.NEGATIVE_INFINITY;

  constructor(session: SqliteSession, sealer: Sealer) {
    this.#session = session;
    this.#sealer = sealer;
    this.#total = Number(session.statement("SELECT count(*) AS n FROM entries").get()?.n);
  }

  get isDone(): boolean {
    return this.#after === undefined;
  }

  get progress(): ResealProgress {
    return { done: Math.min(this.#done, this.#total), total: this.#total };
  }

  /** One slice. */
  next(isOver: () => boolean): void {
    const from = this.#after;
    if (from === undefined) return;
    const slice = this.#session.write(() => {
      requireNotNewer(this.#session);
      return sealSliceAnew(this.#session, this.#sealer, from, isOver);
    });
    this.#done += slice.rows;
    this.#after = slice.after;
  }
}

/**
 * Reseals rows of an older version, which do not bind their store; afterwards such rows no longer open. Between slices, other
 * work in this process gets a turn and other processes get the lock.
 */
export async function resealLegacyRows(session: SqliteSession, sealer: Sealer): Promise<void> {
  if (!sealer.ring.acceptsFirstEnvelope) return;
  const run = new ResealRun(session, sealer);
  await inSlices(async (isOver) => {
    run.next(isOver);
    return run.isDone;
  });
  finishReseal(session, sealer, ({ legacy: _, ...stored }) => stored);
}

/** The last step, in one transaction: small tables, and the store's record of its keys. */
function finishReseal(
  session: SqliteSession,
  sealer: Sealer,
  change: (stored: ReturnType<typeof readStoredKeys>) => ReturnType<typeof readStoredKeys>,
): void {
  session.write(() => {
    requireNotNewer(session);
    resealReferences(session, sealer);
    const stored = change(readStoredKeys(session));
    saveStoredKeys(session, stored);
    sealer.ring.update(stored);
  });
}

interface Slice {
  readonly rows: number;
  /** The last examined row; undefined at the end. */
  readonly after: number | undefined;
}

/** A later write seals an entry anew, and leaves its history as it is. */
const IS_OLD = `substr(sealed, 1, ${HEADER_BYTES}) <> ?`;

function sealSliceAnew(session: SqliteSession, sealer: Sealer, after: number, isOver: () => boolean): Slice {
  const { header } = sealer.ring.current;
  const rows = session
    .statement(
      `SELECT ${CLEAR_COLUMNS}, ${IS_OLD} OR EXISTS (SELECT 1 FROM history WHERE entry_id = id AND ${IS_OLD}) AS has_old
       FROM entries WHERE seq > ? ORDER BY seq LIMIT ?`,
    )
    .all(header, header, after, SLICE_ROWS);
  for (const [i, row] of rows.entries()) {
    if (row.has_old === 1) sealEntryAnew(session, sealer, row);
    if (isOver()) return { rows: i + 1, after: Number(row.seq) };
  }
  return { rows: rows.length, after: rows.length < SLICE_ROWS ? undefined : Number(rows.at(-1)?.seq) };
}

function sealEntryAnew(session: SqliteSession, sealer: Sealer, row: SqliteRow): void {
  const columns = parseColumns(row);
  const sealed = session
    .statement("SELECT sealed FROM entries WHERE seq = ?")
    .get(columns?.seq ?? null)?.sealed;
  const content = columns && sealed instanceof Uint8Array ? sealer.open(columns, sealed) : undefined;
  if (columns === undefined || content === undefined) return;
  const digest = sealer.digest(columns.id, content.value);
  session
    .statement("UPDATE entries SET digest = ?, sealed = ? WHERE seq = ?")
    .run(digest, sealer.seal({ ...columns, digest }, content), columns.seq);
  sealVectorsAnew(session, sealer, columns, digest);
  sealHistoryAnew(session, sealer, columns.id);
}

function sealVectorsAnew(
  session: SqliteSession,
  sealer: Sealer,
  {
    id,
    namespace,
    digest: before,
  }: { readonly id: string; readonly namespace: string; readonly digest: Uint8Array },
  digest: Uint8Array,
): void {
  const rows = session
    .statement(
      "SELECT space AS number, name, dimensions, sealed FROM vectors JOIN vector_spaces ON number = space WHERE entry_id = ?",
    )
    .all(id);
  for (const { number = null, name, dimensions, sealed } of rows) {
    const beside = { space: `${name}`, dimensions: Number(dimensions), id, namespace };
    const content =
      sealed instanceof Uint8Array ? sealer.openVectors({ ...beside, digest: before }, sealed) : undefined;
    if (content === undefined) continue;
    session
      .statement("UPDATE vectors SET sealed = ? WHERE entry_id = ? AND space = ?")
      .run(sealer.sealVectors({ ...beside, digest }, content), id, number);
  }
}

function sealHistoryAnew(session: SqliteSession, sealer: Sealer, entryId: string): void {
  const rows = session
    .statement("SELECT number, written_at, sealed FROM history WHERE entry_id = ?")
    .all(entryId);
  for (const row of rows) {
    const columns = { number: Number(row.number), entryId, writtenAt: Number(row.written_at) };
    const content = row.sealed instanceof Uint8Array ? sealer.openHistory(columns, row.sealed) : undefined;
    if (content === undefined) continue;
    session
      .statement("UPDATE history SET sealed = ? WHERE number = ?")
      .run(sealer.sealHistory(columns, content), columns.number);
  }
}

/** There are few, and they can be made again. */
function resealReferences(session: SqliteSession, sealer: Sealer): void {
  const rows = session.statement("SELECT number, space, dimensions, sealed FROM reference_vectors").all();
  for (const { number = null, space, dimensions, sealed } of rows) {
    const columns = { space: `${space}`, dimensions: Number(dimensions) };
    const content = sealed instanceof Uint8Array ? sealer.openReferences(columns, sealed) : undefined;
    if (content === undefined)
      session.statement("DELETE FROM reference_vectors WHERE number = ?").run(number);
    else
      session
        .statement("UPDATE reference_vectors SET sealed = ? WHERE number = ?")
        .run(sealer.sealReferences(columns, content), number);
  }
}

/**
 * Changes the key of a database while others use it; can be interrupted at any point.
 *
 * The first transaction makes the new key current and stores each key sealed under the other, so that either of them opens
 * everything from then on. Rows are then resealed in slices. The last transaction removes the former key. Other processes with
 * the database open find the new key in it; one that finds out too late reopens it.
 *
 * Makes `newKey` the current key. Both keys open the database until {@link finishKeyChange}; calling it again has no effect.
 */
export function beginKeyChange(session: SqliteSession, { ring }: Sealer, newKey: MasterKey): void {
  session.write(() => {
    requireNotNewer(session);
    const stored = readStoredKeys(session);
    followKeys(session, ring, stored);
    const changed = begunChange(ring, stored, newKey);
    if (changed === undefined) return;
    saveStoredKeys(session, changed);
    ring.update(changed);
  });
}

/** The last transaction: afterwards only the current key opens the database. */
export function finishKeyChange(session: SqliteSession, sealer: Sealer): Omit<KeyChangeReport, "erased"> {
  const { current, former } = sealer.ring;
  finishReseal(session, sealer, (stored) => finishedChange(sealer.ring, stored));
  const others = session
    .statement(`SELECT count(*) AS n FROM entries WHERE substr(sealed, 1, ${HEADER_BYTES}) <> ?`)
    .get(current.header);
  return { from: former?.id ?? current.id, to: current.id, unreadable: Number(others?.n) };
}

/** Call it in a write transaction. */
export function requireChangeBegun(session: SqliteSession, { ring }: Sealer): void {
  requireChanging(ring, readStoredKeys(session));
}
