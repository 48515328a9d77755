/** The SQLite store: the reader, and the writes, each one transaction. */
import type {
  EntryFilter,
  EntryId,
  EntryRef,
  EntryVectors,
  Erasure,
  MemoryStore,
  NewEntry,
  PutResult,
  ReferenceVectors,
  UnixMs,
  VectorsQuery,
} from "../contract.ts";
import { checkNewEntry, isExpired } from "../entry-rules.ts";
import { makeEntryId } from "../identity.ts";
import type { Namespace } from "../namespace.ts";
import { checkNewReferences, checkNewVectors, checkVectorsQuery } from "../vector-rules.ts";
import {
  type Condition,
  expiredCondition,
  filterCondition,
  liveCondition,
  refCondition,
} from "./conditions.ts";
import type { SqliteRow } from "./driver.ts";
import { emptyLog } from "./erasure.ts";
import { pruneRemovals, readHistory, saveLastSeq } from "./feed.ts";
import { SqliteReader, type SqliteReaderParts } from "./reader.ts";
import { writeReferences } from "./references.ts";
import { ALL_COLUMNS, columnsOf, INSERT_ROW, metaOf, openRow, UPDATE_ROW, valuesOf } from "./rows.ts";
import { readVectorSpaces, readVectors, removeOtherVectors, writeVectors } from "./vectors.ts";

export interface SqliteStoreParts extends SqliteReaderParts {
  readonly busyTimeoutMs: number;
  readonly keepRemovals: number;
}

/** Gives out sequence numbers within one write transaction. */
type NextSeq = () => number;

/** How long vectors wait for another writer: they can be written later, and the calling thread has better things to do. */
const VECTOR_PATIENCE_MS = 50;

export class SqliteStore extends SqliteReader implements MemoryStore {
  readonly #busyTimeoutMs: number;
  readonly #keepRemovals: number;
  #erasurePending = false;

  constructor(parts: SqliteStoreParts) {
    super(parts);
    this.#busyTimeoutMs = parts.busyTimeoutMs;
    this.#keepRemovals = parts.keepRemovals;
  }

  put(entry: NewEntry): Promise<PutResult> {
    return this.perform(() => {
      checkNewEntry(entry);
      return this.#write((nextSeq) => this.#putOne(entry, this.now(), nextSeq));
    });
  }

  putMany(entries: readonly NewEntry[]): Promise<readonly PutResult[]> {
    return this.perform(() => {
      for (const entry of entries) checkNewEntry(entry);
      if (entries.length === 0) return [];
      const now = this.now();
      return this.#write((nextSeq) => entries.map((entry) => this.#putOne(entry, now, nextSeq)));
    });
  }

