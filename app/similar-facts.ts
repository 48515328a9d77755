/** Finds facts similar to one that is about to be stored, so that the caller can correct them instead of adding another. */

import { defined } from "../engine/defined.ts";
import { isReservedCategory } from "../engine/facts/facts-policy.ts";
import { harmlessBlock } from "../engine/facts/hostile-text.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import { within } from "../engine/timing.ts";
import type { AlikeWanted } from "../recall/search-contract.ts";
import type { SimilarFact } from "./memory.ts";
import { firstWords } from "./presenters/words.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** A store waits for this; the search itself may wait longer for its question's vector. */
const LOOKED_FOR_MS = 300;
const MOST_SHOWN = 3;
const SHOWN_CHARACTERS = 200;

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
  const isOther: AlikeWanted["isOther"] = ({ key, category }) =>
    key !== fact.key && !superseded.includes(key) && !isReservedCategory(category);
  const looking = look(context, namespace, fact, isOther);
  return within(LOOKED_FOR_MS, looking, () => ({}), context.timer).catch(() => ({}));
}

async function look(
  { recall }: UseCaseContext,
  namespace: Namespace,
  { key, value }: { readonly key: string; readonly value: string },
  isOther: AlikeWanted["isOther"],
): Promise<Alike> {
  const text = harmlessBlock(value);
  const alike = await recall.alike(namespace, { key, value: text }, { limit: MOST_SHOWN, isOther });
  const sameAs = alike.filter(({ isSame }) => isSame).map((one) => one.key);
  if (sameAs.length > 0) return { sameAs };
  const similar = alike.map((one) => ({
    // One escaped line: a model sees it without having asked.
    ...{ key: one.key, value: firstWords(one.text, SHOWN_CHARACTERS), updatedAt: one.updatedAt },
    ...defined({ writer: one.writer, contradicts: one.relation === "contradict" || undefined }),
  }));
  return defined({ similar: similar.length > 0 ? similar : undefined });
}
