/** When an import is forgotten, restores the facts that it replaced. */
import { defined } from "../engine/defined.ts";
import { isHelmdeckError } from "../engine/errors.ts";
import { pagesOf } from "../engine/pages-of.ts";
import { undoOf } from "../engine/rules/history.ts";
import type { EntryFilter, EntryMeta, EntryRef, UndoOptions } from "../engine/store/memory-store.ts";
import type { UseCaseContext } from "./use-case-context.ts";

const PAGE_KEYS = 1_000;

/**
 * Restores those facts covered by a tag filter that had another value before: undoes the tagged value, and leaves erasing it to
 * the delete that follows. Returns their number; a dry run only counts. Does nothing for a filter without a tag, which deletes
 * whole facts.
 */
export async function restoreReplaced(
  context: UseCaseContext,
  filter: EntryFilter,
  dryRun: boolean,
): Promise<number> {
  const { tag, upTo } = filter;
  if (tag === undefined) return 0;
  let restored = 0;
  for (const fact of await tagged(context, filter, tag)) {
    if (fact.revision > (upTo ?? fact.revision) || !(await hasOther(context, fact, tag))) continue;
    const ifRevision = upTo === undefined ? undefined : fact.revision;
    if (dryRun || (await restore(context, fact, { tag, ...defined({ ifRevision }) }))) restored += 1;
  }
  return restored;
}

/** False for a fact that somebody changed since it was listed. */
async function restore({ store }: UseCaseContext, ref: EntryRef, options: UndoOptions): Promise<boolean> {
  try {
    return (await store.undo(ref, { ...options, erasesLater: true })) !== undefined;
  } catch (error) {
    if (isHelmdeckError(error, "changed_meanwhile")) return false;
    throw error;
  }
}

/** Collects all of them before changing the first, since pages depend on the order. */
async function tagged(
  { store }: UseCaseContext,
  { namespace }: EntryFilter,
  tag: string,
): Promise<readonly EntryMeta[]> {
  const found: EntryMeta[] = [];
  const query = { namespace, origin: "fact", tag, limit: PAGE_KEYS } as const;
  for await (const { entries } of pagesOf((more) => store.listMeta({ ...query, ...more })))
    found.push(...entries);
  return found;
}

async function hasOther({ store, now }: UseCaseContext, ref: EntryRef, tag: string): Promise<boolean> {
  const former = (await store.history(ref)).filter(({ tags }) => !tags.includes(tag));
  return undoOf(former.toReversed(), now())?.before !== undefined;
}
