/** One fact of a running helmdeck by its exact key, asked for now. */
import type { UpstreamFact } from "./helmdeck-chunks.ts";
import type { KnownRows } from "./known-rows.ts";

export interface LookedUp {
  readonly fact: UpstreamFact | undefined;
  /** Of every row that holds the longest word of the key, but for runs; not all of them where `isAll` is false. */
  readonly keys: readonly string[];
  readonly isAll: boolean;
}

export async function lookUpKey(known: KnownRows, key: string): Promise<LookedUp> {
  const { facts, keys, isAll } = await known.lookFor(wordOf(key));
  return { fact: facts.find((one) => one.key === key), keys, isAll };
}

/** A question of one word is a filter, whose newest matches come first; one of several words is not. */
function wordOf(key: string): string {
  const [longest = key] = key.split(/\s+/).toSorted((one, other) => other.length - one.length);
  return longest;
}
