/** Notes of earlier imports that their files hold no longer. */
import { isImportTag, type MemoryStore, type Namespace } from "../../engine/index.ts";

const PAGE_KEYS = 1_000;

/** How many facts are there as an import brought them, below these roots, but not among these keys. */
export async function countGone(
  store: MemoryStore,
  namespace: Namespace,
  roots: ReadonlySet<string>,
  keys: ReadonlySet<string>,
): Promise<number> {
  let gone = 0;
  for (const root of roots) {
    let cursor: string | undefined;
    do {
      const query = { namespace, origin: "fact" as const, prefix: `${root}/`, limit: PAGE_KEYS };
      const page = await store.listMeta({ ...query, ...(cursor && { cursor }) });
      gone += page.entries.filter(({ key, tags }) => tags.some(isImportTag) && !keys.has(key)).length;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }
  return gone;
}
