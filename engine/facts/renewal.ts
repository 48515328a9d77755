/** Renewal rules: a fact lives as long as a person says or, if the operator enables it, as long as it is used. */
import type { DecideRenewal, Entry, UnixMs } from "../store/memory-store.ts";
import { checkTtl, FACT_LIMITS } from "./facts-policy.ts";
import { isPinned } from "./marks.ts";

const DAY_MS = 86_400_000;
const DEFAULT_LIFE_MS = FACT_LIMITS.defaultTtlSeconds * 1_000;
const LONGEST_LIFE_MS = FACT_LIMITS.mostTtlSeconds * 1_000;
/** A store may wait between reading the clock and writing. */
const SLACK_MS = 60_000;

/** Facts that expire within this time are listed, so that nothing vanishes unnoticed. */
export const EXPIRING_WITHIN_MS = 14 * DAY_MS;

type ByHand = (
  entry: Pick<Entry, "expiresAt">,
  now: UnixMs,
) => { readonly expiresAt: UnixMs; readonly prolonged?: true } | undefined;

/** Without a ttl: 90 days from now, or the current expiry when that is later. Throws `invalid_input`. */
export function renewalByHand(ttlSeconds: unknown): ByHand {
  const lifeMs = checkTtl(ttlSeconds) * 1_000;
  if (ttlSeconds) return (_entry, now) => ({ expiresAt: now + lifeMs });
  return ({ expiresAt = 0 }, now) =>
    expiresAt < now + lifeMs ? { expiresAt: now + lifeMs, prolonged: true } : undefined;
}

/**
 * The end of a fact that is stored without a ttl. Somebody chose another end than the default one: it stays, but for one that no
 * ttl gives, as after a clock that was ahead.
 */
export function endOfStore(there: ChosenEnd | undefined, now: UnixMs): UnixMs {
  if (there?.expiresAt === undefined || hasDefaultEnd(there)) return now + DEFAULT_LIFE_MS;
  return Math.min(there.expiresAt, now + LONGEST_LIFE_MS);
}

type ChosenEnd = Pick<Entry, "updatedAt" | "expiresAt" | "prolonged">;

function hasDefaultEnd({ updatedAt, expiresAt = 0, prolonged }: ChosenEnd): boolean {
  return prolonged === true || Math.abs(expiresAt - updatedAt - DEFAULT_LIFE_MS) <= SLACK_MS;
}

/** Renews facts with the default life only, at most once a day, and never beyond a year from the last store. Not what is pinned. */
export const renewalByUse: DecideRenewal = (entry, now) => {
  const { updatedAt, expiresAt } = entry;
  if (expiresAt === undefined || isPinned(entry)) return undefined;
  const renewed = Math.min(now + DEFAULT_LIFE_MS, updatedAt + LONGEST_LIFE_MS);
  return hasDefaultEnd(entry) && renewed - expiresAt >= DAY_MS
    ? { expiresAt: renewed, prolonged: true }
    : undefined;
};
