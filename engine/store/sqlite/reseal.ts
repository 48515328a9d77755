/**
 * Sealing anew: every row that is not sealed as rows are sealed today, under the key that is in use.
 *
 * In slices, each a transaction of its own, so that nobody waits long and a process that is killed loses nothing: a row is sealed in
 * the old way or the new, both open, and the next run finds what is left. A row that does not open is left as it is.
 */
import { HEADER_BYTES } from "../envelope.ts";
import type { ResealProgress } from "../reseal-options.ts";
import type { Sealer } from "../sealing.ts";
import { CLEAR_COLUMNS, parseColumns } from "../stored-rows.ts";
import { inSlices } from "./slices.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import { readStoredKeys, saveStoredKeys } from "./store-row.ts";

const SLICE_ROWS = 500;

/** One run over all entries, with what hangs on them. */
export class ResealRun {
  readonly #session: SqliteSession;
  readonly #sealer: Sealer;
  readonly #total: number;
  #done = 0;
  /** The last row that was looked at; undefined when there are no more. */
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
    const slice = this.#session.write(() => sealSliceAnew(this.#session, this.#sealer, from, isOver));
    this.#done += slice.rows;
    this.#after = slice.after;
  }
}

/**
 * Rows that an older program wrote, which do not name their store; once they are done, such rows open no longer. Whoever else is in
 * this process has a turn between slices, and other processes their lock.
 */
export async function sealLegacyRowsAnew(session: SqliteSession, sealer: Sealer): Promise<void> {
  if (!sealer.ring.acceptsFirstEnvelope) return;
  const run = new ResealRun(session, sealer);
  await inSlices(async (isOver) => {
    run.next(isOver);
    return run.isDone;
  });
  finishReseal(session, sealer, ({ legacy: _, ...stored }) => stored);
}

/** The last step, in one transaction: what is few, and what the store says of its keys. */
export function finishReseal(
  session: SqliteSession,
  sealer: Sealer,
  change: (stored: ReturnType<typeof readStoredKeys>) => ReturnType<typeof readStoredKeys>,
): void {
  session.write(() => {
    sealReferencesAnew(session, sealer);
    const stored = change(readStoredKeys(session));
    saveStoredKeys(session, stored);
    sealer.ring.update(stored);
  });
}

interface Slice {
  readonly rows: number;
  /** The last row that was looked at; undefined when there are no more. */
  readonly after: number | undefined;
}

function sealSliceAnew(session: SqliteSession, sealer: Sealer, after: number, isOver: () => boolean): Slice {
  const rows = session
    .statement(
      `SELECT ${CLEAR_COLUMNS}, substr(sealed, 1, ${HEADER_BYTES}) AS header FROM entries WHERE seq > ? ORDER BY seq LIMIT ?`,
    )
    .all(after, SLICE_ROWS);
  for (const [i, row] of rows.entries()) {
    if (!isCurrent(sealer, row.header)) sealEntryAnew(session, sealer, row);
    if (isOver()) return { rows: i + 1, after: Number(row.seq) };
  }
  return { rows: rows.length, after: rows.length < SLICE_ROWS ? undefined : Number(rows.at(-1)?.seq) };
}

function isCurrent({ ring }: Sealer, header: unknown): boolean {
  return header instanceof Uint8Array && Buffer.compare(header, ring.current.header) === 0;
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

/** Few, and made anew by whoever misses them. */
function sealReferencesAnew(session: SqliteSession, sealer: Sealer): void {
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
