/** The facts policy: which facts may be stored. Every surface and every import applies it. */
import { defined } from "../defined.ts";
import { invalidField } from "../errors.ts";
import { HISTORY_LIMITS } from "../rules/history.ts";
import type { NewEntry, UnixMs } from "../store/memory-store.ts";
import type { Namespace } from "../store/namespace.ts";
import { problemOfName } from "./hostile-text.ts";

/** Sizes are bytes of UTF-8, after trimming. */
export const FACT_LIMITS = {
  keyBytes: 512,
  valueBytes: 64 * 1_024,
  tags: 32,
  tagBytes: 64,
  conversationBytes: 256,
  leastTtlSeconds: 3_600,
  mostTtlSeconds: 31_536_000,
  /** Unless the operator chose another one (`lifetimeDays`). */
  defaultTtlSeconds: 7_776_000,
  /** Facts in one request. */
  together: 250,
} as const;

export const DEFAULT_CATEGORY = "user_facts";

/** Categories that only the engine writes, with other origins. */
export const RESERVED_CATEGORIES = [
  "pack_history",
  "pipeline_history",
  "tool_history",
  "plan_history",
  "cache",
] as const;

/** No version has ever accepted a key with one of these characters. */
const NEVER_IN_KEYS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
export const CATEGORY = /^[a-z0-9][a-z0-9_.-]{0,63}$/;

/** A fact that passed the policy, trimmed and with defaults. */
export interface CheckedFact {
  readonly key: string;
  readonly value: string;
  readonly category: string;
  /** Without duplicates, in the given order. */
  readonly tags: readonly string[];
  /** Absent: the default. */
  readonly ttlSeconds?: number;
  readonly conversationId?: string;
}

/**
 * Validates a fact. Throws `invalid_input` naming the field, the limit and the remedy.
 *
 * Accepts any input, since hosts pass tool arguments unchecked: an object with `key`, `value` and optionally `category`, `tags`,
 * `ttlSeconds`, `conversationId`. `null` in an optional field, and a ttl of 0, count as absent.
 */
export function validateFact(input: unknown): CheckedFact {
  if (typeof input !== "object" || input === null)
    throw invalidField("fact", "must be an object with key and value");
  const given: Partial<Record<keyof CheckedFact, unknown>> = input;
  return {
    key: checkKey(given.key),
    value: checkValue(given.value),
    category: checkCategory(given.category),
    tags: checkTags(given.tags),
    ...defined({ ttlSeconds: checkTtl(given.ttlSeconds) }),
    ...defined({ conversationId: checkConversationId(given.conversationId) }),
  };
}

/** The trimmed key, or `invalid_input`. */
export function checkKey(key: unknown): string {
  const name = textOf("key", key).trim();
  if (name === "")
    throw invalidField("key", "is missing; give the fact a short name, such as deploy/preference");
  refuseLong("key", name, FACT_LIMITS.keyBytes, "shorten it");
  refuseHostile("key", name);
  return name;
}

/**
 * The trimmed key, or undefined when no fact can have it. For lookups, where a miss is no error. Facts of earlier versions may
 * have keys that {@link checkKey} refuses today; they are still found.
 */
export function keyToLookUp(key: unknown): string | undefined {
  if (typeof key !== "string") return undefined;
  const name = key.trim();
  const fits = name !== "" && Buffer.byteLength(name) <= FACT_LIMITS.keyBytes;
  return fits && name.isWellFormed() && !NEVER_IN_KEYS.test(name) ? name : undefined;
}

/** The trimmed category; `user_facts` when absent or empty. Throws `invalid_input`. */
export function checkCategory(category: unknown): string {
  const name = textOf("category", category ?? "").trim();
  if (name === "") return DEFAULT_CATEGORY;
  if (isReservedCategory(name)) {
    throw invalidField(
      "category",
      `${name} is reserved for helmdeck's own records; choose another, or leave it out`,
    );
  }
  if (!isCategory(name)) {
    throw invalidField(
      "category",
      "must be 1 to 64 of the characters a-z 0-9 _ . - and begin with a lower-case letter or a digit",
    );
  }
  return name;
}

export function isCategory(name: string): boolean {
  return CATEGORY.test(name);
}

