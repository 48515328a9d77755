/** A fact in the form that every use case returns, and one that does not open. */
import { defined } from "../engine/defined.ts";
import { isHelmdeckError } from "../engine/errors.ts";
import { keyToLookUp } from "../engine/facts/facts-policy.ts";
import { isPinned, withoutMarks } from "../engine/facts/marks.ts";
import { entriesNamedBy } from "../engine/projections/naming.ts";
import { pathOf } from "../engine/projections/paths.ts";
import { fingerprintOf } from "../engine/store/entry-id.ts";
import { heldOf } from "../engine/store/fields.ts";
import type { Entry, Fingerprint, Held } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import type { FactView, FormerView } from "./memory.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** Requires an entry that is a fact. */
export function factView(entry: Entry): FactView {
  const { revision, category, key } = entry;
  return {
    ...viewOf(entry, entry.fingerprint),
    ...(isPinned(entry) && { pinned: true }),
    ...{ revision, path: pathOf(category, key) },
  };
}

/** A current or former value of a fact. */
export function valueView(held: Held): FormerView {
  return viewOf(held, fingerprintOf(held.value));
}

function viewOf(from: Held, fingerprint: Fingerprint): FormerView {
  const { writer, conversationId, ending: _, ...held } = heldOf(from);
  const tags = withoutMarks(held.tags);
  return {
    ...held,
    tags,
    value: Buffer.from(held.value).toString(),
    fingerprint,
    ...defined({ writer, conversationId }),
  };
}

/** For an entry that may not open. */
export function asUnreadable(error: unknown): "unreadable" {
  if (isHelmdeckError(error, "entry_unreadable")) return "unreadable";
  throw error;
}

/** For an entry that is as good as none if it does not open. */
export function unlessUnreadable(error: unknown): undefined {
  asUnreadable(error);
}

interface FactName {
  readonly key: string;
  readonly category?: string;
}

/**
 * Finds facts by their names: an exact key, or the path, docid or citation of a hit.
 *
 * An exact key comes first, even if it reads as a path, so that every fact can be reached by its own key.
 */
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
