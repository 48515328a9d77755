/** Finds facts similar to one that is about to be stored, so that the caller can correct them instead of adding another. */

import { defined } from "../engine/defined.ts";
import { isReservedCategory } from "../engine/facts/facts-policy.ts";
import { harmlessBlock, harmlessLine } from "../engine/facts/hostile-text.ts";
import { cutText } from "../engine/projections/frame.ts";
import type { Entry } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import { within } from "../engine/timing.ts";
import type { AlikeFact } from "../recall/search-contract.ts";
import { unlessUnreadable } from "./fact-view.ts";
import type { SimilarFact } from "./memory.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** A store waits for this; the search itself may wait longer for its question's vector. */
const LOOKED_FOR_MS = 300;
const MOST_SHOWN = 3;
const SHOWN_CHARACTERS = 200;
/** Facts to look at: some are records of runs, some are being replaced, and one may have the same value. */
const HITS = 10;

export interface Alike {
  readonly sameAs?: readonly string[];
  readonly similar?: readonly SimilarFact[];
}

/** Searches the same namespace. Empty when that takes too long or fails: storing does not depend on it. */
export async function lookForSimilar(
  context: UseCaseContext,
  namespace: Namespace,
  fact: { readonly key: string; readonly value: string },
  superseded: readonly string[],
): Promise<Alike> {
  const isOther = (key: string): boolean => key !== fact.key && !superseded.includes(key);
  const looking = look(context, namespace, fact, isOther);
  return within(LOOKED_FOR_MS, looking, () => ({}), context.timer).catch(() => ({}));
}

async function look(
  { recall, store }: UseCaseContext,
  namespace: Namespace,
  fact: { readonly key: string; readonly value: string },
  isOther: (key: string) => boolean,
): Promise<Alike> {
  const all = await recall.alike(namespace, fact, HITS);
  const others = all.filter(({ key, category }) => !isReservedCategory(category) && isOther(key));
  const read = (key: string) => store.get({ namespace, origin: "fact", key }).catch(unlessUnreadable);
  const sameAs = await keysOfSame(others, fact.value, read);
  if (sameAs.length > 0) return { sameAs };
  const similar = await firstOf(others, read);
  return defined({ similar: similar.length > 0 ? similar : undefined });
}

type ReadFact = (key: string) => Promise<Entry | undefined>;

/** Only a fact whose document has the same text can have the same value. */
async function keysOfSame(
  others: readonly AlikeFact[],
  value: string,
  read: ReadFact,
): Promise<readonly string[]> {
  const text = harmlessBlock(value);
  const possible = others.filter(({ content }) => content.includes(text)).map(({ key }) => key);
  const entries = await Promise.all(possible.map(read));
  return possible.filter((_key, place) => {
    const entry = entries[place];
    return entry !== undefined && textOf(entry) === value;
  });
}

async function firstOf(others: readonly AlikeFact[], read: ReadFact): Promise<readonly SimilarFact[]> {
  const similar: SimilarFact[] = [];
  // All that are shown at once; further ones only for those that are gone meanwhile.
  for (let at = 0; at < others.length && similar.length < MOST_SHOWN; ) {
    const next = others.slice(at, at + MOST_SHOWN - similar.length);
    at += next.length;
    const entries = await Promise.all(next.map(({ key }) => read(key)));
    for (const [place, entry] of entries.entries()) {
      if (entry === undefined) continue;
      const { key, updatedAt } = entry;
      const contradicts = next[place]?.contradicts() || undefined;
      similar.push({ key, value: excerptOf(textOf(entry)), updatedAt, ...defined({ contradicts }) });
    }
  }
  return similar;
}

function textOf({ value }: Entry): string {
  return Buffer.from(value).toString();
}

/** One escaped line: a model sees it without having asked. */
function excerptOf(value: string): string {
  return cutText(harmlessLine(cutText(value, SHOWN_CHARACTERS)), SHOWN_CHARACTERS);
}