export function isReservedCategory(name: string): boolean {
  return RESERVED_CATEGORIES.some((reserved) => reserved === name);
}

/** The entry for a checked fact; {@link endOfNew} says when it ends. */
export function factEntry(
  namespace: Namespace,
  fact: CheckedFact,
  times: Pick<NewEntry, "createdAt" | "updatedAt" | "ending"> & { readonly expiresAt: UnixMs },
): NewEntry {
  const { ttlSeconds: _, value, ...given } = fact;
  return { namespace, origin: "fact", ...given, value: Buffer.from(value), ...times };
}

function checkValue(value: unknown): string {
  const text = textOf("value", value).trim();
  if (text === "") throw invalidField("value", "is missing; give the text to remember");
  refuseLong("value", text, FACT_LIMITS.valueBytes, "store a summary, or several facts");
  if (!text.isWellFormed())
    throw invalidField("value", "holds half of a surrogate pair, which is not valid Unicode");
  return text;
}

export function checkTags(tags: unknown): readonly string[] {
  if (tags === undefined || tags === null) return [];
  if (!Array.isArray(tags)) throw invalidField("tags", "must be a list of strings");
  if (tags.length > FACT_LIMITS.tags) {
    throw invalidField(
      "tags",
      `may be at most ${FACT_LIMITS.tags}, but there are ${tags.length}; keep those that help searching`,
    );
  }
  return [...new Set(tags.map(checkTag))];
}

/** The keys of the facts to supersede, without duplicates. Throws `invalid_input`. */
export function checkSupersedes(supersedes: unknown): readonly string[] {
  if (supersedes === undefined || supersedes === null) return [];
  if (!Array.isArray(supersedes)) throw invalidField("supersedes", "must be a list of keys");
  const names = [...new Set(supersedes.map((name) => textOf("supersedes", name).trim()))];
  if (names.includes("")) throw invalidField("supersedes", "must not hold an empty key; leave it out");
  if (names.length <= HISTORY_LIMITS.superseded) return names;
  throw invalidField(
    "supersedes",
    `may name at most ${HISTORY_LIMITS.superseded} keys, but names ${names.length}; supersede the rest with another store`,
  );
}

function checkTag(tag: unknown): string {
  const name = textOf("tags", tag).trim();
  if (name === "") throw invalidField("tags", "must not hold an empty tag; leave it out");
  refuseLong("tags", name, FACT_LIMITS.tagBytes, "shorten it");
  refuseHostile("tags", name);
  return name;
}

function checkConversationId(id: unknown): string | undefined {
  if (id === undefined || id === null) return undefined;
  const name = textOf("conversation_id", id).trim();
  if (name === "") throw invalidField("conversation_id", "must not be empty; leave it out");
  refuseLong("conversation_id", name, FACT_LIMITS.conversationBytes, "shorten it");
  refuseHostile("conversation_id", name);
  return name;
}

/** The ttl in seconds; undefined when absent. Throws `invalid_input`. */
export function checkTtl(ttlSeconds: unknown): number | undefined {
  const { leastTtlSeconds, mostTtlSeconds } = FACT_LIMITS;
  if (ttlSeconds === undefined || ttlSeconds === null || ttlSeconds === 0) return undefined;
  if (isWholeNumber(ttlSeconds) && ttlSeconds >= leastTtlSeconds && ttlSeconds <= mostTtlSeconds)
    return ttlSeconds;
  throw invalidField(
    "ttl_seconds",
    `must be a whole number from ${leastTtlSeconds} (an hour) to ${mostTtlSeconds} (a year); leave it out for the usual time`,
  );
}

function isWholeNumber(value: unknown): value is number {
  return Number.isInteger(value);
}

export function textOf(field: string, text: unknown): string {
  if (typeof text === "string") return text;
  throw invalidField(field, text === undefined || text === null ? "is missing" : "must be a string");
}

export function refuseLong(field: string, text: string, mostBytes: number, remedy: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > mostBytes)
    throw invalidField(field, `may have at most ${mostBytes} bytes, but has ${bytes}; ${remedy}`);
}

export function refuseHostile(field: string, text: string): void {
  refuse(field, problemOfName(text));
}

function refuse(field: string, problem: string | undefined): void {
  if (problem !== undefined) throw invalidField(field, `${problem}; leave it out`);
}
