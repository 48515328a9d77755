/** Doctor's finding about facts that were stored while a clock was far ahead: they live longer than they should. */

import { FACT_LIMITS } from "../../engine/facts/facts-policy.ts";
import { pagesOf } from "../../engine/pages-of.ts";
import type { EntryMeta, MemoryStore, UnixMs } from "../../engine/store/memory-store.ts";
import type { Finding } from "../memory.ts";

const PAGE_ROWS = 1_000;
/** Clocks of several machines may differ. */
const SLACK_MS = 86_400_000;
const LONGEST_LIFE_MS = FACT_LIMITS.mostTtlSeconds * 1_000;

/** Only reports: when this machine's clock is the wrong one, an earlier end would delete what is meant to stay. */
export async function lifetimeFindings(store: MemoryStore): Promise<readonly Finding[]> {
  const far = await countFar(store);
  if (far === 0) return [];
  return [
    {
      level: "warning",
      check: "lifetime",
      message: `${far === 1 ? "1 fact was" : `${far} facts were`} stored after today, or would stay for more than 365 days: a clock was far ahead then, or this machine's is behind now.`,
      remedy:
        "Check this machine's clock. If it is right, list shows these facts first or with their late end: helmdeck-memory renew KEY --ttl 90d sets the end, and storing a fact again with --ttl 90d the time, too.",
    },
  ];
}

async function countFar(store: MemoryStore): Promise<number> {
  let far = 0;
  for (const { namespace } of await store.namespaces()) {
    const query = { namespace, origin: "fact", limit: PAGE_ROWS } as const;
    for await (const { entries } of pagesOf((more) => store.listMeta({ ...query, ...more })))
      far += entries.filter((fact) => isFar(fact, store.now())).length;
  }
  return far;
}

function isFar({ updatedAt, expiresAt = updatedAt }: EntryMeta, now: UnixMs): boolean {
  return updatedAt > now + SLACK_MS || expiresAt > now + LONGEST_LIFE_MS + SLACK_MS;
}
