/**
 * The store of a long-lived process: opens it as soon as it can be opened, and again when its database was moved, deleted or
 * restored from a backup, and after a failed sync.
 *
 * The call that detects it fails with `store_replaced` or `store_unavailable`, and so do all others for a moment, so that a
 * readiness check notices. Then the next call opens the file at the path. A database that was moved away is never re-created:
 * data in a new one would be lost when the old one comes back. Readers of the change feed start over.
 *
 * A changed key is no failure: the store is reopened with the new key at once, and the call is repeated.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { defined } from "../engine/defined.ts";
import { asHelmdeckError, type HelmdeckError, isHelmdeckError } from "../engine/errors.ts";
import { createInMemoryStore } from "../engine/store/in-memory-store.ts";
import type {
  Changes,
  ChangesQuery,
  DecideRenewal,
  Entry,
  EntryFilter,
  EntryRef,
  EntryVectors,
  Erasure,
  FormerKeysPage,
  FormerKeysQuery,
  FormerValue,
  IndexSnapshots,
  InspectOptions,
  ListQuery,
  MemoryStore,
  NewEntry,
  PutManyOptions,
  PutOptions,
  PutResult,
  ReferenceVectors,
  RenewOptions,
  StoreCapabilities,
  StoreGauges,
  StoreIdentity,
  Undone,
  UndoOptions,
  UnixMs,
  VectorsQuery,
} from "../engine/store/memory-store.ts";
import { type Namespace, namespaceOf } from "../engine/store/namespace.ts";
import { systemClock } from "../engine/timing.ts";
import { Availability, type AvailabilityOptions } from "./availability.ts";

export interface ReopeningOptions {
  /** Opens the current database. `beginnings`: how often that was done before. */
  readonly open: (beginnings: number) => Promise<MemoryStore>;
  /** Whether to reopen after this failure; called each time. */
  readonly mayOpen: (cause: HelmdeckError) => boolean;
  /** Absent: the first failure to open is thrown. Otherwise calls fail with it until the store opens. */
  readonly waiting?: Waiting;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
  /** The system's clock, until the store opens. */
  readonly now?: () => UnixMs;
}

/** For a process that serves without its store. Without `onChange`, nothing is asked in the background. */
export interface Waiting extends Partial<AvailabilityOptions> {
  /** Rewrites a failure for callers. `hasOpened`: the store was open before. */
  readonly explain?: (error: HelmdeckError, hasOpened: boolean) => HelmdeckError;
}

/** Until then, every caller gets the error. */
export const REOPEN_AFTER_MS = 2_000;

export class ReopeningStore implements MemoryStore {
  readonly #options: ReopeningOptions;
  readonly #clock: () => number;
  readonly #availability: Availability | undefined;
  /** A placeholder until it opens for the first time. */
  #store: MemoryStore;
  #beginnings = 0;
  #hasOpened = false;
  #failure: { readonly error: HelmdeckError; readonly cause: HelmdeckError; readonly at: number } | undefined;
  #opening: Promise<MemoryStore> | undefined;
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosed = false;

  private constructor(options: ReopeningOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock.now;
    this.#store = createInMemoryStore({ now: options.now ?? Date.now });
    const { onChange, ...more } = options.waiting ?? {};
    const ask = () => this.revision(namespaceOf(""));
    this.#availability = onChange && new Availability({ onChange, ...more }, REOPEN_AFTER_MS, ask);
  }

  static async open(options: ReopeningOptions): Promise<ReopeningStore> {
    const store = new ReopeningStore(options);
    try {
      store.#store = await options.open(0);
      store.#hasOpened = true;
    } catch (thrown) {
      if (options.waiting === undefined) throw thrown;
      const error = asHelmdeckError(thrown);
      store.#fail(error, error);
      store.#availability?.beginLost();
    }
    return store;
  }

  get capabilities(): StoreCapabilities {
    return this.#store.capabilities;
  }

  get identity(): StoreIdentity | undefined {
    return this.#store.identity;
  }

