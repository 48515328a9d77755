/** The growth of a memory: current entries by the day on which they were stored, counted without decrypting. */
import { BoundedMap } from "../engine/bounded-map.ts";
import { pagesOf } from "../engine/pages-of.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import type { DayCount, Growth } from "./memory.ts";
import type { UseCaseContext } from "./use-case-context.ts";

const PAGE_ROWS = 1_000;
/** Memories to cache. */
const MOST_MEMORIES = 8;
/** Expiry does not change the revision, so counts are refreshed after this time. */
const FRESH_MS = 60_000;

/** Counts again only after a change, and once for concurrent requests. */
export class GrowthCounts {
  readonly #context: UseCaseContext;
  readonly #counted = new BoundedMap<
    Namespace,
    { readonly revision: number; readonly at: number; readonly growth: Promise<Growth> }
  >(MOST_MEMORIES);

  constructor(context: UseCaseContext) {
    this.#context = context;
  }

  async of(namespace: Namespace): Promise<Growth> {
    const revision = await this.#context.store.revision(namespace);
    const at = this.#context.now();
    const known = this.#counted.get(namespace);
    if (known?.revision === revision && at - known.at < FRESH_MS) return known.growth;
    const growth = countGrowth(this.#context, namespace);
    this.#counted.set(namespace, { revision, at, growth });
    growth.catch(() => this.#counted.delete(namespace)); // callers that await it see the error
    return growth;
  }
}

async function countGrowth({ store }: UseCaseContext, namespace: Namespace): Promise<Growth> {
  const days = new Map<number, { facts: number; runs: number }>();
  const query = { namespace, origin: ["fact", "audit"], limit: PAGE_ROWS } as const;
  for await (const { entries } of pagesOf((more) => store.listMeta({ ...query, ...more }))) {
    for (const { origin, createdAt } of entries) {
      if (Math.abs(createdAt) > LAST_MS) continue; // from a damaged row
      const day = Math.floor(createdAt / DAY_MS);
      const counts = days.get(day) ?? { facts: 0, runs: 0 };
      counts[origin === "fact" ? "facts" : "runs"] += 1;
      days.set(day, counts);
    }
  }
  const { bytes } = await store.usage(namespace);
  return { days: [...days].sort(([one], [other]) => one - other).map(dayCount), bytes };
}

const DAY_MS = 86_400_000;
/** The limit of a Date. */
const LAST_MS = 8.64e15;

function dayCount([day, counts]: readonly [number, Omit<DayCount, "day">]): DayCount {
  return { day: new Date(day * DAY_MS).toISOString().slice(0, 10), ...counts };
}
