/** Detects changes between a preview and its confirmation: a change proceeds only if the fact is still the same. */
import { type FactView, isHelmdeckError } from "../../app/index.ts";
import type { PageContext } from "../page.ts";

/** The fact with exactly this key. Undefined if it cannot be opened: it can only be stored again or forgotten. */
export async function factAt({ memory, subject }: PageContext, key: string): Promise<FactView | undefined> {
  try {
    const fact = await memory.getFact(subject, key);
    return fact?.key === key ? fact : undefined;
  } catch (error) {
    if (isHelmdeckError(error, "entry_unreadable")) return undefined;
    throw error;
  }
}

/** Changes with each store, even of the same value with another category or other tags; not with a renewal. */
export function versionOf(facts: readonly (FactView | undefined)[]): string {
  return facts
    .map((fact) => (fact === undefined ? "none" : `${fact.fingerprint}-${fact.updatedAt}`))
    .join(" ");
}
