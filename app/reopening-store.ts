/**
 * The store of a process that lives long: opened again when its database was moved, deleted, or put back from a backup, and when
 * the disk failed to sync it.
 *
 * The call that finds out fails with `store_replaced` or `store_unavailable`, and for a moment so does everything else, so that a readiness check sees
 * it. Then the next call opens what is at the path. A database that was moved away is waited for, never made anew: what is
 * written into a new one would be lost when the old one comes back. Readers of the change feed begin anew.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import {
  asHelmdeckError,
  type Changes,
  type ChangesQuery,
  type DecideRenewal,
  type Entry,
  type EntryFilter,
  type EntryRef,
  type EntryVectors,
  type Erasure,
  type FormerKeysPage,
  type FormerKeysQuery,
  type FormerValue,
  type HelmdeckError,
  type InspectOptions,
  isHelmdeckError,
  type ListQuery,
  type MemoryStore,
  type Namespace,
  type NewEntry,
  type PutManyOptions,
  type PutOptions,
  type PutResult,
  type ReferenceVectors,
  type RenewOptions,
  type StoreCapabilities,
  type StoreIdentity,
  systemClock,
  type Undone,
  type UndoOptions,
  type UnixMs,
  type VectorsQuery,
} from "../engine/index.ts";

export interface ReopeningOptions {
  /** Opens what is there now. `beginnings`: how often that has been done. */
  readonly open: (beginnings: number) => Promise<MemoryStore>;
  /** After this failure; asked again at each call. */
  readonly mayOpen: (cause: HelmdeckError) => boolean;
  /** Why it could not be opened yet; the store that is given only stands in for it. */
  readonly failure?: HelmdeckError;
  /** What callers are told in place of a failure. */
  readonly explain?: (error: HelmdeckError) => HelmdeckError;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
}

/** Until then every caller is told what went wrong. */
export const REOPEN_AFTER_MS = 2_000;

export class ReopeningStore implements MemoryStore {
  readonly #options: ReopeningOptions;
  readonly #clock: () => number;
  #store: MemoryStore;
  #beginnings = 0;
  #failure: { readonly error: HelmdeckError; readonly cause: HelmdeckError; readonly at: number } | undefined;
  #opening: Promise<MemoryStore> | undefined;
  #isClosed = false;

  constructor(store: MemoryStore, options: ReopeningOptions) {
    this.#store = store;
    this.#options = options;
    this.#clock = options.clock ?? systemClock.now;
    if (options.failure !== undefined) this.#fail(options.failure, options.failure);
  }

  get capabilities(): StoreCapabilities {
    return this.#store.capabilities;
  }

  get identity(): StoreIdentity | undefined {
    return this.#store.identity;
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

  revision(namespace: Namespace): Promise<number> {
    return this.#ask((store) => store.revision(namespace));
  }

  namespaces() {
    return this.#ask((store) => store.namespaces());
  }

  usage(namespace: Namespace) {
    return this.#ask((store) => store.usage(namespace));
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

  delete(ref: EntryRef): Promise<Erasure> {
    return this.#ask((store) => store.delete(ref));
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
    await this.#opening?.catch(() => undefined);
    await this.#store.close();
  }

  async #ask<Answer>(work: (store: MemoryStore) => Promise<Answer>): Promise<Answer> {
    try {
      const store = this.#failure === undefined || this.#isClosed ? this.#store : await this.#reopened();
      return await this.#askOf(store, work);
    } catch (error) {
      throw isHelmdeckError(error) ? (this.#options.explain?.(error) ?? error) : error;
    }
  }

  async #askOf<Answer>(store: MemoryStore, work: (store: MemoryStore) => Promise<Answer>): Promise<Answer> {
    try {
      return await work(store);
    } catch (error) {
      if (mustReopen(error) && store === this.#store) this.#fail(error, error);
      throw error;
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
    if (this.#clock() - (at ?? 0) < REOPEN_AFTER_MS || !this.#options.mayOpen(cause)) throw error;
    try {
      await this.#store.close();
      this.#store = await this.#options.open(this.#beginnings + 1);
      this.#beginnings += 1;
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

/** Of a file: only a database that was deleted from a folder that is still there is made anew. */
export function mayOpenFile(path: string, { details }: HelmdeckError): boolean {
  return existsSync(path) || (details.now === "deleted" && existsSync(dirname(path)));
}

function mustReopen(error: unknown): error is HelmdeckError {
  return isHelmdeckError(error) && (error.code === "store_replaced" || error.details.reopen === true);
}
