/** Renewal rules: a fact lives as long as a person says or, if the operator enables it, as long as it is used. */
import { isExpired } from "../store/entry-rules.ts";
import type { DecideRenewal, Entry, UnixMs } from "../store/memory-store.ts";
import type { Ending } from "../store/writer.ts";
import { checkTtl, FACT_LIMITS } from "./facts-policy.ts";
import { isPinned } from "./marks.ts";

const DAY_MS = 86_400_000;
export const LONGEST_LIFE_MS = FACT_LIMITS.mostTtlSeconds * 1_000;
/** A store may wait between reading the clock and writing. */
export const SLACK_MS = 60_000;

/** Facts that expire within this time are listed, so that nothing vanishes unnoticed. */
export const EXPIRING_WITHIN_MS = 14 * DAY_MS;

interface End {
  readonly expiresAt: UnixMs;
  readonly ending: Ending;
}

/** The end of a fact that is new, or renewed: after the ttl that somebody gave, or else the default one. */
export function endAfter(
  ttlSeconds: number | undefined,
  {
    now,
    defaultTtlSeconds = FACT_LIMITS.defaultTtlSeconds,
  }: { readonly now: UnixMs; readonly defaultTtlSeconds?: number },
): End {
  const ending = ttlSeconds === undefined ? "default" : "chosen";
  return { expiresAt: now + (ttlSeconds ?? defaultTtlSeconds) * 1_000, ending };
}

/** Without a ttl, never earlier than the current expiry. Throws `invalid_input`. */
export function renewalByHand(
  ttlSeconds: unknown,
  defaultTtlSeconds: number,
  isPerson: boolean,
): DecideRenewal {
  const given = checkTtl(ttlSeconds);
  return ({ expiresAt = 0 }, now) => {
    const end = endAfter(given, { now, defaultTtlSeconds });
    if (given === undefined && end.expiresAt <= expiresAt) return undefined;
    return { ...end, ...(isPerson && { confirmedAt: now }) };
  };
}

/**
 * The end of a fact that is stored without a ttl. Somebody chose another end than the default one: it stays, but for one that no
 * ttl gives, as after a clock that was ahead. A default end begins anew, but not earlier: another program's default may be longer.
 */
export function endOfStore(there: Ended | undefined, now: UnixMs, defaultTtlSeconds: number): End {
  const anew = endAfter(undefined, { now, defaultTtlSeconds });
  if (there?.expiresAt === undefined) return anew;
  const latest = now + LONGEST_LIFE_MS;
  const ending = endingOf(there, defaultTtlSeconds);
  if (ending === "chosen") return { expiresAt: Math.min(there.expiresAt, latest), ending };
  return there.expiresAt > latest ? anew : { ...anew, expiresAt: Math.max(there.expiresAt, anew.expiresAt) };
}

type Ended = Pick<Entry, "updatedAt" | "expiresAt" | "ending" | "tags">;

/** Rows of version 0.3 do not say: there, a pin or the usual length tells a default end. */
export function endingOf(entry: Ended, defaultTtlSeconds: number): Ending {
  const { updatedAt, expiresAt = 0, ending } = entry;
  if (ending !== undefined) return ending;
  const isLife = (seconds: number) => Math.abs(expiresAt - updatedAt - seconds * 1_000) <= SLACK_MS;
  const isDefault = isPinned(entry) || [FACT_LIMITS.defaultTtlSeconds, defaultTtlSeconds].some(isLife);
  return isDefault ? "default" : "chosen";
}

/** Renews facts with a default end only, at most once a day, and never beyond a year from the last store. Not what is pinned. */
export function renewalByUse(defaultTtlSeconds: number): DecideRenewal {
  return (entry, now) => {
    const { updatedAt, expiresAt } = entry;
    if (expiresAt === undefined || isPinned(entry)) return undefined;
    const anew = endAfter(undefined, { now, defaultTtlSeconds });
    const renewed = Math.min(anew.expiresAt, updatedAt + LONGEST_LIFE_MS);
    const mayRenew = endingOf(entry, defaultTtlSeconds) === "default" && renewed - expiresAt >= DAY_MS;
    return mayRenew ? { ...anew, expiresAt: renewed } : undefined;
  };
}

/**
 * Renews one of many facts by a day or more, a pinned one for a year and only for a person, and keeps its former end for
 * {@link undoingRenewal}. `at`: the same for all of them.
 */
export function renewalOfMany(defaultTtlSeconds: number, isPerson: boolean, at: UnixMs): DecideRenewal {
  const byHand = renewalByHand(undefined, defaultTtlSeconds, isPerson);
  return (entry, now, beside) => {
    const { expiresAt } = entry;
    if (expiresAt === undefined || (isPinned(entry) && !isPerson)) return undefined;
    const ending = endingOf(entry, defaultTtlSeconds);
    const renewal = isPinned(entry)
      ? { expiresAt: now + LONGEST_LIFE_MS, ending, confirmedAt: now }
      : byHand(entry, now, beside);
    if (renewal?.expiresAt === undefined || renewal.expiresAt - expiresAt < DAY_MS) return undefined;
    return { ...renewal, formerEnd: { expiresAt, ending, at } };
  };
}

/** Puts one of many facts into a category, and keeps the former one for {@link undoingRenewal}. `at`: the same for all of them. */
export function categoryOfMany(category: string, defaultTtlSeconds: number, at: UnixMs): DecideRenewal {
  return (entry) => {
    const { expiresAt } = entry;
    if (expiresAt === undefined || entry.category === category) return undefined;
    const end = { expiresAt, ending: endingOf(entry, defaultTtlSeconds) };
    return { ...end, category, formerEnd: { ...end, at, category: entry.category } };
  };
}

/**
 * Gives a fact the end and the category that it had before the change at that time, unless that end has passed, or was changed since.
 */
export function undoingRenewal(at: UnixMs): DecideRenewal {
  return ({ formerEnd }, now) => {
    if (formerEnd === undefined || formerEnd.at !== at || isExpired(formerEnd.expiresAt, now))
      return undefined;
    const { at: _, ...former } = formerEnd;
    return former;
  };
}
