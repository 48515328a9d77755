/**
 * The store of a long-lived process: opens it as soon as it can be opened, and again when its database was moved, deleted or
 * restored from a backup, and after a failed sync.
 *
 * The call that detects it fails with `store_replaced` or `store_unavailable`, and so do all others for a moment, so that a
 * readiness check notices. Then the next call opens the file at the path. A database that was moved away is never re-created:
 * data in a new one would be lost when the old one comes back. Readers of the change feed start over.
 *
 * A changed key is no failure: the store is reopened with the new key at once, and the call is repeated. So is a store that was
 * opened to read, when somebody else has written the file, or when it can be written again.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { defined } from "../engine/defined.ts";
import { asHelmdeckError, HelmdeckError, isHelmdeckError } from "../engine/errors.ts";
import { DEFAULT_QUOTA } from "../engine/rules/quota.ts";
import type {
  IndexSnapshots,
  MemoryStore,
  StoreCapabilities,
  StoreGauges,
  StoreIdentity,
  UnixMs,
} from "../engine/store/memory-store.ts";
import { namespaceOf } from "../engine/store/namespace.ts";
import { systemClock } from "../engine/timing.ts";
import { Availability, type AvailabilityOptions } from "./availability.ts";

export interface ReopeningOptions {
  /** Opens the current database. `beginnings`: how often that was done before. */
  readonly open: (beginnings: number) => Promise<MemoryStore>;
  /** Whether to reopen after this failure; called each time. */
  readonly mayOpen: (cause: HelmdeckError) => boolean;
  /** Whether a failed call, which wrote nothing, succeeds once the store was opened again. A changed key is such a failure. */
  readonly isOutdated?: (error: HelmdeckError) => Promise<boolean>;
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

interface Failure {
  readonly error: HelmdeckError;
  readonly cause: HelmdeckError;
  readonly at: number;
  /** It is opened again at once. */
  readonly isOutdated: boolean;
}

/** Until then, every caller gets the error. */
export const REOPEN_AFTER_MS = 2_000;

/** How long after an administrator made room on the disk that is noticed. */
export const ROOM_AFTER_MS = 10_000;
/** As large as a caller's entry may be: less finds room in a page that has some. No caller sees it. */
const ROOM = { namespace: namespaceOf(undefined, "room"), origin: "cache", key: "room" } as const;
const ROOM_BYTES = 32_768;

/** The methods that ask the database. */
type Asked = Exclude<
  { [Name in keyof MemoryStore]-?: MemoryStore[Name] extends Asks ? Name : never }[keyof MemoryStore],
  "close"
>;
type Asks = (...args: never[]) => Promise<unknown>;

export class ReopeningStore implements MemoryStore {
  readonly #options: ReopeningOptions;
  readonly #clock: () => number;
  readonly #availability: Availability | undefined;
  /** Lost while the disk is full. */
  readonly #room: Availability | undefined;
  /** Absent until it opens for the first time. */
  #store: MemoryStore | undefined;
  #beginnings = 0;
  #hasOpened = false;
  #failure: Failure | undefined;
  #opening: Promise<MemoryStore> | undefined;
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosed = false;

  private constructor(options: ReopeningOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock.now;
    const { onChange, ...more } = options.waiting ?? {};
    const ask = () => this.revision(namespaceOf(""));
    this.#availability = onChange && new Availability({ onChange, ...more }, REOPEN_AFTER_MS, ask);
    const quietly = { ...more, onChange: () => undefined };
    this.#room = onChange && new Availability(quietly, ROOM_AFTER_MS, () => this.#tryRoom());
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
    return this.#store?.capabilities ?? { persistent: false, shared: false };
  }

  get identity(): StoreIdentity | undefined {
    return this.#store?.identity;
  }

