/** What callers may store and send, and the default life of a fact, as set by the operator. */
import { defined } from "../engine/defined.ts";
import { invalidField } from "../engine/errors.ts";
import { FACT_LIMITS } from "../engine/facts/facts-policy.ts";
import type { Quota } from "../engine/rules/quota.ts";
import type { Subject } from "../engine/store/namespace.ts";

type Env = Readonly<Record<string, string | undefined>>;

const MIB = 1_024 * 1_024;

/** What one caller may in place of the others; what is absent is the same for all. */
export interface CallerLimits {
  /** Requests a minute; 0: no limit. */
  readonly rate?: number;
  readonly entries?: number;
  readonly bytes?: number;
}

export type LimitsByCaller = ReadonlyMap<Subject, CallerLimits>;

/** `limits`: asked for each write. */
export function storeQuota({ env, limits }: { readonly env: Env; readonly limits?: () => LimitsByCaller }) {
  return { ...quotaOfEnv(env), ...defined({ own: limits }) };
}

/** Throws `invalid_input` for anything but whole numbers above 0. An empty variable counts as absent. */
export function quotaOfEnv(env: Env): Partial<Quota> {
  const mib = wholeNumber(env, "HELMDECK_MEMORY_MAX_MIB");
  return defined({
    entries: wholeNumber(env, "HELMDECK_MEMORY_MAX_ENTRIES"),
    bytes: mib && mib * MIB,
  });
}

const DAY_SECONDS = 86_400;
const MOST_DAYS = FACT_LIMITS.mostTtlSeconds / DAY_SECONDS;

/** Days of life; undefined unless this is a whole number from 1 to 365. */
export function lifetimeDaysOf(given: unknown): number | undefined {
  return Number.isInteger(given) && Number(given) >= 1 && Number(given) <= MOST_DAYS
    ? Number(given)
    : undefined;
}

export const LIFETIME_VARIABLE = "HELMDECK_MEMORY_LIFETIME_DAYS";

/** `days` takes precedence over the environment. Throws `invalid_input` for a variable that is out of bounds. */
export function defaultTtlOf(days: number | undefined, env: Env): number {
  const set = wholeNumber(env, LIFETIME_VARIABLE);
  if (set !== undefined && lifetimeDaysOf(set) === undefined)
    throw invalidField(LIFETIME_VARIABLE, `must be a whole number from 1 to ${MOST_DAYS}`);
  const chosen = days ?? set;
  return chosen === undefined ? FACT_LIMITS.defaultTtlSeconds : chosen * DAY_SECONDS;
}

function wholeNumber(env: Env, name: string): number | undefined {
  const text = env[name];
  if (text === undefined || text === "") return undefined;
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  throw invalidField(name, "must be a whole number from 1 to 999999999");
}
