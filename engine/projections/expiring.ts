/** Facts that expire soon, without their values. */
import { EXPIRING_WITHIN_MS } from "../facts/renewal.ts";
import type { MemoryReader, UnixMs } from "../store/memory-store.ts";
import type { Namespace } from "../store/namespace.ts";
import { nextTurn } from "../timing.ts";

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
  const query = { namespace, origin: "fact", limit: PAGE } as const;
  const expiresBefore = reader.now() + EXPIRING_WITHIN_MS;
  const found: ExpiringFact[] = [];
  let cursor: string | undefined;
  do {
    const page = await reader.listMeta({ ...query, expiresBefore, ...(cursor !== undefined && { cursor }) });
    found.push(
      ...page.entries.map(({ key, category, expiresAt = expiresBefore }) => ({ key, category, expiresAt })),
    );
    cursor = page.nextCursor;
    await nextTurn(); // yields to other work
  } while (cursor !== undefined);
  if (found.length === 0) return undefined;
  found.sort((one, other) => one.expiresAt - other.expiresAt);
  return { count: found.length, soonest: found.slice(0, NAMED) };
}
