/** Lists imports of which something remains, also in histories: those that `forget import:<id>` can undo. */
import { importsOf } from "../../engine/facts/import-tag.ts";
import { pagesOf } from "../../engine/pages-of.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import { formerKeys } from "../history.ts";
import type { KnownImport } from "../memory.ts";
import type { UseCaseContext } from "../use-case-context.ts";

const PAGE_KEYS = 1_000;
const MARKED = ["fact", "audit", "pack"] as const;

/** By id, which begins with the format and the date. Decrypts histories only. */
export async function listImports(
  { store }: UseCaseContext,
  namespace: Namespace,
): Promise<readonly KnownImport[]> {
  const found = new Map<string, { facts: number; former: number; records?: number }>();
  const add = (tags: readonly string[], what: "facts" | "former" | "records"): void => {
    for (const id of importsOf(tags)) {
      const counts = found.get(id) ?? { facts: 0, former: 0 };
      counts[what] = (counts[what] ?? 0) + 1;
      found.set(id, counts);
    }
  };
  const query = { namespace, origin: MARKED, limit: PAGE_KEYS };
  for await (const { entries } of pagesOf((more) => store.listMeta({ ...query, ...more })))
    for (const { origin, tags } of entries) add(tags, origin === "fact" ? "facts" : "records");
  for await (const { tags } of formerKeys(store, namespace)) add(tags, "former");
  return [...found].map(([id, counts]) => ({ id, ...counts })).sort((a, b) => (a.id < b.id ? -1 : 1));
}
