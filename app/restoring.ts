/** When an import is forgotten, restores the facts that it replaced. */
import { type EntryFilter, type EntryRef, undoOf } from "../engine/index.ts";
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
  const { tag } = filter;
  if (tag === undefined) return 0;
  let restored = 0;
  for (const ref of await tagged(context, filter, tag)) {
    if (!(await hasOther(context, ref, tag))) continue;
    if (!dryRun) while ((await context.store.undo(ref, { tag, erasesLater: true })) !== undefined);
    restored += 1;
  }
  return restored;
}

/** Collects all of them before changing the first, since pages depend on the order. */
async function tagged(
  { store }: UseCaseContext,
  { namespace }: EntryFilter,
  tag: string,
): Promise<readonly EntryRef[]> {
  const found: EntryRef[] = [];
  let cursor: string | undefined;
  do {
    const query = { namespace, origin: "fact" as const, tag, limit: PAGE_KEYS, ...(cursor && { cursor }) };
    const page = await store.listMeta(query);
    found.push(...page.entries);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found;
}

async function hasOther({ store, now }: UseCaseContext, ref: EntryRef, tag: string): Promise<boolean> {
  const former = (await store.history(ref)).filter(({ tags }) => !tags.includes(tag));
  return undoOf(former.toReversed(), now())?.before !== undefined;
}
