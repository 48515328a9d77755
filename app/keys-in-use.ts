/** The keys of a memory's facts, used to refuse a new key that looks like an existing one. */
import { BoundedMap } from "../engine/bounded-map.ts";
import { KeyLooks } from "../engine/facts/key-looks.ts";
import { pagesOf } from "../engine/pages-of.ts";
import { seqOfCursor } from "../engine/store/cursors.ts";
import type { KeysSince, MemoryStore, Revision } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import { systemClock } from "../engine/timing.ts";

/** Keys kept in memory: those of the memories that were written to last. */
const MOST_KEYS = 100_000;
const PAGE_KEYS = 1_000;
/** Keys followed before all are read again: keys that were deleted meanwhile are still among them. */
const MOST_FOLLOWED = 10_000;
/**
 * Stores need not follow the feed more often, since each store judges the keys that were written since. What the feed alone tells,
 * such as another database at the place of this one, is noticed after this time.
 */
const FOLLOWED_EVERY_MS = 1_000;

interface Known {
  readonly looks: KeyLooks;
  /** Of the store's change feed: what happened up to here is in `looks`. */
  cursor: number;
  followed: number;
  /** By the clock. */
  followedAt: number;
}

/** For a store of a new key. */
export interface KeyToStore {
  readonly keysSince: KeysSince;
  /** To be called with the change number of the stored fact. */
  readonly stored: (revision: Revision) => void;
}

/**
 * The looks of keys: read once, then followed by the store's change feed, whichever process wrote. What a store itself judged and
 * wrote is not read again.
 */
export class KeysInUse {
  readonly #store: MemoryStore;
  readonly #clock: () => number;
  readonly #known = new BoundedMap<Namespace, Known>(MOST_KEYS, { weigh: ({ looks }) => looks.size + 1 });
  /** By stores, while it goes on. */
  readonly #catchingUp = new Map<Namespace, Promise<Known>>();

  /** @param clock monotonic milliseconds */
  constructor(store: MemoryStore, clock = systemClock.now) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Throws `invalid_input` for a new key that looks like another one of this memory, whoever stored that. */
  async refuseLookalike(namespace: Namespace, key: string): Promise<void> {
    await this.#free(namespace, key, await this.#catchUp(namespace));
  }

  /** The same for a store, which judges the keys that were written since in its own transaction. */
  async toStore(namespace: Namespace, key: string): Promise<KeyToStore> {
    const known = await this.#free(namespace, key, await this.#recent(namespace));
    return {
      keysSince: keysSince(known, key),
      stored: (revision) => {
        known.looks.add(key);
        known.followed += 1;
        const seq = seqOfCursor(known.cursor);
        if (revision > seq) known.cursor += revision - seq;
      },
    };
  }

  async #free(namespace: Namespace, key: string, known: Known): Promise<Known> {
    // The other key may be gone since it was read.
    const isFree = known.looks.lookalikeOf(key) === undefined;
    const current = isFree ? known : await this.#read(namespace);
    current.looks.refuseLookalike(key);
    return current;
  }

  /** Catches up once for all stores of one moment: each judges itself what was written since. */
  async #recent(namespace: Namespace): Promise<Known> {
    const known = this.#known.get(namespace);
    if (known !== undefined && this.#clock() - known.followedAt < FOLLOWED_EVERY_MS) return known;
    const running =
      this.#catchingUp.get(namespace) ??
      this.#catchUp(namespace).finally(() => {
        this.#catchingUp.delete(namespace);
      });
    this.#catchingUp.set(namespace, running);
    return running;
  }

  async #catchUp(namespace: Namespace): Promise<Known> {
    const known = this.#known.get(namespace);
    const followed = known && (await this.#follow(namespace, known));
    return followed ?? this.#read(namespace);
  }

  /** Undefined when so much was written since that reading all keys is no more work. */
  async #follow(namespace: Namespace, known: Known): Promise<Known | undefined> {
    const changes = await this.#store.changes({ namespace, since: known.cursor, limit: PAGE_KEYS });
    if (changes.kind === "start_over" || changes.more || known.followed > MOST_FOLLOWED) return undefined;
    const facts = [...changes.upserts, ...changes.unreadable].filter(({ origin }) => origin === "fact");
    for (const { key } of facts) known.looks.add(key);
    known.followed += facts.length;
    if (seqOfCursor(changes.cursor) >= seqOfCursor(known.cursor)) known.cursor = changes.cursor;
    known.followedAt = this.#clock();
    this.#known.set(namespace, known);
    return known;
  }

  async #read(namespace: Namespace): Promise<Known> {
    const cursor = await this.#store.revision(namespace);
    const looks = await readKeyLooks(this.#store, namespace);
    const known = { looks, cursor, followed: 0, followedAt: this.#clock() };
    this.#known.set(namespace, known);
    return known;
  }
}

/** Refuses the key when one that was written after the cursor looks like it; the looks of all before are known. */
function keysSince(known: Known, key: string): KeysSince {
  return {
    revision: seqOfCursor(known.cursor),
    judge: (written) => {
      for (const one of written) known.looks.add(one);
      known.looks.refuseLookalike(key);
    },
  };
}

/** Of all existing facts. */
export async function readKeyLooks(store: MemoryStore, namespace: Namespace): Promise<KeyLooks> {
  const looks = new KeyLooks();
  const query = { namespace, origin: "fact", limit: PAGE_KEYS } as const;
  for await (const { entries } of pagesOf((more) => store.listMeta({ ...query, ...more })))
    for (const { key } of entries) looks.add(key);
  return looks;
}
