/** Adapts the store as recall's vector cache. */
import type { MemoryStore, VectorStore } from "../engine/store/memory-store.ts";
import type { ReferenceCache } from "../recall/meaning/reference-vectors.ts";
import type { VectorCache } from "../recall/vectors/semantic-contract.ts";

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
