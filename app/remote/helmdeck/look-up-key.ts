/** Looks up one fact of a running helmdeck by its exact key. */
import type { HelmdeckFact } from "./helmdeck-chunks.ts";
import type { KnownRows } from "./known-rows.ts";

export interface LookedUp {
  readonly fact: HelmdeckFact | undefined;
  /** Keys of all rows with the longest word of the key, except runs; incomplete when `isAll` is false. */
  readonly keys: readonly string[];
  readonly isAll: boolean;
}

export async function lookUpKey(known: KnownRows, key: string): Promise<LookedUp> {
  const { facts, keys, isAll } = await known.lookFor(wordOf(key));
  return { fact: facts.find((one) => one.key === key), keys, isAll };
}

/** A query of one word is a filter, newest matches first; one of several words is not. */
function wordOf(key: string): string {
  const [longest = key] = key.split(/\s+/).toSorted((one, other) => other.length - one.length);
  return longest;
}
