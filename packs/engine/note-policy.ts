/** Limits of a pack's notes: those of facts, but keys and values are stored unchanged, as programs expect. */

import { invalidField } from "../../engine/errors.ts";
import {
  checkCategory,
  checkTags,
  FACT_LIMITS,
  refuseHostile,
  refuseLong,
  textOf,
} from "../../engine/facts/facts-policy.ts";
import { problemOfName } from "../../engine/facts/hostile-text.ts";
import { isWholeWithin, PACK_LIMITS } from "./define-pack.ts";
import type { PackMemoryPolicy, PackNoteOptions } from "./pack-contract.ts";

/** 30 days, as in helmdeck. */
const DEFAULT_NOTE_TTL_SECONDS = 2_592_000;
const DEFAULT_NOTE_CATEGORY = "notes";

export interface CheckedNote {
  readonly key: string;
  readonly value: Uint8Array;
  readonly category: string;
  readonly tags: readonly string[];
  readonly ttlSeconds: number;
}

/** The note with the pack's defaults. Throws `invalid_input` with the field and its limit. */
export function checkNote(
  key: unknown,
  value: unknown,
  options: PackNoteOptions,
  policy: PackMemoryPolicy,
): CheckedNote {
  return {
    key: checkNoteKey(key),
    value: checkNoteValue(value),
    category: checkCategory(options.category ?? policy.category ?? DEFAULT_NOTE_CATEGORY),
    tags: checkTags(options.tags),
    ttlSeconds: checkNoteTtl(options.ttlSeconds ?? policy.ttlSeconds ?? DEFAULT_NOTE_TTL_SECONDS),
  };
}

/** The key, or undefined if no note can have it. For lookups, where a miss is not an error. */
export function keyOfNote(key: unknown): string | undefined {
  const fits = typeof key === "string" && key !== "" && Buffer.byteLength(key) <= FACT_LIMITS.keyBytes;
  return fits && problemOfName(key) === undefined ? key : undefined;
}

function checkNoteKey(key: unknown): string {
  const name = textOf("key", key);
  if (name === "")
    throw invalidField("key", "is missing; begin it with the pack's name, such as swe.solve/notes");
  refuseLong("key", name, FACT_LIMITS.keyBytes, "shorten it");
  refuseHostile("key", name);
  return name;
}

function checkNoteValue(value: unknown): Uint8Array {
  const text = textOf("value", value);
  refuseLong("value", text, FACT_LIMITS.valueBytes, "keep a summary, or an artifact");
  if (!text.isWellFormed())
    throw invalidField("value", "holds half of a surrogate pair, which is not Unicode text");
  return Buffer.from(text);
}

function checkNoteTtl(ttlSeconds: unknown): number {
  const { leastTtlSeconds, mostTtlSeconds } = PACK_LIMITS;
  if (isWholeWithin(ttlSeconds, leastTtlSeconds, mostTtlSeconds)) return ttlSeconds;
  throw invalidField(
    "ttlSeconds",
    `must be whole seconds from ${leastTtlSeconds} to ${mostTtlSeconds} (a year)`,
  );
}
