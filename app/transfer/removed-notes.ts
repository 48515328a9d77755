/** Finds facts of earlier imports that are no longer in their files. */
import { importTag, isImportTag } from "../../engine/facts/import-tag.ts";
import { pagesOf } from "../../engine/pages-of.ts";
import type { MemoryStore } from "../../engine/store/memory-store.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import type { ImportFormat } from "./formats/names.ts";

const PAGE_KEYS = 1_000;

export interface SeenNotes {
  readonly namespace: Namespace;
  readonly format: ImportFormat;
  /** The key prefixes of the files; for "", only imports of the same format count. */
  readonly roots: ReadonlySet<string>;
  readonly keys: ReadonlySet<string>;
}

/** Counts unchanged imported facts below these roots that are not among these keys. */
export async function countRemoved(
  store: MemoryStore,
  { namespace, format, roots, keys }: SeenNotes,
): Promise<number> {
  let gone = 0;
  for (const root of roots) {
    const isOfThese = (tag: string) =>
      root === "" ? tag.startsWith(importTag(`${format}-`)) : isImportTag(tag);
    const below = root === "" ? {} : { prefix: `${root}/` };
    const query = { namespace, origin: "fact", ...below, limit: PAGE_KEYS } as const;
    for await (const { entries } of pagesOf((more) => store.listMeta({ ...query, ...more })))
      gone += entries.filter(({ key, tags }) => tags.some(isOfThese) && !keys.has(key)).length;
  }
  return gone;
}
