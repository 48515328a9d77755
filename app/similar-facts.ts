/** Finds facts similar to one that is about to be stored, so that the caller can correct them instead of adding another. */

import { defined } from "../engine/defined.ts";
import { isReservedCategory } from "../engine/facts/facts-policy.ts";
import { harmlessBlock, harmlessLine } from "../engine/facts/hostile-text.ts";
import { cutText } from "../engine/projections/frame.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import { within } from "../engine/timing.ts";
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
  { recall }: UseCaseContext,
  namespace: Namespace,
  fact: { readonly key: string; readonly value: string },
  isOther: (key: string) => boolean,
): Promise<Alike> {
  const all = await recall.alike(namespace, fact, HITS);
  const others = all.filter(({ key, category }) => !isReservedCategory(category) && isOther(key));
  const value = harmlessBlock(fact.value);
  const sameAs = others.filter(({ text }) => text() === value).map(({ key }) => key);
  if (sameAs.length > 0) return { sameAs };
  const similar = others.slice(0, MOST_SHOWN).map(({ key, text, updatedAt, contradicts }) => ({
    ...{ key, value: excerptOf(text()), updatedAt },
    ...defined({ contradicts: contradicts() || undefined }),
  }));
  return defined({ similar: similar.length > 0 ? similar : undefined });
}

/** One escaped line: a model sees it without having asked. */
function excerptOf(text: string): string {
  return cutText(harmlessLine(cutText(text, SHOWN_CHARACTERS)), SHOWN_CHARACTERS);
}
