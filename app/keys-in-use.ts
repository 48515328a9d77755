/** The keys of a memory's facts, used to refuse a new key that looks like an existing one. */
import { KeyLooks, type MemoryStore, type Namespace, nextTurn } from "../engine/index.ts";

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
  /** In `#weight`. */
  weight: number;
}

/** The looks of keys: read once, then followed by the store's change feed, whichever process wrote. */
export class KeysInUse {
  readonly #store: MemoryStore;
  /** The memory that was used last comes last. */
  readonly #known = new Map<Namespace, Known>();
  /** Keys that are kept, and one for each memory. */
  #weight = 0;

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  /** Throws `invalid_input` for a new key that looks like another one of this memory. */
  async refuseLookalike(namespace: Namespace, key: string): Promise<void> {
    const known = this.#known.get(namespace);
    const looks = known && (await this.#follow(namespace, known));
    if (looks !== undefined && looks.lookalikeOf(key) === undefined) return;
    // The other key may be gone since it was read.
    (await this.#read(namespace)).refuseLookalike(key);
  }

  /** Undefined when so much was written since that reading all keys is no more work. */
  async #follow(namespace: Namespace, known: Known): Promise<KeyLooks | undefined> {
    const changes = await this.#store.changes({ namespace, since: known.cursor, limit: PAGE_KEYS });
    if (changes.kind === "start_over" || changes.more || known.followed > MOST_FOLLOWED) return undefined;
    const facts = [...changes.upserts, ...changes.unreadable].filter(({ origin }) => origin === "fact");
    for (const { key } of facts) known.looks.add(key);
    known.followed += facts.length;
    known.cursor = changes.cursor;
    this.#keep(namespace, known);
    return known.looks;
  }

  async #read(namespace: Namespace): Promise<KeyLooks> {
    const cursor = await this.#store.revision(namespace);
    const looks = await readKeyLooks(this.#store, namespace);
    this.#keep(namespace, { looks, cursor, followed: 0, weight: 0 });
    return looks;
  }

  #keep(namespace: Namespace, known: Known): void {
    this.#drop(namespace);
    known.weight = known.looks.size + 1;
    this.#known.set(namespace, known);
    this.#weight += known.weight;
    for (const oldest of this.#known.keys()) {
      if (this.#weight <= MOST_KEYS || oldest === namespace) return;
      this.#drop(oldest);
    }
  }

  #drop(namespace: Namespace): void {
    this.#weight -= this.#known.get(namespace)?.weight ?? 0;
    this.#known.delete(namespace);
  }
}

/** Of all existing facts. */
export async function readKeyLooks(store: MemoryStore, namespace: Namespace): Promise<KeyLooks> {
  const looks = new KeyLooks();
  let cursor: string | undefined;
  do {
    const page = await store.listMeta({
      namespace,
      origin: "fact",
      limit: PAGE_KEYS,
      ...(cursor && { cursor }),
    });
    for (const { key } of page.entries) looks.add(key);
    cursor = page.nextCursor;
    await nextTurn(); // lets other requests run
  } while (cursor !== undefined);
  return looks;
}
