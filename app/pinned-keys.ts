/** The keys of a memory's pinned facts, so that no prompt and no list searches all facts for the few that are pinned. */
import { BoundedMap } from "../engine/bounded-map.ts";
import { isPinned, PINNED } from "../engine/facts/marks.ts";
import type { EntryId, MemoryStore } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";

/** Those used last. */
const MOST_MEMORIES = 1_000;
/** Beyond this many changes, reading all pinned facts is no more work. */
const MOST_FOLLOWED = 1_000;

interface Known {
  readonly keys: Map<EntryId, string>;
  /** Of the store's change feed: what happened up to here is in `keys`. */
  readonly cursor: number;
}

/** Read once, then followed by the store's change feed, whichever process wrote. */
export class PinnedKeys {
  readonly #store: MemoryStore;
  readonly #known = new BoundedMap<Namespace, Known>(MOST_MEMORIES);

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  /** May include what has ended since. */
  async of(namespace: Namespace): Promise<readonly string[]> {
    const known = this.#known.get(namespace);
    const followed = known && (await this.#follow(namespace, known));
    const { keys, cursor } = followed ?? (await this.#read(namespace));
    this.#known.set(namespace, { keys, cursor });
    return [...keys.values()];
  }

  async #follow(namespace: Namespace, { keys: before, cursor: since }: Known): Promise<Known | undefined> {
    const changes = await this.#store.changes({ namespace, since, limit: MOST_FOLLOWED });
    if (changes.kind === "start_over" || changes.more) return undefined;
    const keys = new Map(before);
    for (const id of [...changes.removed, ...changes.unreadable.map((one) => one.id)]) keys.delete(id);
    for (const entry of changes.upserts) {
      if (isPinned(entry)) keys.set(entry.id, entry.key);
      else keys.delete(entry.id);
    }
    return { keys, cursor: changes.cursor };
  }

  async #read(namespace: Namespace): Promise<Known> {
    const cursor = await this.#store.revision(namespace);
    const { entries } = await this.#store.listMeta({ namespace, origin: "fact", tag: PINNED });
    return { keys: new Map(entries.map(({ id, key }) => [id, key])), cursor };
  }
}
