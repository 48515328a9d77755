/** The SQLite store: the reader, and the writes, each one transaction. */

import { HelmdeckError } from "../../errors.ts";
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
  all,
  type Condition,
  type Forget,
  filterCondition,
  liveCondition,
  type Moment,
  refCondition,
  sparedCondition,
} from "./conditions.ts";
import { setTimesRight } from "./corrections.ts";
import { ALL_COLUMNS, columnsOf, INSERT_ROW, metaOf, openRow, UPDATE_ROW, valuesOf } from "./entry-rows.ts";
import { announceFold, fold } from "./fold-log.ts";
import { beginForget, deletedBy, ForgetRun, pendingForgets } from "./forgets.ts";
import { writeReferences } from "./references.ts";
import { ResealRun, type SealAnewOptions } from "./reseal.ts";
import { Reserve } from "./reserve.ts";
import { requireNotNewer } from "./schema.ts";
import { inSlices, sliceEnd } from "./slices.ts";
import { compact, giveBackPages, givesBack, hasSparePages, mayFold } from "./spare-pages.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import { isFull } from "./sqlite-errors.ts";
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
import { SweepRun } from "./sweep.ts";
import { type Quota, requireQuota } from "./usage.ts";

export interface SqliteStoreParts extends SqliteReaderParts {
  readonly busyTimeoutMs: number;
  readonly keepRemovals: number;
  readonly quota: Quota;
  /** What a delete takes in one transaction; more of it goes in slices. */
  readonly eraseAtOnce: number;
  /** The file or its folder cannot be written: every write is refused. */
  readonly isReadOnly: boolean;
}

/** One write transaction. */
interface Writing {
  readonly moment: Moment;
  /** The store's own row as it began. */
  readonly row: StoreRow;
  /** Gives out sequence numbers. */
  readonly nextSeq: () => number;
  /** For many at once: from this one on. */
  readonly takeSeqs: (count: number) => number;
}

/** Rows, and those of them that had not expired. */
interface Counts {
  readonly rows: number;
  readonly live: number;
}

/** In a transaction that is followed by a fold, unless there is no need for one. */
interface Erased {
  readonly live: number;
  readonly foldTime: number | undefined;
}

/** How long vectors wait for another writer: they can be written later, and the calling thread has better things to do. */
const VECTOR_PATIENCE_MS = 50;
/** So much is freed pages' share of the time of one delete; the rest is for the next delete or sweep. */
const GIVING_BACK_MS = 2_000;
/** In one transaction, to begin with. */
const ROWS_ON_FULL_DISK = 64;
/** Before any entry expires. */
const NEVER: UnixMs = -1;
/** A log that holds more makes reading slow. SQLite's own measure is a thousand pages, which are about so many small writes. */
const WRITES_OF_A_LOG = 250;
const LONG_LOG_BYTES = 1_000 * 4_120;