  get gauges(): StoreGauges {
    return { ...this.#store.gauges, ...defined({ losses: this.#availability?.losses }) };
  }

  get snapshots(): IndexSnapshots | undefined {
    return this.#store.snapshots;
  }

  now(): UnixMs {
    return this.#store.now();
  }

  get(ref: EntryRef): Promise<Entry | undefined> {
    return this.#ask((store) => store.get(ref));
  }

  list(query: ListQuery) {
    return this.#ask((store) => store.list(query));
  }

  listMeta(query: ListQuery) {
    return this.#ask((store) => store.listMeta(query));
  }

  history(ref: EntryRef): Promise<readonly FormerValue[]> {
    return this.#ask((store) => store.history(ref));
  }

  formerKeys(query: FormerKeysQuery): Promise<FormerKeysPage> {
    return this.#ask((store) => store.formerKeys(query));
  }

  countWhere(filter: EntryFilter): Promise<number> {
    return this.#ask((store) => store.countWhere(filter));
  }

  changes(query: ChangesQuery): Promise<Changes> {
    return this.#ask((store) => store.changes(query));
  }

  revision(namespace: Namespace, options?: Pick<EntryFilter, "includeSessions">): Promise<number> {
    return this.#ask((store) => store.revision(namespace, options));
  }

  namespaces() {
    return this.#ask((store) => store.namespaces());
  }

  usage(namespace: Namespace) {
    return this.#ask((store) => store.usage(namespace));
  }

  totalUsage() {
    return this.#ask((store) => store.totalUsage());
  }

  categories(namespace: Namespace) {
    return this.#ask((store) => store.categories(namespace));
  }

  referenceVectors(space: string): Promise<ReferenceVectors | undefined> {
    return this.#ask((store) => store.referenceVectors(space));
  }

  inspect(options?: InspectOptions) {
    return this.#ask((store) => store.inspect(options));
  }

  put(entry: NewEntry, options?: PutOptions): Promise<PutResult> {
    return this.#ask((store) => store.put(entry, options));
  }

  undo(ref: EntryRef, options?: UndoOptions): Promise<Undone | undefined> {
    return this.#ask((store) => store.undo(ref, options));
  }

  putMany(entries: readonly NewEntry[], options?: PutManyOptions): Promise<readonly PutResult[]> {
    return this.#ask((store) => store.putMany(entries, options));
  }

  renew(ref: EntryRef, decide: DecideRenewal, options?: RenewOptions): Promise<Entry | undefined> {
    return this.#ask((store) => store.renew(ref, decide, options));
  }

  delete(ref: EntryRef, options?: Pick<EntryFilter, "upTo">): Promise<Erasure> {
    return this.#ask((store) => store.delete(ref, options));
  }

  deleteWhere(filter: EntryFilter): Promise<Erasure> {
    return this.#ask((store) => store.deleteWhere(filter));
  }

  deleteExpired(): Promise<Erasure> {
    return this.#ask((store) => store.deleteExpired());
  }

  vectorSpaces(): Promise<readonly string[]> {
    return this.#ask((store) => store.vectorSpaces());
  }

  vectors(query: VectorsQuery): Promise<readonly EntryVectors[]> {
    return this.#ask((store) => store.vectors(query));
  }

  putVectors(namespace: Namespace, space: string, batch: readonly EntryVectors[]) {
    return this.#ask((store) => store.putVectors(namespace, space, batch));
  }

  deleteOtherVectors(query: VectorsQuery): Promise<void> {
    return this.#ask((store) => store.deleteOtherVectors(query));
  }

  putReferenceVectors(space: string, made: ReferenceVectors): Promise<void> {
    return this.#ask((store) => store.putReferenceVectors(space, made));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#availability?.close();
    await this.#opening?.catch(() => undefined);
    await this.#store.close();
  }

  async #ask<Answer>(work: (store: MemoryStore) => Promise<Answer>): Promise<Answer> {
    try {
      const store = this.#failure === undefined || this.#isClosed ? this.#store : await this.#reopened();
      const answer = await this.#askOf(store, work);
      this.#availability?.noteAnswer();
      return answer;
    } catch (error) {
      if (!isHelmdeckError(error) || this.#isClosed) throw error;
      if (this.#failure !== undefined || error.code === "store_unavailable")
        this.#availability?.noteLoss(error);
      throw this.#options.waiting?.explain?.(error, this.#hasOpened) ?? error;
    }
  }

  async #askOf<Answer>(store: MemoryStore, work: (store: MemoryStore) => Promise<Answer>): Promise<Answer> {
    try {
      return await this.#call(store, work);
    } catch (error) {
      if (mustReopen(error) && store === this.#store) this.#fail(error, error);
      if (!isKeyChange(error) || this.#isClosed) throw error;
    }
    return this.#call(await this.#reopened(), work); // the failed transaction wrote nothing
  }

  async #call<Answer>(store: MemoryStore, work: (store: MemoryStore) => Promise<Answer>): Promise<Answer> {
    const call = work(store);
    this.#underWay.add(call);
    try {
      return await call;
    } finally {
      this.#underWay.delete(call);
    }
  }

  #reopened(): Promise<MemoryStore> {
    this.#opening ??= this.#reopen().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #reopen(): Promise<MemoryStore> {
    const { error, cause, at } = this.#failure ?? {};
    if (error === undefined || cause === undefined) return this.#store;
    const isNew = error === cause; // not after a failed attempt to open it
    if (isNew && isKeyChange(cause)) await Promise.allSettled(this.#underWay);
    else if (this.#clock() - (at ?? 0) < REOPEN_AFTER_MS || !this.#options.mayOpen(cause)) throw error;
    try {
      await this.#store.close();
      this.#store = await this.#options.open(this.#beginnings + 1);
      this.#beginnings += 1;
      this.#hasOpened = true;
      this.#failure = undefined;
      return this.#store;
    } catch (failed) {
      this.#fail(asHelmdeckError(failed), cause);
      throw failed;
    }
  }

  #fail(error: HelmdeckError, cause: HelmdeckError): void {
    this.#failure = { error, cause, at: this.#clock() };
  }
}

/** For a file: re-creates it only when it was deleted from an existing folder. */
export function mayOpenFile(path: string, { details }: HelmdeckError): boolean {
  return existsSync(path) || (details.now === "deleted" && existsSync(dirname(path)));
}

/** The database is the same, but its rows are encrypted with another key. */
function isKeyChange(error: unknown): boolean {
  return isHelmdeckError(error) && error.code === "store_replaced" && error.details.now === "key";
}

function mustReopen(error: unknown): error is HelmdeckError {
  return isHelmdeckError(error) && (error.code === "store_replaced" || error.details.reopen === true);
}
