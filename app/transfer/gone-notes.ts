/** Notes of earlier imports that their files hold no longer. */
import { importTag, isImportTag, type MemoryStore, type Namespace } from "../../engine/index.ts";
import type { ImportFormat } from "./formats/names.ts";

const PAGE_KEYS = 1_000;

export interface SeenNotes {
  readonly namespace: Namespace;
  readonly format: ImportFormat;
  /** What the files' keys begin with; where that is "", only imports of the format count. */
  readonly roots: ReadonlySet<string>;
  readonly keys: ReadonlySet<string>;
}

/** How many facts are there as an import brought them, below these roots, but not among these keys. */
export async function countGone(
  store: MemoryStore,
  { namespace, format, roots, keys }: SeenNotes,
): Promise<number> {
  let gone = 0;
  for (const root of roots) {
    const isOfThese = (tag: string) =>
      root === "" ? tag.startsWith(importTag(`${format}-`)) : isImportTag(tag);
    const within = root === "" ? {} : { prefix: `${root}/` };
    let cursor: string | undefined;
    do {
      const query = { namespace, origin: "fact" as const, ...within, limit: PAGE_KEYS };
      const page = await store.listMeta({ ...query, ...(cursor && { cursor }) });
      gone += page.entries.filter(({ key, tags }) => tags.some(isOfThese) && !keys.has(key)).length;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }
  return gone;
}
