/** The PostgreSQL store: the reader, plus writes, each in one transaction; puts share theirs with others of the same subject. */
import { defined } from "../../defined.ts";
import { isHelmdeckError } from "../../errors.ts";
import { requireReached } from "../../rules/conditions.ts";
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
import { type Namespace, ownerOf } from "../namespace.ts";
import { checkNewReferences, checkNewVectors, checkVectorsQuery } from "../vector-rules.ts";
import { beginKeyChange, finishKeyChange, reseal, whileChanging } from "./change-key.ts";
import type { ChangeNotifications } from "./change-notifications.ts";
import { filterCondition } from "./conditions.ts";
import type { Connection } from "./connection.ts";
import { judgeKeys, type Putting, putEntry, renewEntry, undoEntry } from "./entry-writes.ts";
import { eraseCovered } from "./former-rows.ts";
import { isLost } from "./postgres-errors.ts";
import { PostgresReader, type PostgresReaderParts } from "./postgres-reader.ts";
import {
  readVectorSpaces,
  readVectors,
  removeOtherVectors,
  writeReferences,
  writeVectors,
} from "./postgres-vectors.ts";
import { readNewer, removeEntries } from "./removals.ts";
import { dropNames, sweepExpired } from "./sweep.ts";
import { type WriteOptions, WriteTransactions } from "./transactions.ts";
import type { Writing } from "./writing.ts";

export interface PostgresStoreParts extends PostgresReaderParts {
  readonly notifications: ChangeNotifications;
  readonly keepRemovals: number;
  readonly quota: Quota;
}

interface Put {
  readonly namespace: Namespace;
  readonly work: (writing: Writing) => Promise<PutResult>;
}

export class PostgresStore extends PostgresReader implements MemoryStore {
  readonly #putting: Putting;
  readonly #transactions: WriteTransactions;
  /** A lane for each subject. */
  readonly #together = new GroupCommit<Put>((puts, progress) => this.#putTogether(puts, progress));
  readonly #notifications: ChangeNotifications;

  constructor(parts: PostgresStoreParts) {
    super(parts);
    this.#putting = parts;
    this.#transactions = new WriteTransactions(parts);
    this.#notifications = parts.notifications;
  }

  get gauges(): StoreGauges {
    const isKeyChanging = this.sealer.ring.former !== undefined;
    return { quota: this.#putting.quota, isKeyChanging, connections: this.database.counts };
  }

  async put(entry: NewEntry, options: PutOptions = {}): Promise<PutResult> {
    checkNewEntry(entry);
    const supersedes = checkSuperseded(entry, options.supersedes);
    const { namespace } = entry;
    const work = (writing: Writing) => putEntry(this.#putting, entry, writing, { ...options, supersedes });
    return this.#together.write({ namespace, work }, ownerOf(namespace));
  }

  /** A put that is alone needs no savepoint: the transaction is it. */
  #putTogether(puts: readonly Put[], progress: Progress): Promise<readonly Outcome[]> {
    const namespaces = puts.map(({ namespace }) => namespace);
    const carryOut = async (writing: Writing): Promise<readonly Outcome[]> => {
      progress.isInside = true;
      try {
        const outcomes: Outcome[] = [];
        for (const { work } of puts) outcomes.push(await attempt(work, writing, puts.length > 1));
        if (puts.length > 1) await writing.connection.carriedOut();
        progress.isInside = false;
        return outcomes;
      } catch (error) {
        progress.isInside = !isLost(error); // without a connection, none would fare better alone
        throw error;
      }
    };
    return this.#transactions.write(namespaces, carryOut, { numbers: puts.length });
  }

  /** After the puts that were asked for before. */
  #write<T>(
    namespaces: readonly Namespace[],
    work: (writing: Writing) => Promise<T>,
    options?: WriteOptions,
  ): Promise<T> {
    for (const namespace of namespaces) void this.#together.flush(ownerOf(namespace));
    return this.#transactions.write(namespaces, work, options);
  }

