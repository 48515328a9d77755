/** The SQLite store: the reader, plus writes, each in one transaction; puts share theirs with others of the same moment. */
import { isHelmdeckError } from "../../errors.ts";
import { checkSuperseded } from "../../rules/history.ts";
import { judged } from "../../rules/plans.ts";
import type { Quota } from "../../rules/quota.ts";
import { checkNewEntry } from "../entry-rules.ts";
import { GroupCommit, type Outcome, type Progress, refused } from "../group-commit.ts";
import type { KeyChangeReport, ResealOptions } from "../key-change.ts";
import type { MasterKey } from "../master-key.ts";
import type {
  DecideRenewal,
  DeleteOptions,
  Entry,
  EntryFilter,
  EntryId,
  EntryRef,
  EntryVectors,
  Erasure,
  MemoryStore,
  NewEntry,
  PutManyOptions,
  PutOptions,
  PutResult,
  ReferenceVectors,
  RenewOptions,
  StoreGauges,
  Undone,
  UndoOptions,
  VectorsQuery,
} from "../memory-store.ts";
import type { Namespace } from "../namespace.ts";
import { checkNewReferences, checkNewVectors, checkVectorsQuery } from "../vector-rules.ts";
import { Checkpointer } from "./checkpoint.ts";
import { DiskSpace } from "./disk-space.ts";
import { judgeKeys, type Putting, putEntry, renewEntry, undoEntry } from "./entry-writes.ts";
import { Eraser } from "./erasing.ts";
import { SqliteSnapshots } from "./index-snapshots.ts";
import { beginKeyChange, finishKeyChange, ResealRun, requireChangeBegun } from "./reseal.ts";
import { inSlices } from "./slices.ts";
import { SqliteReader, type SqliteReaderParts } from "./sqlite-reader.ts";
import {
  readVectorSpaces,
  readVectors,
  removeOtherVectors,
  writeReferences,
  writeVectors,
} from "./sqlite-vectors.ts";
import { WriteTransactions, type Writing } from "./transactions.ts";
import { compact, hasIncrementalVacuum } from "./vacuum.ts";

export interface SqliteStoreParts extends SqliteReaderParts {
  readonly keepRemovals: number;
  readonly quota: Quota;
  /** The most entries to delete in one transaction; larger deletes run in slices. */
  readonly eraseAtOnce: number;
  /** The file or its folder is read-only: every write is refused. */
  readonly isReadOnly: boolean;
}

type Put = (writing: Writing) => PutResult;

export class SqliteStore extends SqliteReader implements MemoryStore {
  readonly #isReadOnly: boolean;
  readonly #putting: Putting;
  readonly #log: Checkpointer;
  readonly #transactions: WriteTransactions;
  readonly #eraser: Eraser;
  readonly #together: GroupCommit<Put>;
  readonly snapshots: SqliteSnapshots | undefined;
  #resumed: Promise<void> = Promise.resolve();

  constructor(parts: SqliteStoreParts) {
    super(parts);
    const { calls } = this;
    const log = new Checkpointer(parts);
    const transactions = new WriteTransactions({ ...parts, log });
    const space = new DiskSpace({ ...parts, calls, transactions, log });
    this.#isReadOnly = parts.isReadOnly;
    this.#putting = parts;
    this.#log = log;
    this.#transactions = transactions;
    this.#eraser = new Eraser({ ...parts, calls, transactions, log, space });
    if (!parts.isInMemory) this.snapshots = new SqliteSnapshots({ ...parts, calls, transactions });
    this.#together = new GroupCommit((puts, progress) => this.#putTogether(puts, progress));
  }

