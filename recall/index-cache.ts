/** The in-memory indexes of namespaces: as many as fit a limit, least recently used evicted first, and none that stays idle. */
import PQueue from "p-queue";
import type { Namespace } from "../engine/store/namespace.ts";
import { backgroundTimer, systemClock, type Timer } from "../engine/timing.ts";
import { closedError, NamespaceIndex, type NamespaceIndexOptions } from "./namespace-index.ts";
import type { IndexCounts } from "./search-contract.ts";

export interface IndexLimits {
  /** Default 256 MiB for all together. One that exceeds it alone is kept beside the others: the last used of these. */
  readonly limitBytes?: number;
  /** An index is evicted after this time without use. Default: never. */
  readonly idleMs?: number;
}

export interface IndexCacheOptions extends NamespaceIndexOptions {
  readonly limits?: IndexLimits;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
  readonly timer?: Timer;
}

const LIMIT_BYTES = 256 * 2 ** 20;
/** Large memories read for the first time at once: an index in use is never evicted, and a thousand cold searches would need a thousand. */
const MOST_FIRST_READINGS = 4;
const IDLE_STEPS = 4;
/** Where indexes are never evicted, they are saved after this time without use. */
const SAVE_AFTER_MS = 7 * 60_000;

interface Kept {
  readonly index: NamespaceIndex;
  readonly begunAt: number;
  /** When last measured. */
  sizeBytes: number;
  usedAt: number;
}

export class IndexCache {
  readonly #options: IndexCacheOptions;
  readonly #limitBytes: number;
  readonly #clock: () => number;
  /** Least recently used first. */
  readonly #kept = new Map<Namespace, Kept>();
  /** How many exceed the limit alone, and the size of the others. */
  #oversized = 0;
  #totalBytes = 0;
  readonly #happened = { begun: 0, evicted: 0, readings: 0, readingMs: 0 };
  readonly #turns = new PQueue({ concurrency: MOST_FIRST_READINGS });
  #cancelCheck: (() => void) | undefined;
  #isClosed = false;

  constructor(options: IndexCacheOptions) {
    this.#options = options;
    this.#limitBytes = options.limits?.limitBytes ?? LIMIT_BYTES;
    this.#clock = options.clock ?? systemClock.now;
  }

  get counts(): IndexCounts {
    const now = this.#clock();
    const all = [...this.#kept.values()];
    return {
      kept: all.length,
      sizeBytes: all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      limitBytes: this.#limitBytes,
      ageMs: all.reduce((oldest, { begunAt }) => Math.max(oldest, now - begunAt), 0),
      ...this.#happened,
    };
  }

  /** An index in use is not evicted, so that no search loses it. */
  async use<T>(namespace: Namespace, work: (namespaceIndex: NamespaceIndex) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closedError();
    const { index } = this.#take(namespace);
    this.#checkLater();
    index.users += 1;
    try {
      return await work(index);
    } finally {
      index.users -= 1;
      this.#makeRoom();
      index.relateLater();
    }
  }

  /** Indexes that nobody uses are saved. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelCheck?.();
    for (const { index } of this.#kept.values()) if (!index.isBusy) await index.save();
    for (const namespace of [...this.#kept.keys()]) this.#evict(namespace);
  }

  #take(namespace: Namespace): Kept {
    const kept = this.#kept.get(namespace) ?? this.#begin(namespace);
    kept.usedAt = this.#clock();
    this.#kept.delete(namespace);
    this.#kept.set(namespace, kept);
    return kept;
  }

  #begin(namespace: Namespace): Kept {
    this.#happened.begun += 1;
    const onRead = (tookMs: number): void => {
      this.#happened.readings += 1;
      this.#happened.readingMs += tookMs;
    };
    const turn = () =>
      new Promise<() => void>((begin) => {
        void this.#turns.add(() => new Promise<void>(begin));
      });
    const options = { ...this.#options, onRead, turn };
    const index = new NamespaceIndex(namespace, options, () => this.#measure(namespace));
    return { index, begunAt: this.#clock(), sizeBytes: 0, usedAt: 0 };
  }

  #measure(namespace: Namespace): void {
    const kept = this.#kept.get(namespace);
    if (kept === undefined) return;
    this.#count(kept, -1);
    kept.sizeBytes = kept.index.sizeBytes;
    this.#count(kept, 1);
    this.#makeRoom();
  }

  #count({ sizeBytes }: Kept, sign: 1 | -1): void {
    if (sizeBytes > this.#limitBytes) this.#oversized += sign;
    else this.#totalBytes += sign * sizeBytes;
  }

  /** An index that exceeds the limit alone is evicted only for another such: otherwise it and the small ones would evict each other. */
  #makeRoom(): void {
    for (const [namespace, { index, sizeBytes }] of this.#kept) {
      const areTooLarge = this.#totalBytes > this.#limitBytes;
      if (!areTooLarge && this.#oversized <= 1) return;
      const mayGo = sizeBytes > this.#limitBytes ? this.#oversized > 1 : areTooLarge;
      if (mayGo && !index.isBusy) this.#evict(namespace);
    }
  }

  #evict(namespace: Namespace): void {
    const kept = this.#kept.get(namespace);
    if (kept === undefined) return;
    this.#kept.delete(namespace);
    this.#count(kept, -1);
    this.#happened.evicted += 1;
    kept.index.drop();
  }

  #checkLater(): void {
    const { limits, snapshots, timer = backgroundTimer } = this.#options;
    const stepMs = limits?.idleMs === undefined ? SAVE_AFTER_MS : limits.idleMs / IDLE_STEPS;
    if (limits?.idleMs === undefined && snapshots === undefined) return;
    this.#cancelCheck ??= timer(() => this.#check(stepMs), stepMs);
  }

  #check(stepMs: number): void {
    const { limits } = this.#options;
    if (limits?.idleMs !== undefined) this.#evictIdle(this.#clock() - limits.idleMs);
    this.#cancelCheck = undefined;
    if (this.#kept.size > 0) this.#checkLater();
    void this.#saveUnused(this.#clock() - stepMs);
  }

  /** Keeps an index whose entries wait for vectors: nobody else would continue with them. */
  #evictIdle(since: number): void {
    for (const [namespace, { index, usedAt }] of this.#kept) {
      if (usedAt > since) break;
      if (!index.isBusy && index.isSettled) this.#evict(namespace);
    }
  }

  /** One after the other, so that a server answers meanwhile. */
  async #saveUnused(since: number): Promise<void> {
    for (const { index, usedAt } of [...this.#kept.values()])
      if (usedAt <= since && !index.isBusy && !this.#isClosed) await index.save();
  }
}
