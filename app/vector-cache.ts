/** Adapts the store as recall's vector cache. */
import type { MemoryStore, VectorStore } from "../engine/index.ts";
import type { ReferenceCache, VectorCache } from "../recall/index.ts";

export function vectorCacheOver(store: VectorStore): VectorCache {
  return {
    spaces: () => store.vectorSpaces(),
    load: (namespace, space, ids) => store.vectors({ namespace, space, ids }),
    put: (namespace, space, batch) => store.putVectors(namespace, space, batch),
    dropOthers: (namespace, space, ids) => store.deleteOtherVectors({ namespace, space, ids }),
  };
}

export function referenceCacheOver(
  store: Pick<MemoryStore, "referenceVectors" | "putReferenceVectors">,
): ReferenceCache {
  return {
    load: (space) => store.referenceVectors(space),
    save: (space, made) => store.putReferenceVectors(space, made),
  };
}