export class SqliteStore extends SqliteReader implements MemoryStore {
  readonly #busyTimeoutMs: number;
  readonly #keepRemovals: number;
  readonly #quota: Quota;
  readonly #eraseAtOnce: number;
  readonly #isReadOnly: boolean;
  readonly #reserve: Reserve;
  #erasurePending = false;
  /** Pages, which the file is rid of after the next fold. */
  #hasGivenBack = false;
  #resumed: Promise<void> = Promise.resolve();
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
    this.#eraseAtOnce = parts.eraseAtOnce;
    this.#reserve = new Reserve(parts.session.path);
    this.#isReadOnly = parts.isReadOnly;
  }

  put(entry: NewEntry): Promise<PutResult> {
    return this.change(() => {
      checkNewEntry(entry);
      return this.#write((writing) => this.#putOne(entry, writing));
    });
  }

  putMany(entries: readonly NewEntry[]): Promise<readonly PutResult[]> {
    return this.change(() => {
      for (const entry of entries) checkNewEntry(entry);
      if (entries.length === 0) return [];
      return this.#write((writing) => entries.map((entry) => this.#putOne(entry, writing)));
    });
  }

  async delete(ref: EntryRef): Promise<Erasure> {
    return this.#givingBack(await this.#withRoom(() => this.change(() => this.#eraseOne(ref))));
  }

  #eraseOne(ref: EntryRef): Erasure {
    const erased = this.#write((writing) => {
      const condition = all([refCondition(ref), sparedCondition(writing.moment.forgets)]);
      return this.#erase(condition, this.#count(condition, 1, writing), writing);
    });
    return this.#folded(erased);
  }

  async deleteWhere(filter: EntryFilter): Promise<Erasure> {
    const begin = (most: number) => this.change(() => this.#eraseOrBegin(filter, most));
    const begun = await this.#withRoom((isTight) => begin(isTight ? 0 : this.#eraseAtOnce));
    return this.#givingBack("seq" in begun ? await this.#finish(begun) : begun);
  }

  async deleteExpired(): Promise<Erasure> {
    await this.#finishAll();
    const run = new SweepRun(this.session, this.sealer);
    let swept: Erasure | undefined;
    await inSlices(async () => {
      swept = await this.change(() => this.#sweep(run));
      return swept !== undefined;
    });
    this.#reserve.make();
    return this.#givingBack(swept ?? { deleted: run.deleted, erased: "pending" });
  }

  /** Writes the database anew if it keeps freed pages, as older ones do. Nobody else can write meanwhile. Answers whether it did. */
  compact(): Promise<boolean> {
    return this.change(() => {
      if (givesBack(this.session)) return false;
      this.#write(() => undefined); // it is the store that was opened, and can be written
      compact(this.session);
      this.#foldNow();
      return true;
    });
  }

  /** Goes on in the background with what a process that was killed had begun to forget. */
  resume(): void {
    this.#resumed = this.#finishAll().catch(() => undefined); // the next sweep tries again
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
    await this.#resumed;
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
    await inSlices(async () => {
      signal?.throwIfAborted();
      await this.change(() => run.next());
      onProgress?.(run.progress);
      if (this.guard.logBytes >= this.#foldFromBytes) await this.change(() => this.#foldLongLog(true));
      return run.isDone;
    });
  }

  /** Takes the former key out of the store, and what was sealed under it out of the file. */
  finishKeyChange(): Promise<KeyChangeReport> {
    return this.change(() => ({ ...finishKeyChange(this.session, this.sealer), erased: this.#foldNow() }));
  }

  vectorSpaces(): Promise<readonly string[]> {
    return this.perform(() => readVectorSpaces(this.session));
  }

  vectors(query: VectorsQuery): Promise<readonly EntryVectors[]> {
    return this.look((moment) => {
      checkVectorsQuery(query);
      return readVectors(this.session, this.sealer, query, moment);
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
      return this.#writeIfFree(({ moment }) => writeVectors(this.session, this.sealer, made, moment));
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

  #writeIfFree<T>(work: (writing: Writing) => T): T {
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
      const seqs = { row, takeSeqs, nextSeq: () => takeSeqs(1) };
      this.#observe(seqs);
      const answer = work({ ...seqs, moment: { now: this.now(), forgets: pendingForgets(this.session) } });
      if (lastSeq !== first) saveLastSeq(this.session, lastSeq);
      return answer;
    });
    this.guard.noteLastSeq(lastSeq);
    this.#writes += 1;
    const isLong = this.guard.logBytes >= this.#foldFromBytes;
    if (isLong || this.#writes >= WRITES_OF_A_LOG) this.#foldLongLog(isLong);
    return result;
  }

  #observe({ row, nextSeq }: Pick<Writing, "row" | "nextSeq">): void {
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

  #putOne(entry: NewEntry, { moment, nextSeq }: Writing): PutResult {
    const { now, forgets } = moment;
    const ref = refCondition(entry);
    const found = all([ref, sparedCondition(forgets)]);
    const row = this.session
      .statement(`SELECT ${ALL_COLUMNS} FROM entries WHERE ${found.sql}`)
      .get(...found.values);
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
    if (isMore(row, sealed)) requireQuota(this.session, entry, this.#quota);
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

  /** In one transaction what is little; of more only the beginning, see `forgets.ts`. */
  #eraseOrBegin(filter: EntryFilter, most: number): Erasure | Forget {
    const begun = this.#write((writing) => {
      const condition = all([filterCondition(filter), sparedCondition(writing.moment.forgets)]);
      const counts = this.#count(condition, most, writing);
      if (counts.rows <= most) return this.#erase(condition, counts, writing);
      const forget = { seq: writing.nextSeq(), filter };
      beginForget(this.session, forget);
      return forget;
    });
    return "seq" in begun ? begun : this.#folded(begun);
  }

  /** All that is left of one, slice by slice. */
  async #finish(forget: Forget): Promise<Erasure> {
    let run = new ForgetRun(this.session, forget);
    let most = Number.POSITIVE_INFINITY;
    await inSlices(async () => {
      try {
        const isDone = await this.perform(() => this.#eraseSlice(run, most));
        if (Number.isFinite(most)) await this.perform(() => this.#foldNow());
        return isDone;
      } catch (error) {
        if (!isFull(error) || most === 1) throw error;
        most = Number.isFinite(most) ? Math.max(1, most >> 3) : ROWS_ON_FULL_DISK;
        run = new ForgetRun(this.session, forget); // what it had in hand is still there
        await this.#makeRoom();
        return false;
      }
    });
    return this.change(() => ({ deleted: deletedBy(this.session, forget), erased: this.#foldNow() }));
  }

  #eraseSlice(run: ForgetRun, most: number): boolean {
    const isOver = sliceEnd();
    let left = most;
    const mayGoOn = (): boolean => {
      left -= 1;
      return left > 0 && !isOver();
    };
    return this.#write(({ moment }) => run.slice(mayGoOn, moment.now));
  }

  /** Deleting must be possible on a full disk: what is in reserve for it is given up. */
  async #withRoom<T>(work: (isTight: boolean) => Promise<T>): Promise<T> {
    try {
      return await work(false);
    } catch (error) {
      if (!isFull(error)) throw error;
      await this.#makeRoom();
      return work(true);
    }
  }

  async #makeRoom(): Promise<void> {
    this.#reserve.giveUp();
    await this.perform(() => {
      if (mayFold(this.session)) this.#foldNow();
    });
  }

  /** The file gets shorter by what was freed, and the reserve is made again; for no longer than that may take. */
  async #givingBack(erasure: Erasure): Promise<Erasure> {
    if (erasure.deleted === 0) return erasure;
    try {
      const isLate = sliceEnd(GIVING_BACK_MS);
      await inSlices(() => this.perform(() => isLate() || !this.#giveBackSome()));
      return { ...erasure, erased: await this.change(() => this.#gaveBack(erasure)) };
    } catch {
      return erasure; // it is erased; the next sweep gives back
    }
  }

  #giveBackSome(): boolean {
    if (!hasSparePages(this.session)) return false;
    this.#write(() => giveBackPages(this.session));
    this.#hasGivenBack = true;
    return true;
  }

  #gaveBack({ erased }: Erasure): Erasure["erased"] {
    const folded = this.#hasGivenBack ? this.#foldNow() : erased;
    this.#hasGivenBack = false;
    this.#reserve.makeAgain();
    return folded;
  }

  #foldNow(): Erasure["erased"] {
    const foldTime = this.#write(({ row }) => announceFold(this.session, row.foldedAt));
    return this.#folded({ live: 0, foldTime }).erased;
  }

  async #finishAll(): Promise<void> {
    const forgets = await this.look((moment) => moment.forgets);
    for (const forget of forgets) await this.#finish(forget);
  }

  /** One slice; undefined when there are more. */
  #sweep(run: SweepRun): Erasure | undefined {
    this.#erasurePending ||= this.guard.logBytes > 0; // also for what a killed process left in the log
    const isOver = sliceEnd();
    const swept = this.#write((writing) => {
      const remove = (row: SqliteRow): void => {
        this.#noteRemoval(row, writing.nextSeq());
        this.session.statement("DELETE FROM entries WHERE seq = ?").run(row.seq ?? null);
      };
      const isDone = run.slice(() => !isOver(), this.clock.deletableUntil ?? NEVER, remove);
      return isDone ? this.#announced(run.deleted > 0, writing) : undefined;
    });
    return swept && { ...this.#folded({ live: run.deleted, ...swept }) };
  }

  /** Deletes without decrypting anything. */
  #erase(condition: Condition, { rows, live }: Counts, writing: Writing): Erased {
    if (rows > 0) this.#removeRows(condition, writing.takeSeqs(rows), rows);
    return { live, ...this.#announced(rows > 0, writing) };
  }

  #announced(isErased: boolean, { row }: Writing): Pick<Erased, "foldTime"> {
    const mustFold = isErased || this.#erasurePending;
    return { foldTime: mustFold ? announceFold(this.session, row.foldedAt) : undefined };
  }

  /** Folds the log, so that nothing of what was erased is left. */
  #folded({ live, foldTime }: Erased): Erasure {
    if (foldTime === undefined) return { deleted: live, erased: "complete" };
    const erased = fold(this.session, { time: foldTime, busyTimeoutMs: this.#busyTimeoutMs });
    this.guard.acceptFold();
    this.#erasurePending = erased === "pending";
    return { deleted: live, erased };
  }

  /** No further than to know that it is too much for one transaction. */
  #count({ sql, values }: Condition, most: number, { moment }: Writing): Counts {
    const live = liveCondition({ now: moment.now, forgets: [] });
    const counted = this.session
      .statement(
        `SELECT count(*) AS n, count(*) FILTER (WHERE ${live.sql}) AS live
         FROM (SELECT expires_at FROM entries WHERE ${sql} LIMIT ?)`,
      )
      .get(...live.values, ...values, most + 1);
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

/** Whoever has too much may still overwrite with less, and renew what is there. */
function isMore(before: SqliteRow | undefined, sealed: Uint8Array): boolean {
  return !(before?.sealed instanceof Uint8Array) || sealed.byteLength > before.sealed.byteLength;
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
