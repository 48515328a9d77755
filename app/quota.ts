/** What callers may store and send, as set by the operator. */
import { defined } from "../engine/defined.ts";
import { invalidField } from "../engine/errors.ts";
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

function wholeNumber(env: Env, name: string): number | undefined {
  const text = env[name];
  if (text === undefined || text === "") return undefined;
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  throw invalidField(name, "must be a whole number from 1 to 999999999");
}
