/** The SQLite store: the reader, and the writes, each one transaction. */

import { HelmdeckError } from "../../errors.ts";
import { nextTurn } from "../../timing.ts";
import { makeEntryId } from "../entry-id.ts";
import { checkNewEntry, isExpired } from "../entry-rules.ts";
import type { MasterKey } from "../master-key.ts";
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
} from "../memory-store.ts";
import type { Namespace } from "../namespace.ts";
import { checkNewReferences, checkNewVectors, checkVectorsQuery } from "../vector-rules.ts";
import { pruneRemovals, saveLastSeq } from "./change-feed.ts";
import { beginKeyChange, finishKeyChange, type KeyChangeReport } from "./change-key.ts";
import {
  type Condition,
  expiredCondition,
  filterCondition,
  liveCondition,
  refCondition,
} from "./conditions.ts";
import { setTimesRight } from "./corrections.ts";
import { ALL_COLUMNS, columnsOf, INSERT_ROW, metaOf, openRow, UPDATE_ROW, valuesOf } from "./entry-rows.ts";
import { announceFold, fold } from "./fold-log.ts";
import { writeReferences } from "./references.ts";
import { ResealRun, type SealAnewOptions } from "./reseal.ts";
import { requireNotNewer } from "./schema.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import { SqliteReader, type SqliteReaderParts } from "./sqlite-reader.ts";
import {
  readVectorSpaces,
  readVectors,
  removeOtherVectors,
  removeVectors,
  writeVectors,
} from "./sqlite-vectors.ts";
import { readStoreRow, type StoreRow, saveTimeSeen, timeSeenIn } from "./store-row.ts";
import { followKeys } from "./stored-keys.ts";
import { type Quota, requireQuota } from "./usage.ts";

export interface SqliteStoreParts extends SqliteReaderParts {
  readonly busyTimeoutMs: number;
  readonly keepRemovals: number;
  readonly quota: Quota;
  /** The file or its folder cannot be written: every write is refused. */
  readonly isReadOnly: boolean;
}

/** One write transaction. */
interface Writing {
  /** The store's own row as it began. */
  readonly row: StoreRow;
  /** Gives out sequence numbers. */
  readonly nextSeq: () => number;
  /** For many at once: from this one on. */
  readonly takeSeqs: (count: number) => number;
}

/** How long vectors wait for another writer: they can be written later, and the calling thread has better things to do. */
const VECTOR_PATIENCE_MS = 50;
/** Before any entry expires. */
const NEVER: UnixMs = -1;
/** A log that holds more makes reading slow. SQLite's own measure is a thousand pages, which are about so many small writes. */
const WRITES_OF_A_LOG = 250;
const LONG_LOG_BYTES = 2 * 1_000 * 4_120;

export class SqliteStore extends SqliteReader implements MemoryStore {
  readonly #busyTimeoutMs: number;
  readonly #keepRemovals: number;
  readonly #quota: Quota;
  readonly #isReadOnly: boolean;
  #erasurePending = false;
  /** As it was last read or written. */
  #timeSeen: string | undefined;
  /** Since the log was last folded in. */
  #writes = 0;
  /** A log that readers keep from being folded in is tried again when it has grown. */
  #foldFromBytes = LONG_LOG_BYTES;

  constructor(parts: SqliteStoreParts) {
    super(parts);
    this.#busyTimeoutMs = parts.busyTimeoutMs;
    this.#keepRemovals = parts.keepRemovals;
    this.#quota = parts.quota;
    this.#isReadOnly = parts.isReadOnly;
  }

  put(entry: NewEntry): Promise<PutResult> {
    return this.change(() => {
      checkNewEntry(entry);
      return this.#write(({ nextSeq }) => this.#putOne(entry, this.now(), nextSeq));
    });
  }

