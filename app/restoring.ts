/** What an import replaced comes back when the import is forgotten: each such fact as it was, and from then on nobody's import. */
import { type EntryFilter, type EntryRef, undoOf } from "../engine/index.ts";
import type { UseCaseContext } from "./use-case-context.ts";

const PAGE_KEYS = 1_000;

/**
 * Of the facts that a filter by tag covers, those that held something else before: takes back what has the tag, and leaves it to
 * the delete that follows to erase it. How many they are; a dry run only counts. None for a filter without a tag, which deletes
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

/** All of them before the first is changed, since a page begins where the one before ended. */
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
