/** Ranks a few given facts like a search, without an open memory: for consumers of the process seam. */
import { ANSWER_LIMITS } from "../engine/answer-limits.ts";
import { projectEntry } from "../engine/projections/chunks.ts";
import { entryIdOf, fingerprintOf } from "../engine/store/entry-id.ts";
import { namespaceOf } from "../engine/store/namespace.ts";
import { createRecall } from "../recall/recall.ts";
import type { CorpusSource } from "../recall/search-contract.ts";
import type { FactView } from "./memory.ts";
import { requireQuery } from "./searching.ts";

export type RankableFact = Pick<FactView, "key" | "value" | "category" | "tags" | "createdAt" | "updatedAt">;

const RANKING = namespaceOf("ranking");

/**
 * The keys of the facts that match the query, best first. Leaves out facts without any of its words, and those beyond the best
 * hits.
 */
export async function rankFacts(query: string, facts: readonly RankableFact[]): Promise<readonly string[]> {
  // The caller wants an order, so a fact with one matching word still ranks above one with none.
  const recall = createRecall({ source: sourceOf(facts), now: Date.now, showsAll: true });
  try {
    await recall.warm(RANKING);
    const { results } = await recall.search(RANKING, requireQuery({ query, limit: ANSWER_LIMITS.hits.most }));
    return results.map(({ key }) => key);
  } finally {
    await recall.close();
  }
}

function sourceOf(facts: readonly RankableFact[]): CorpusSource {
  const upserts = facts.flatMap((fact) => {
    const value = Buffer.from(fact.value);
    const ids = { id: entryIdOf(fact.key), fingerprint: fingerprintOf(value) };
    const projected = projectEntry({ ...fact, ...ids, namespace: RANKING, origin: "fact", value });
    return projected.kind === "chunk" ? [projected.entry] : [];
  });
  return {
    async changes(_, since, limit) {
      const cursor = Math.min(since + limit, upserts.length);
      const page = upserts.slice(since, cursor);
      return { kind: "changes", upserts: page, removed: [], cursor, more: cursor < upserts.length };
    },
  };
}
