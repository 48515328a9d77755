/** Ranks a few given facts like a search, without an open memory: for consumers of the process seam. */
import { ANSWER_LIMITS } from "../engine/answer-limits.ts";
import { createInMemoryStore } from "../engine/store/in-memory-store.ts";
import { namespaceOf } from "../engine/store/namespace.ts";
import { createRecall } from "../recall/recall.ts";
import { recallOverStore } from "./corpus-source.ts";
import type { FactView } from "./memory.ts";
import { requireQuery } from "./searching.ts";

export type RankableFact = Pick<FactView, "key" | "value" | "category" | "tags" | "createdAt" | "updatedAt">;

/**
 * The keys of the facts that match the query, best first. Leaves out facts without any of its words, and those beyond the best
 * hits.
 */
export async function rankFacts(query: string, facts: readonly RankableFact[]): Promise<readonly string[]> {
  const namespace = namespaceOf("ranking");
  const store = createInMemoryStore();
  await store.putMany(
    facts.map(({ value, ...fact }) => ({ ...fact, namespace, origin: "fact", value: Buffer.from(value) })),
  );
  // The caller wants an order, so a fact with one matching word still ranks above one with none.
  const recall = createRecall({ source: recallOverStore(store), now: Date.now, showsAll: true });
  try {
    await recall.warm(namespace);
    const { results } = await recall.search(
      namespace,
      requireQuery({ query, limit: ANSWER_LIMITS.hits.most }),
    );
    return results.map(({ key }) => key);
  } finally {
    await recall.close();
    await store.close();
  }
}