  async putMany(
    entries: readonly NewEntry[],
    { keysSince = new Map(), ...rules }: PutManyOptions = {},
  ): Promise<readonly PutResult[]> {
    for (const entry of entries) checkNewEntry(entry);
    const namespaces = entries.map(({ namespace }) => namespace);
    return this.#write(
      namespaces,
      async (writing) => {
        for (const [namespace, since] of keysSince) await judgeKeys(namespace, since, writing);
        const results: PutResult[] = [];
        for (const entry of entries) {
          results.push(await putEntry(this.#putting, entry, writing, rules));
        }
        return results;
      },
      { numbers: entries.length },
    );
  }

  async renew(ref: EntryRef, decide: DecideRenewal, options: RenewOptions = {}): Promise<Entry | undefined> {
    return this.#write(
      [ref.namespace],
      (writing) => renewEntry(this.#putting, ref, decide, writing, options),
      defined({ givesWay: options.givesWay }),
    );
  }

  async renewMany(refs: readonly EntryRef[], decide: DecideRenewal): Promise<readonly (Entry | undefined)[]> {
    const carryOut = async (writing: Writing) => {
      const renewed: (Entry | undefined)[] = [];
      for (const ref of refs) {
        const { judge, kept } = judged(decide);
        renewed.push(kept(await renewEntry(this.#putting, ref, judge, writing, {})));
      }
      return renewed;
    };
    const namespaces = refs.map(({ namespace }) => namespace);
    return this.#write(namespaces, carryOut, { numbers: refs.length });
  }

  async undo(ref: EntryRef, options: UndoOptions = {}): Promise<Undone | undefined> {
    return this.#write([ref.namespace], (writing) => undoEntry(this.#putting, ref, writing, options));
  }

  delete({ namespace, origin, key }: EntryRef, options?: DeleteOptions): Promise<Erasure> {
    return this.deleteWhere({ namespace, origins: [origin], key, ...options });
  }

  async deleteWhere(filter: EntryFilter): Promise<Erasure> {
    const condition = filterCondition(filter);
    return this.#write(
      [filter.namespace],
      async (writing) => {
        const subject = writing.of(filter.namespace);
        requireReached(filter, subject.newestSeq);
        const { erased: former, newer: kept } = await eraseCovered(writing, this.sealer, filter);
        const newer = await readNewer(writing, filter, kept);
        const { rows, live } = await removeEntries(writing, subject, condition, this.#putting);
        const erased = rows + former > 0 ? "pending" : "complete";
        return { deleted: live, erased, ...(former > 0 && { former }), ...defined({ newer }) };
      },
      { numbers: 0 },
    );
  }

  async deleteExpired(): Promise<Erasure> {
    await this.#transactions.look();
    this.database.requireOpen();
    const { readingAll } = this.#changing;
    await dropNames(this.#transactions, readingAll);
    const until = this.clock.deletableUntil;
    if (until === undefined) return { deleted: 0, erased: "complete" };
    const deleted = await sweepExpired(this.#putting, this.#transactions, until, readingAll);
    return { deleted, erased: deleted === 0 ? "complete" : "pending" };
  }

  vectorSpaces(): Promise<readonly string[]> {
    return this.readingAll(readVectorSpaces);
  }

  async vectors(query: VectorsQuery): Promise<readonly EntryVectors[]> {
    checkVectorsQuery(query);
    return this.reading(query.namespace, (connection) =>
      readVectors(connection, this.sealer, query, this.now()),
    );
  }

  async putVectors(
    namespace: Namespace,
    space: string,
    batch: readonly EntryVectors[],
  ): Promise<readonly EntryId[]> {
    checkNewVectors(space, batch);
    const made = { namespace, space, batch };
    return this.#writeIfFree([namespace], async (writing) => {
      writing.of(namespace);
      return writeVectors(writing, this.sealer, made);
    });
  }

  async deleteOtherVectors(query: VectorsQuery): Promise<void> {
    checkVectorsQuery(query);
    await this.#writeIfFree([query.namespace], (writing) => {
      writing.of(query.namespace);
      return removeOtherVectors(writing, query);
    });
  }

  async putReferenceVectors(space: string, made: ReferenceVectors): Promise<void> {
    checkNewReferences(space, made);
    await this.#writeIfFree([], ({ connection }) => writeReferences(connection, this.sealer, space, made));
  }

  /** Until {@link finishKeyChange}, both keys open the store; see `change-key.ts`. */
  beginKeyChange(newKey: MasterKey): Promise<void> {
    return beginKeyChange(this.#changing, newKey);
  }

  /** Exchanges key files while no other process can finish this change or begin another one. */
  exchangeKeys(exchange: () => void): Promise<void> {
    return whileChanging(this.#changing, exchange);
  }

  /** Reseals every row under the current key; can be interrupted and called again at any time. */
  reseal(options: ResealOptions = {}): Promise<void> {
    return reseal(this.#changing, options);
  }

  /** Removes the former key from the store. */
  finishKeyChange(): Promise<KeyChangeReport> {
    return finishKeyChange(this.#changing);
  }

  override async close(): Promise<void> {
    await this.#together.flushAll();
    await this.#transactions.ended();
    await this.#notifications.close();
    await super.close();
  }

  /**
   * Calls `listener` soon after any engine's write for this namespace's subject, and sometimes without one, until the returned
   * function is called. A write may be missed while the server cannot be reached; check the revision as well where that matters.
   */
  watch(namespace: Namespace, listener: () => void): () => void {
    return this.#notifications.watch(namespace, listener);
  }

  /** Saves the observed time: at open, so that it counts from then on. */
  async keepTime(): Promise<void> {
    await this.#transactions.look();
  }

  /** False for a standby, and for a server that is set to read-only. */
  async isWritable(): Promise<boolean> {
    const [answer] = await this.database.perform((connection) =>
      connection.query(
        "SELECT (pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool)::int AS read_only",
      ),
    );
    return answer?.read_only === 0;
  }

  protected override get mayWrite(): boolean {
    return true;
  }

  get #changing() {
    const readingAll = <T>(work: (connection: Connection) => Promise<T>) => this.readingAll(work);
    return { sealer: this.sealer, transactions: this.#transactions, readingAll };
  }

  #writeIfFree<T>(namespaces: readonly Namespace[], work: (writing: Writing) => Promise<T>): Promise<T> {
    return this.#write(namespaces, work, { givesWay: true, numbers: 0 });
  }
}

async function attempt(work: Put["work"], writing: Writing, isOneOfMany: boolean): Promise<Outcome> {
  try {
    const answer = await (isOneOfMany ? writing.attempt(() => work(writing)) : work(writing));
    return () => answer;
  } catch (error) {
    if (!isOneOfMany || !isHelmdeckError(error)) throw error;
    return refused(error);
  }
}
