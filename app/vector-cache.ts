/** The store as the cache of recall's vectors. */
import type { VectorStore } from "../engine/index.ts";
import type { VectorCache } from "../recall/index.ts";

export function vectorCacheOver(store: VectorStore): VectorCache {
  return {
    spaces: () => store.vectorSpaces(),
    load: (namespace, space, ids) => store.vectors({ namespace, space, ids }),
    put: (namespace, space, batch) => store.putVectors(namespace, space, batch),
    dropOthers: (namespace, space, ids) => store.deleteOtherVectors({ namespace, space, ids }),
  };
}
