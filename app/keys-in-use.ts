/** The keys of a memory's facts, so that a new one that looks like one of them is refused. */
import { KeyLooks, type MemoryStore, type Namespace, nextTurn } from "../engine/index.ts";

/** Memories that are remembered at a time. */
const MOST_MEMORIES = 8;
const PAGE_KEYS = 1_000;

interface Known {
  readonly looks: KeyLooks;
  /** Of the store when all of them were known. */
  revision: number;
}

/** Looks of keys, read once and then followed by the store's revision: what others wrote is read anew. */
export class KeysInUse {
  readonly #store: MemoryStore;
  readonly #known = new Map<Namespace, Known>();

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  /** Throws `invalid_input` for a new key that looks like another one of this memory. */
  async refuseLookalike(namespace: Namespace, key: string): Promise<void> {
    const revision = await this.#store.revision(namespace);
    const known = this.#known.get(namespace);
    if (known?.revision === revision && known.looks.lookalikeOf(key) === undefined) return;
    // The other one may have expired since it was read, which no revision says.
    const { looks } = await this.#read(namespace, revision);
    looks.refuseLookalike(key);
  }

  /**
   * To be told of a key that was just written: if it was the only write meanwhile, nothing need be read anew. Never fails,
   * since what is written is written.
   */
  async noteWritten(namespace: Namespace, key: string): Promise<void> {
    const known = this.#known.get(namespace);
    const revision = await this.#store.revision(namespace).catch(() => undefined);
    if (known === undefined || revision !== known.revision + 1) return;
    known.looks.add(key);
    known.revision = revision;
  }

  async #read(namespace: Namespace, revision: number): Promise<Known> {
    const known = { looks: await readKeyLooks(this.#store, namespace), revision };
    this.#known.delete(namespace);
    this.#known.set(namespace, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_MEMORIES && oldest !== undefined) this.#known.delete(oldest);
    return known;
  }
}

/** Of all facts that are there. */
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
    await nextTurn(); // others wait meanwhile
  } while (cursor !== undefined);
  return looks;
}
