/** How long a subject's records of tool calls grow: the newest 5,000 stay, older ones are erased as whatever is forgotten. */
import { type MemoryStore, type Namespace, nextTurn } from "../engine/index.ts";

export const TOOL_HISTORY_LIMITS = {
  rows: 5_000,
  /** Calls between two looks at how many there are. */
  lookEvery: 100,
} as const;

const CALLS = { origin: "audit", category: "tool_history" } as const;
const PAGE_ROWS = 1_000;

/** Erases all but the newest so many. */
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
    await nextTurn(); // others wait
  }
  await store.deleteWhere({ ...all, ...(cursor && { cursor }) });
}

/** Looks at how many calls there are once in a while only, and then makes room for those until the next time. */
export class ToolHistory {
  readonly #store: MemoryStore;
  /** Since the last look; absent before the first one of this process. */
  readonly #calls = new Map<Namespace, number>();

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  /** To be called before each call is written. */
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
      this.#calls.delete(namespace); // the next call looks again
      throw error;
    }
  }
}
