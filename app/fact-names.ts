/** Finds facts by their names: an exact key, or the path, docid or citation of a hit. */
import { defined } from "../engine/defined.ts";
import { keyToLookUp } from "../engine/facts/facts-policy.ts";
import { entriesNamedBy } from "../engine/projections/naming.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import type { UseCaseContext } from "./use-case-context.ts";

interface FactName {
  readonly key: string;
  readonly category?: string;
}

/** An exact key comes first, even if it reads as a path, so that every fact can be reached by its own key. */
export function factsNamedBy(text: unknown): readonly FactName[] {
  if (typeof text !== "string") return [];
  const key = keyToLookUp(text);
  const named = entriesNamedBy(text.trim()).filter(({ origin }) => origin === "fact");
  return key === undefined ? named : [{ key }, ...named];
}

/** The exact key of the existing fact with this name. */
export async function keyOfFact(
  { store }: UseCaseContext,
  namespace: Namespace,
  name: string,
): Promise<string | undefined> {
  for (const { key, category } of factsNamedBy(name)) {
    const filter = { namespace, origins: ["fact"] as const, key, ...defined({ category }) };
    if ((await store.countWhere(filter)) > 0) return key;
  }
  return undefined;
}
