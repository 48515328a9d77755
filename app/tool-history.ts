/** Limits the records of tool calls: keeps a subject's newest 5,000 and erases older ones. */
import type { MemoryStore } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import { nextTurn } from "../engine/timing.ts";

export const TOOL_HISTORY_LIMITS = {
  rows: 5_000,
  /** Calls between two checks of the count. */
  lookEvery: 100,
} as const;

const CALLS = { origin: "audit", category: "tool_history" } as const;
const PAGE_ROWS = 1_000;

/** Erases all but this many of the newest. */
export async function keepNewestCalls(
  store: Pick<MemoryStore, "countWhere" | "listMeta" | "deleteWhere">,
  namespace: Namespace,
  most: number,
): Promise<void> {
  const all = { namespace, origins: [CALLS.origin], category: CALLS.category };
  if ((await store.countWhere(all)) <= most) return;
  let cursor: string | undefined;
  for (let kept = 0; kept < most; ) {
    const limit = Math.min(PAGE_ROWS, most - kept);
    const page = await store.listMeta({ namespace, ...CALLS, limit, ...(cursor && { cursor }) });
    kept += page.entries.length;
    cursor = page.nextCursor;
    if (cursor === undefined) return;
    await nextTurn(); // yields to other work
  }
  await store.deleteWhere({ ...all, ...(cursor && { cursor }) });
}

/** Counts the calls only once in a while, and then makes room until the next check. */
export class ToolHistory {
  readonly #store: MemoryStore;
  /** Since the last check; absent before the first one in this process. */
  readonly #calls = new Map<Namespace, number>();

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  /** Call it before each call is written. */
  async makeRoom(namespace: Namespace): Promise<void> {
    const { lookEvery } = TOOL_HISTORY_LIMITS;
    const calls = this.#calls.get(namespace) ?? lookEvery;
    this.#calls.set(namespace, calls < lookEvery ? calls + 1 : 1);
    if (calls < lookEvery) return;
    await this.#look(namespace);
  }

  async #look(namespace: Namespace): Promise<void> {
    const { rows, lookEvery } = TOOL_HISTORY_LIMITS;
    try {
      await keepNewestCalls(this.#store, namespace, rows - lookEvery);
    } catch (error) {
      this.#calls.delete(namespace); // the next call checks again
      throw error;
    }
  }
}