  putMany(entries: readonly NewEntry[]): Promise<readonly PutResult[]> {
    return this.change(() => {
      for (const entry of entries) checkNewEntry(entry);
      if (entries.length === 0) return [];
      return this.#write(({ nextSeq }) => {
        const now = this.now();
        return entries.map((entry) => this.#putOne(entry, now, nextSeq));
      });
    });
  }

  delete(ref: EntryRef): Promise<Erasure> {
    return this.change(() => this.#erase(() => refCondition(ref)).erasure);
  }

  deleteWhere(filter: EntryFilter): Promise<Erasure> {
    return this.change(() => this.#erase(() => filterCondition(filter)).erasure);
  }

  deleteExpired(): Promise<Erasure> {
    return this.change(() => {
      this.#erasurePending ||= this.guard.logBytes > 0; // also for what a killed process left in the log
      const { erasure, rows } = this.#erase(() => expiredCondition(this.clock.deletableUntil ?? NEVER));
      return { ...erasure, deleted: rows };
    });
  }

  protected override get isWritable(): boolean {
    return !this.#isReadOnly;
  }

  /** Writes down what was seen of time, unless somebody else is writing: at open and at close. */
  keepTime(): void {
    if (this.#isReadOnly || !this.clock.isWorthKeeping()) return;
    try {
      this.session.patiently(0, this.#busyTimeoutMs, () => this.#write(() => undefined));
    } catch {
      // The next write does it.
    }
  }

  override async close(): Promise<void> {
    if (!this.isClosed && this.guard.isHealthy) this.keepTime();
    await super.close();
  }

  /** From here until {@link finishKeyChange} both keys open the store; see `change-key.ts`. */
  beginKeyChange(newKey: MasterKey): Promise<void> {
    return this.change(() => {
      if (this.#isReadOnly) throw readOnly(this.session.path);
      beginKeyChange(this.session, this.sealer, newKey);
    });
  }

  /** Seals every row under the key in use, in slices; can be interrupted at any time, and called again. */
  async sealAnew({ onProgress, signal }: SealAnewOptions = {}): Promise<void> {
    const run = new ResealRun(this.session, this.sealer);
    while (!run.isDone) {
      signal?.throwIfAborted();
      await this.change(() => run.next());
      onProgress?.(run.progress);
      if (this.guard.logBytes >= this.#foldFromBytes) await this.change(() => this.#foldLongLog(true));
      await nextTurn();
    }
  }

  /** Takes the former key out of the store, and what was sealed under it out of the file. */
  finishKeyChange(): Promise<KeyChangeReport> {
    return this.change(() => {
      const report = finishKeyChange(this.session, this.sealer);
      const time = this.session.write(() => announceFold(this.session, readStoreRow(this.session).foldedAt));
      const erased = fold(this.session, { time, busyTimeoutMs: this.#busyTimeoutMs });
      this.guard.acceptFold();
      return { ...report, erased };
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
    return this.change(() => {
      checkNewVectors(space, batch);
      if (batch.length === 0) return [];
      const made = { namespace, space, batch };
      return this.#writeIfFree(() => writeVectors(this.session, this.sealer, made, this.now()));
    });
  }

  deleteOtherVectors(query: VectorsQuery): Promise<void> {
    return this.change(() => {
      checkVectorsQuery(query);
      this.#writeIfFree(() => removeOtherVectors(this.session, query));
    });
  }

  putReferenceVectors(space: string, made: ReferenceVectors): Promise<void> {
    return this.change(() => {
      checkNewReferences(space, made);
      this.#writeIfFree(() => writeReferences(this.session, this.sealer, space, made));
    });
  }

  #writeIfFree<T>(work: () => T): T {
    return this.session.patiently(VECTOR_PATIENCE_MS, this.#busyTimeoutMs, () => this.#write(work));
  }

  /** All of `work` or none of it, in the store that was opened. */
  #write<T>(work: (writing: Writing) => T): T {
    if (this.#isReadOnly) throw readOnly(this.session.path);
    let lastSeq = 0;
    const result = this.session.write(() => {
      requireNotNewer(this.session);
      const row = readStoreRow(this.session);
      this.guard.requireSame(row);
      if (!this.sealer.ring.isUpToDate(row.keys)) followKeys(this.session, this.sealer.ring, row.keys);
      const first = row.history.lastSeq;
      lastSeq = first;
      const takeSeqs = (count: number): number => {
        lastSeq += count;
        return lastSeq - count + 1;
      };
      const writing: Writing = { row, takeSeqs, nextSeq: () => takeSeqs(1) };
      this.#observe(writing);
      const answer = work(writing);
      if (lastSeq !== first) saveLastSeq(this.session, lastSeq);
      return answer;
    });
    this.guard.noteLastSeq(lastSeq);
    this.#writes += 1;
    const isLong = this.guard.logBytes >= this.#foldFromBytes;
    if (isLong || this.#writes >= WRITES_OF_A_LOG) this.#foldLongLog(isLong);
    return result;
  }

  #observe({ row, nextSeq }: Writing): void {
    const kept = row.timeSeen === this.#timeSeen ? undefined : timeSeenIn(row);
    if (kept !== undefined) this.clock.adopt(kept);
    this.#timeSeen = row.timeSeen;
    const observation = this.clock.observe();
    if (observation === undefined && row.timeSeen !== undefined) return;
    this.#timeSeen = saveTimeSeen(this.session, this.clock.seen);
    if (observation?.correction) setTimesRight(this.session, this.sealer, observation.correction, nextSeq);
  }

  #foldLongLog(isLong: boolean): void {
    this.#writes = 0;
    const time = this.session.write(() => announceFold(this.session, readStoreRow(this.session).foldedAt));
    const { logBytes } = this.guard;
    const how = { time, busyTimeoutMs: this.#busyTimeoutMs, patienceMs: 0, keepsFile: !isLong };
    const folded = fold(this.session, how);
    this.guard.acceptFold();
    if (isLong) this.#foldFromBytes = LONG_LOG_BYTES + (folded === "complete" ? 0 : logBytes);
  }

  #putOne(entry: NewEntry, now: UnixMs, nextSeq: () => number): PutResult {
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
    const sealed = this.sealer.seal(columns, entry);
    if (before === undefined) {
      this.session.statement(`DELETE FROM entries WHERE ${ref.sql}`).run(...ref.values);
      this.session.statement(INSERT_ROW).run(...valuesOf(columns, sealed));
    } else {
      this.session.statement(UPDATE_ROW).run(...valuesOf(columns, sealed), columns.id);
      if (!hasDigest(row, columns.digest)) removeVectors(this.session, columns.id);
    }
    requireQuota(this.session, entry, this.#quota);
    if (before === undefined) return { entry: metaOf(columns) };
    const sameValue = Buffer.compare(before.value, entry.value) === 0;
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

  /**
   * Deletes without decrypting anything, and folds the log, so that nothing of it is left. `deleted` are those of the rows that
   * had not expired yet.
   */
  #erase(where: () => Condition): { readonly erasure: Erasure; readonly rows: number } {
    const { rows, live, foldTime } = this.#write((writing) => {
      const condition = where();
      const counts = this.#count(condition);
      if (counts.rows > 0) this.#removeRows(condition, writing.takeSeqs(counts.rows), counts.rows);
      const mustFold = counts.rows > 0 || this.#erasurePending;
      return { ...counts, foldTime: mustFold ? announceFold(this.session, writing.row.foldedAt) : undefined };
    });
    if (foldTime === undefined) return { rows, erasure: { deleted: live, erased: "complete" } };
    const erased = fold(this.session, { time: foldTime, busyTimeoutMs: this.#busyTimeoutMs });
    this.guard.acceptFold();
    this.#erasurePending = erased === "pending";
    return { rows, erasure: { deleted: live, erased } };
  }

  #count({ sql, values }: Condition): { readonly rows: number; readonly live: number } {
    const live = liveCondition(this.now());
    const counted = this.session
      .statement(
        `SELECT count(*) AS n, count(*) FILTER (WHERE ${live.sql}) AS live FROM entries WHERE ${sql}`,
      )
      .get(...live.values, ...values);
    return { rows: Number(counted?.n), live: Number(counted?.live) };
  }

  #removeRows(where: Condition, firstSeq: number, rows: number): void {
    this.session
      .statement(
        "INSERT INTO removals (seq, namespace, id) " +
          `SELECT ? + row_number() OVER (ORDER BY seq), namespace, id FROM entries WHERE ${where.sql}`,
      )
      .run(firstSeq - 1, ...where.values);
    this.session.statement(`DELETE FROM entries WHERE ${where.sql}`).run(...where.values);
    pruneRemovals(this.session, firstSeq + rows - 1, this.#keepRemovals);
  }
}

/** Vectors belong to the value that their entry's digest is of. */
function hasDigest(row: SqliteRow | undefined, digest: Uint8Array): boolean {
  return row?.digest instanceof Uint8Array && Buffer.compare(row.digest, digest) === 0;
}

function readOnly(path: string): HelmdeckError {
  return new HelmdeckError(
    "store_readonly",
    `The memory database ${path} is open to read only, since it or its folder cannot be written. Nothing was written; ` +
      "make both writable for this account.",
    { details: { path } },
  );
}