  delete(ref: EntryRef): Promise<Erasure> {
    return this.perform(() => this.#erase(this.#remove(refCondition(ref))));
  }

  deleteWhere(filter: EntryFilter): Promise<Erasure> {
    return this.perform(() => this.#erase(this.#remove(filterCondition(filter))));
  }

  deleteExpired(): Promise<Erasure> {
    return this.perform(() => {
      const { rows } = this.#remove(expiredCondition(this.now()));
      this.#erasurePending = true; // also for what a killed process left in the log
      return this.#erase({ rows, live: rows });
    });
  }

  vectorSpaces(): Promise<readonly string[]> {
    return this.perform(() => readVectorSpaces(this.session));
  }

  vectors(query: VectorsQuery): Promise<readonly EntryVectors[]> {
    return this.perform(() => {
      checkVectorsQuery(query);
      return this.session.read(() => readVectors(this.session, this.sealer, query, this.now()));
    });
  }

  putVectors(
    namespace: Namespace,
    space: string,
    batch: readonly EntryVectors[],
  ): Promise<readonly EntryId[]> {
    return this.perform(() => {
      checkNewVectors(space, batch);
      if (batch.length === 0) return [];
      const made = { namespace, space, batch };
      return this.#writeIfFree(() => writeVectors(this.session, this.sealer, made, this.now()));
    });
  }

  deleteOtherVectors(query: VectorsQuery): Promise<void> {
    return this.perform(() => {
      checkVectorsQuery(query);
      this.#writeIfFree(() => removeOtherVectors(this.session, query));
    });
  }

  putReferenceVectors(space: string, made: ReferenceVectors): Promise<void> {
    return this.perform(() => {
      checkNewReferences(space, made);
      this.#writeIfFree(() => writeReferences(this.session, this.sealer, space, made));
    });
  }

  #writeIfFree<T>(work: () => T): T {
    return this.session.patiently(VECTOR_PATIENCE_MS, this.#busyTimeoutMs, () => this.session.write(work));
  }

  #write<T>(work: (nextSeq: NextSeq) => T): T {
    return this.session.write(() => {
      let { lastSeq } = readHistory(this.session);
      const result = work(() => ++lastSeq);
      saveLastSeq(this.session, lastSeq);
      return result;
    });
  }

  #putOne(entry: NewEntry, now: UnixMs, nextSeq: NextSeq): PutResult {
    const ref = refCondition(entry);
    const row = this.session
      .statement(`SELECT ${ALL_COLUMNS} FROM entries WHERE ${ref.sql}`)
      .get(...ref.values);
    const before = row && this.#livingEntry(row, now);
    if (row !== undefined && before === undefined) this.#noteRemoval(row, nextSeq());
    const identity = {
      seq: nextSeq(),
      id: before?.id ?? makeEntryId(),
      createdAt: entry.createdAt ?? before?.createdAt ?? now,
    };
    const columns = columnsOf(entry, identity, now, this.sealer);
    const sealed = this.sealer.seal(columns, entry.value);
    const sameValue =
      before !== undefined &&
      row?.digest instanceof Uint8Array &&
      Buffer.compare(row.digest, columns.digest) === 0;
    if (sameValue) {
      // A delete would take along what belongs to the value: its vectors.
      this.session.statement(UPDATE_ROW).run(...valuesOf(columns, sealed), columns.id);
    } else {
      this.session.statement(`DELETE FROM entries WHERE ${ref.sql}`).run(...ref.values);
      this.session.statement(INSERT_ROW).run(...valuesOf(columns, sealed));
    }
    if (before === undefined) return { entry: metaOf(columns) };
    return { entry: metaOf(columns), replaced: { updatedAt: before.updatedAt, sameValue } };
  }

  /**
   * The entry whose id and creation a put may take over. An expired one has ended; one that does not authenticate vouches
   * for nothing, and sealing its claims anew would make them true.
   */
  #livingEntry(row: SqliteRow, now: UnixMs): ReturnType<typeof openRow> {
    const entry = openRow(row, this.sealer);
    return entry !== undefined && isExpired(entry.expiresAt, now) ? undefined : entry;
  }

  #noteRemoval(row: SqliteRow, seq: number): void {
    const { namespace = null, id = null } = row;
    this.session
      .statement("INSERT INTO removals (seq, namespace, id) VALUES (?, ?, ?)")
      .run(seq, namespace, id);
    pruneRemovals(this.session, seq, this.#keepRemovals);
  }

  /** Deletes without decrypting anything. `live` are those of the rows that had not expired yet. */
  #remove(where: Condition): { readonly rows: number; readonly live: number } {
    const live = liveCondition(this.now());
    return this.session.write(() => {
      const counted = this.session
        .statement(
          `SELECT count(*) AS n, count(*) FILTER (WHERE ${live.sql}) AS live FROM entries WHERE ${where.sql}`,
        )
        .get(...live.values, ...where.values);
      const rows = Number(counted?.n);
      if (rows > 0) this.#removeRows(where, rows);
      return { rows, live: Number(counted?.live) };
    });
  }

  #removeRows(where: Condition, rows: number): void {
    const { lastSeq } = readHistory(this.session);
    this.session
      .statement(
        "INSERT INTO removals (seq, namespace, id) " +
          `SELECT ? + row_number() OVER (ORDER BY seq), namespace, id FROM entries WHERE ${where.sql}`,
      )
      .run(lastSeq, ...where.values);
    this.session.statement(`DELETE FROM entries WHERE ${where.sql}`).run(...where.values);
    saveLastSeq(this.session, lastSeq + rows);
    pruneRemovals(this.session, lastSeq + rows, this.#keepRemovals);
  }

  #erase({ rows, live }: { readonly rows: number; readonly live: number }): Erasure {
    if (rows > 0) this.#erasurePending = true;
    if (!this.#erasurePending) return { deleted: live, erased: "complete" };
    const erased = emptyLog(this.session, this.#busyTimeoutMs);
    this.#erasurePending = erased === "pending";
    return { deleted: live, erased };
  }
}
