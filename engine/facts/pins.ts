/**
 * The rules of pins: how many facts stand in an agent's prompts, how long, and who may keep one there.
 *
 * A pinned value is in every prompt, so pins are few and short, and no model can keep one there for good: only a person confirms it
 * for another year. What a model asks for counts from when the value was stored.
 */
import { type HelmdeckError, invalidField } from "../errors.ts";
import { PIN_LIMITS, tokensOf } from "../projections/pinned-text.ts";
import type { DecideRenewal, Entry } from "../store/memory-store.ts";
import { isPinned, PINNED } from "./marks.ts";
import { endingOf, LONGEST_LIFE_MS, SLACK_MS } from "./renewal.ts";

/**
 * A year from now or, unless a person asks, from when the value was stored or a person last confirmed it; never earlier than the
 * fact would end unpinned. Throws `invalid_input` beyond a limit.
 */
export function pinning(isPerson: boolean, defaultTtlSeconds: number): DecideRenewal {
  return (entry, now, beside = []) => {
    const confirmed = { expiresAt: now + LONGEST_LIFE_MS, confirmedAt: now };
    if (isPinned(entry)) return isPerson ? confirmed : undefined;
    requireRoom(entry, beside);
    const pinned = { tags: [...entry.tags, PINNED], ending: endingOf(entry, defaultTtlSeconds) };
    if (isPerson) return { ...confirmed, ...pinned };
    const expiresAt =
      Math.min(now, Math.max(entry.updatedAt, entry.confirmedAt ?? entry.updatedAt)) + LONGEST_LIFE_MS;
    if (expiresAt <= now) throw onlyAPerson("was stored more than a year ago: only a person can pin it");
    if (Math.min(entry.expiresAt ?? 0, confirmed.expiresAt) > expiresAt + SLACK_MS)
      throw onlyAPerson("already ends later than an agent's pin may last: only a person can pin it");
    return { expiresAt, ...pinned };
  };
}

/** Its end stays. */
export const unpinning: DecideRenewal = (entry) =>
  isPinned(entry) ? { tags: entry.tags.filter((tag) => tag !== PINNED) } : undefined;

/** A renewal by a model, which never makes a pin last longer. Throws `invalid_input`. */
export function notLongerThanPinned(decide: DecideRenewal): DecideRenewal {
  return (entry, now, beside) => {
    const renewal = decide(entry, now, beside);
    const { expiresAt = Number.POSITIVE_INFINITY } = entry;
    if (isPinned(entry) && renewal?.expiresAt !== undefined && renewal.expiresAt > expiresAt)
      throw onlyAPerson("is pinned: only a person can keep it longer");
    return renewal;
  };
}

function requireRoom(entry: Entry, beside: readonly Entry[]): void {
  const remedy = "unpin one that matters less, or store it shorter";
  if (beside.length >= PIN_LIMITS.facts)
    throw refused(`cannot be pinned: ${PIN_LIMITS.facts} facts are pinned, which is the limit; ${remedy}`);
  const tokens = tokensOf(
    [...beside, entry].map(({ key, value }) => ({ key, value: Buffer.from(value).toString() })),
  );
  if (tokens <= PIN_LIMITS.tokens) return;
  throw refused(
    `cannot be pinned: all pinned facts together may have about ${PIN_LIMITS.tokens} tokens, and with this one they would have ${tokens}; ${remedy}`,
  );
}

function onlyAPerson(why: string): HelmdeckError {
  return refused(`${why}, with /pin KEY in chat, helmdeck-memory pin KEY, or on its page`);
}

function refused(rule: string): HelmdeckError {
  return invalidField("key", rule, { named: "This fact" });
}
