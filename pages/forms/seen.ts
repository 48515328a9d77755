/** What was there when somebody looked: a change goes ahead only while it is still so. */
import { type FactView, isHelmdeckError } from "../../app/index.ts";
import type { PageContext } from "../page.ts";

/** The fact with exactly this key; none for one that does not open, which can only be stored anew or forgotten. */
export async function factAt({ memory, subject }: PageContext, key: string): Promise<FactView | undefined> {
  try {
    const fact = await memory.getFact(subject, key);
    return fact?.key === key ? fact : undefined;
  } catch (error) {
    if (isHelmdeckError(error, "entry_unreadable")) return undefined;
    throw error;
  }
}

/** Changes with each store, also of the same value with another category or other tags; not with a renewal. */
export function versionOf(facts: readonly (FactView | undefined)[]): string {
  return facts
    .map((fact) => (fact === undefined ? "none" : `${fact.fingerprint}-${fact.updatedAt}`))
    .join(" ");
}
