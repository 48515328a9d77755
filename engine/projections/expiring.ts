/** Facts that expire soon, without their values. */
import { EXPIRING_WITHIN_MS } from "../facts/renewal.ts";
import { pagesOf } from "../pages-of.ts";
import type { MemoryReader, UnixMs } from "../store/memory-store.ts";
import type { Namespace } from "../store/namespace.ts";

const NAMED = 10;
const PAGE = 1_000;

export interface ExpiringFacts {
  readonly count: number;
  /** The next ten to expire. */
  readonly soonest: readonly ExpiringFact[];
}

interface ExpiringFact {
  readonly key: string;
  readonly category: string;
  readonly expiresAt: UnixMs;
}

/** Facts that expire within 14 days; undefined when there are none. */
export async function expiringFacts(
  reader: MemoryReader,
  namespace: Namespace,
): Promise<ExpiringFacts | undefined> {
  const expiresBefore = reader.now() + EXPIRING_WITHIN_MS;
  const query = { namespace, origin: "fact", limit: PAGE, expiresBefore } as const;
  const found: ExpiringFact[] = [];
  for await (const { entries } of pagesOf((more) => reader.listMeta({ ...query, ...more })))
    for (const { key, category, expiresAt = expiresBefore } of entries)
      found.push({ key, category, expiresAt });
  if (found.length === 0) return undefined;
  found.sort((one, other) => one.expiresAt - other.expiresAt);
  return { count: found.length, soonest: found.slice(0, NAMED) };
}
