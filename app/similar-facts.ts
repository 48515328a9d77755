/** Finds facts similar to one that is about to be stored, so that the caller can correct them instead of adding another. */

import { defined } from "../engine/defined.ts";
import { isReservedCategory } from "../engine/facts/facts-policy.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import { cutText } from "../engine/projections/frame.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import { within } from "../engine/timing.ts";
import { unlessUnreadable } from "./fact-view.ts";
import type { SimilarFact } from "./memory.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** A store waits for this; the search itself may wait longer for its question's vector. */
const LOOKED_FOR_MS = 300;
const MOST_SHOWN = 3;
const SHOWN_CHARACTERS = 200;
/** Facts to read: some are records of runs, and some are being replaced. */
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
  const results = await recall.alike(namespace, fact, HITS);
  const keys = results.filter(({ category }) => !isReservedCategory(category)).map(({ key }) => key);
  const entries = await Promise.all(
    keys.filter(isOther).map((key) => store.get({ namespace, origin: "fact", key }).catch(unlessUnreadable)),
  );
  const found = entries
    .filter((entry) => entry !== undefined)
    .map(({ key, value: bytes, updatedAt }) => ({ key, value: Buffer.from(bytes).toString(), updatedAt }));
  const sameAs = found.filter((other) => other.value === fact.value).map(({ key }) => key);
  if (sameAs.length > 0) return { sameAs };
  const others = new Set(results.filter(({ contradicts }) => contradicts).map(({ key }) => key));
  const similar = found.slice(0, MOST_SHOWN).map((other): SimilarFact => {
    const contradicts = others.has(other.key) || undefined;
    return { ...other, value: excerptOf(other.value), ...defined({ contradicts }) };
  });
  return defined({ similar: similar.length > 0 ? similar : undefined });
}

/** One escaped line: a model sees it without having asked. */
function excerptOf(value: string): string {
  return cutText(harmlessLine(cutText(value, SHOWN_CHARACTERS)), SHOWN_CHARACTERS);
}