  get gauges(): StoreGauges {
    const { gauges = { quota: DEFAULT_QUOTA, isKeyChanging: false } } = this.#store ?? {};
    return { ...gauges, ...defined({ losses: this.#availability?.losses, isFull: this.#room?.isLost }) };
  }

  get snapshots(): IndexSnapshots | undefined {
    return this.#store?.snapshots;
  }

  now(): UnixMs {
    return this.#store?.now() ?? (this.#options.now ?? Date.now)();
  }

  readonly get = this.#forward("get");
  readonly list = this.#forward("list");
  readonly listMeta = this.#forward("listMeta");
  readonly history = this.#forward("history");
  readonly formerKeys = this.#forward("formerKeys");
  readonly countWhere = this.#forward("countWhere");
  readonly changes = this.#forward("changes");
  readonly revision = this.#forward("revision");
  readonly namespaces = this.#forward("namespaces");
  readonly usage = this.#forward("usage");
  readonly subjects = this.#forward("subjects");
  readonly ended = this.#forward("ended");
  readonly categories = this.#forward("categories");
  readonly referenceVectors = this.#forward("referenceVectors");
  readonly inspect = this.#forward("inspect");
  readonly put = this.#forward("put");
  readonly undo = this.#forward("undo");
  readonly putMany = this.#forward("putMany");
  readonly renew = this.#forward("renew");
  readonly renewMany = this.#forward("renewMany");
  readonly delete = this.#forward("delete");
  readonly deleteWhere = this.#forward("deleteWhere");
  readonly deleteExpired = this.#forward("deleteExpired");
  readonly vectorSpaces = this.#forward("vectorSpaces");
  readonly vectors = this.#forward("vectors");
  readonly putVectors = this.#forward("putVectors");
  readonly deleteOtherVectors = this.#forward("deleteOtherVectors");
  readonly putReferenceVectors = this.#forward("putReferenceVectors");

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#availability?.close();
    this.#room?.close();
    await this.#opening?.catch(() => undefined);
    await this.#store?.close();
  }

  /** A refused write says that the disk is full, and only a write can say that it is not any more. */
  async #tryRoom(): Promise<void> {
    const about = { category: "", tags: [], expiresAt: this.now() + 60_000 };
    try {
      await this.put({ ...ROOM, ...about, value: new Uint8Array(ROOM_BYTES) });
      await this.delete(ROOM);
    } catch (error) {
      if (!isHelmdeckError(error, "quota_exceeded")) throw error;
    }
    this.#room?.noteAnswer();
  }

  /** Throws when it is closed before it ever opened. */
  #opened(): MemoryStore {
    if (this.#store !== undefined) return this.#store;
    throw new HelmdeckError("store_unavailable", "This memory store is closed.");
  }

  /** The method of the store that is open at the time of the call. */
  #forward<Name extends Asked>(name: Name): MemoryStore[Name] {
    const ask = (...args: readonly unknown[]) =>
      this.#ask<unknown>((store) => Reflect.apply(store[name], store, args));
    return ask as MemoryStore[Name]; // it takes and returns the same
  }

  async #ask<Answer>(work: (store: MemoryStore) => Promise<Answer>): Promise<Answer> {
    try {
      const store = this.#failure === undefined || this.#isClosed ? this.#opened() : await this.#reopened();
      const answer = await this.#askOf(store, work);
      this.#availability?.noteAnswer();
      return answer;
    } catch (error) {
      if (!isHelmdeckError(error) || this.#isClosed) throw error;
      if (this.#failure !== undefined || error.code === "store_unavailable")
        this.#availability?.noteLoss(error);
      if (error.code === "store_full") this.#room?.noteLoss(error);
      throw this.#options.waiting?.explain?.(error, this.#hasOpened) ?? error;
    }
  }

  async #askOf<Answer>(store: MemoryStore, work: (store: MemoryStore) => Promise<Answer>): Promise<Answer> {
    try {
      return await this.#call(store, work);
    } catch (error) {
      if (!isHelmdeckError(error) || this.#isClosed) throw error;
      const isReplaced = error.code === "store_replaced"; // or its rows are encrypted with another key
      const isOutdated =
        (isReplaced && error.details.now === "key") || (await this.#options.isOutdated?.(error)) === true;
      const mustReopen = isOutdated || isReplaced || error.details.reopen === true;
      if (mustReopen && store === this.#store) this.#fail(error, error, isOutdated);
      if (!isOutdated) throw error;
    }
    return this.#call(await this.#reopened(), work); // the failed call wrote nothing
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
    if (this.#failure === undefined) return this.#opened();
    const { error, cause, at, isOutdated } = this.#failure;
    if (isOutdated) await Promise.allSettled(this.#underWay);
    else if (this.#clock() - at < REOPEN_AFTER_MS || !this.#options.mayOpen(cause)) throw error;
    try {
      await this.#store?.close();
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

  #fail(error: HelmdeckError, cause: HelmdeckError, isOutdated = false): void {
    this.#failure = { error, cause, at: this.#clock(), isOutdated };
  }
}

/** For a file: re-creates it only when it was deleted from an existing folder. */
export function mayOpenFile(path: string, { details }: HelmdeckError): boolean {
  return existsSync(path) || (details.now === "deleted" && existsSync(dirname(path)));
}