  get gauges(): StoreGauges {
    return { quota: this.#putting.quota, isKeyChanging: this.sealer.ring.former !== undefined };
  }

  async put(entry: NewEntry, options: PutOptions = {}): Promise<PutResult> {
    checkNewEntry(entry);
    const supersedes = checkSuperseded(entry, options.supersedes);
    return this.#together.write((writing) =>
      putEntry(this.#putting, entry, writing, { ...options, supersedes }),
    );
  }

  /** Nothing is awaited inside. A put that is alone needs no savepoint: the transaction is it. */
  #putTogether(puts: readonly Put[], progress: Progress): Promise<readonly Outcome[]> {
    return this.calls.write(() =>
      this.#transactions.write((writing) => {
        progress.isInside = true;
        const outcomes = puts.map((put) => this.#attempt(put, writing, puts.length > 1));
        progress.isInside = false;
        return outcomes;
      }),
    );
  }

  #attempt(put: Put, writing: Writing, isOneOfMany: boolean): Outcome {
    try {
      const answer = isOneOfMany ? writing.attempt(() => put(writing)) : put(writing);
      return () => answer;
    } catch (error) {
      if (!isOneOfMany || !isHelmdeckError(error) || !this.session.connection.inTransaction) throw error;
      return refused(error);
    }
  }

  /** After the puts that were asked for before. */
  #write<T>(work: () => T): Promise<T> {
    void this.#together.flush();
    return this.calls.write(work);
  }

  undo(ref: EntryRef, options: UndoOptions = {}): Promise<Undone | undefined> {
    return this.#write(() => {
      const undone = this.#transactions.write((writing) => undoEntry(this.#putting, ref, writing, options));
      if (undone === undefined) return undefined;
      if (options.erasesLater === true) this.#transactions.foldLater();
      else this.#transactions.checkpointNow(); // erases the undone value
      return undone;
    });
  }

  putMany(
    entries: readonly NewEntry[],
    { keysSince = new Map(), ...rules }: PutManyOptions = {},
  ): Promise<readonly PutResult[]> {
    return this.#write(() => {
      for (const entry of entries) checkNewEntry(entry);
      if (entries.length === 0) return [];
      return this.#transactions.write((writing) => {
        for (const [namespace, since] of keysSince) judgeKeys(this.#putting, namespace, since, writing);
        return entries.map((entry) => putEntry(this.#putting, entry, writing, rules));
      });
    });
  }

  renew(ref: EntryRef, decide: DecideRenewal, options: RenewOptions = {}): Promise<Entry | undefined> {
    return this.#write(() => {
      const work = (writing: Writing) => renewEntry(this.#putting, ref, decide, writing, options);
      return options.givesWay === true
        ? this.#transactions.writeIfFree(work)
        : this.#transactions.write(work);
    });
  }

  renewMany(refs: readonly EntryRef[], decide: DecideRenewal): Promise<readonly (Entry | undefined)[]> {
    return this.#write(() =>
      this.#transactions.write((writing) =>
        refs.map((ref) => {
          const { judge, kept } = judged(decide);
          return kept(renewEntry(this.#putting, ref, judge, writing, {}));
        }),
      ),
    );
  }

  delete(ref: EntryRef, options?: DeleteOptions): Promise<Erasure> {
    void this.#together.flush();
    return this.#eraser.delete(ref, options);
  }

  deleteWhere(filter: EntryFilter): Promise<Erasure> {
    void this.#together.flush();
    return this.#eraser.deleteWhere(filter);
  }

  async deleteExpired(): Promise<Erasure> {
    const swept = await this.#eraser.deleteExpired();
    await this.snapshots?.removeUnused();
    return swept;
  }

  /** Rewrites the database if it keeps freed pages, as older ones do. Nobody else can write meanwhile. Returns whether it did. */
  compact(): Promise<boolean> {
    return this.#write(() => {
      if (hasIncrementalVacuum(this.session)) return false;
      this.#transactions.write(() => undefined); // verifies that it is the opened store and is writable
      compact(this.session);
      this.#transactions.checkpointNow();
      return true;
    });
  }

  /** Finishes, in the background, deletes of a process that was killed. */
  resume(): void {
    this.#resumed = this.#eraser.finishAll().catch(() => undefined); // the next sweep retries
  }

  protected override get isWritable(): boolean {
    return !this.#isReadOnly;
  }

  /** Saves the observed time, unless somebody else is writing: at open and at close. */
  keepTime(): void {
    this.#transactions.keepTime();
  }

  override async close(): Promise<void> {
    await this.#together.flush();
    // Also notices a database that somebody has overwritten: the last close would checkpoint the log into it.
    await this.calls.perform(() => this.keepTime()).catch(() => undefined);
    await super.close();
    await this.#resumed;
  }

  /** Until {@link finishKeyChange}, both keys open the store; see `change-key.ts`. */
  beginKeyChange(newKey: MasterKey): Promise<void> {
    return this.#write(() => {
      this.#transactions.requireWritable();
      beginKeyChange(this.session, this.sealer, newKey);
    });
  }

  /** Exchanges key files while no other process can finish this change or begin another one. */
  exchangeKeys(exchange: () => void): Promise<void> {
    return this.#write(() =>
      this.#transactions.write(() => {
        requireChangeBegun(this.session, this.sealer);
        exchange();
      }),
    );
  }

  /** Reseals every row under the current key, in slices; can be interrupted and called again at any time. */
  async reseal({ onProgress, signal }: ResealOptions = {}): Promise<void> {
    const run = new ResealRun(this.session, this.sealer);
    await inSlices(async (isOver) => {
      signal?.throwIfAborted();
      await this.calls.write(() => run.next(isOver));
      onProgress?.(run.progress);
      await this.calls.write(() => this.#log.checkpointBetweenSlices());
      return run.isDone;
    });
  }

  /** Removes the former key from the store, and data sealed under it from the file. */
  finishKeyChange(): Promise<KeyChangeReport> {
    return this.#write(() => ({
      ...finishKeyChange(this.session, this.sealer),
      erased: this.#transactions.checkpointNow(),
    }));
  }

  vectorSpaces(): Promise<readonly string[]> {
    return this.calls.perform(() => readVectorSpaces(this.session));
  }

  vectors(query: VectorsQuery): Promise<readonly EntryVectors[]> {
    return this.calls.read((moment) => {
      checkVectorsQuery(query);
      return readVectors(this.session, this.sealer, query, moment);
    });
  }

  putVectors(
    namespace: Namespace,
    space: string,
    batch: readonly EntryVectors[],
  ): Promise<readonly EntryId[]> {
    return this.#write(() => {
      checkNewVectors(space, batch);
      if (batch.length === 0) return [];
      const made = { namespace, space, batch };
      return this.#transactions.writeIfFree(({ moment }) =>
        writeVectors(this.session, this.sealer, made, moment),
      );
    });
  }

  deleteOtherVectors(query: VectorsQuery): Promise<void> {
    return this.#write(() => {
      checkVectorsQuery(query);
      this.#transactions.writeIfFree(() => removeOtherVectors(this.session, query));
    });
  }

  putReferenceVectors(space: string, made: ReferenceVectors): Promise<void> {
    return this.#write(() => {
      checkNewReferences(space, made);
      this.#transactions.writeIfFree(() => writeReferences(this.session, this.sealer, space, made));
    });
  }
}
