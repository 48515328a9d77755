/** The keys of a memory's facts, used to refuse a new key that looks like an existing one. */
import { BoundedMap } from "../engine/bounded-map.ts";
import { KeyLooks } from "../engine/facts/key-looks.ts";
import { pagesOf } from "../engine/pages-of.ts";
import { seqOfCursor } from "../engine/store/cursors.ts";
import type { KeysSince, MemoryStore } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";

/** Keys kept in memory: those of the memories that were written to last. */
const MOST_KEYS = 100_000;
const PAGE_KEYS = 1_000;
/** Keys followed before all are read again: keys that were deleted meanwhile are still among them. */
const MOST_FOLLOWED = 10_000;

interface Known {
  readonly looks: KeyLooks;
  /** Of the store's change feed: what happened up to here is in `looks`. */
  cursor: number;
  followed: number;
}

/** The looks of keys: read once, then followed by the store's change feed, whichever process wrote. */
export class KeysInUse {
  readonly #store: MemoryStore;
  readonly #known = new BoundedMap<Namespace, Known>(MOST_KEYS, { weigh: ({ looks }) => looks.size + 1 });

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  /**
   * Throws `invalid_input` for a new key that looks like another one of this memory. The store judges the result again, by the keys
   * that were written since.
   */
  async refuseLookalike(namespace: Namespace, key: string): Promise<KeysSince> {
    const known = this.#known.get(namespace);
    const followed = known && (await this.#follow(namespace, known));
    // The other key may be gone since it was read.
    const isFree = followed?.looks.lookalikeOf(key) === undefined;
    const { looks, cursor } = followed !== undefined && isFree ? followed : await this.#read(namespace);
    looks.refuseLookalike(key);
    return keysSince(looks, cursor, [key]);
  }

  /** Undefined when so much was written since that reading all keys is no more work. */
  async #follow(namespace: Namespace, known: Known): Promise<Known | undefined> {
    const changes = await this.#store.changes({ namespace, since: known.cursor, limit: PAGE_KEYS });
    if (changes.kind === "start_over" || changes.more || known.followed > MOST_FOLLOWED) return undefined;
    const facts = [...changes.upserts, ...changes.unreadable].filter(({ origin }) => origin === "fact");
    for (const { key } of facts) known.looks.add(key);
    known.followed += facts.length;
    known.cursor = changes.cursor;
    this.#known.set(namespace, known);
    return known;
  }

  async #read(namespace: Namespace): Promise<Known> {
    const cursor = await this.#store.revision(namespace);
    const looks = await readKeyLooks(this.#store, namespace);
    const known = { looks, cursor, followed: 0 };
    this.#known.set(namespace, known);
    return known;
  }
}

/** Refuses these keys when one that was written after the cursor looks like one of them; the looks of all before are known. */
function keysSince(looks: KeyLooks, cursor: number, keys: readonly string[]): KeysSince {
  return {
    revision: seqOfCursor(cursor),
    judge: (written) => {
      for (const key of written) looks.add(key);
      for (const key of keys) looks.refuseLookalike(key);
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
