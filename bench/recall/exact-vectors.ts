/** The reference for semantic search: compares the question's vector with that of every passage, without approximation or cut-off. */
import type { CorpusEntry } from "../../engine/projections/corpus.ts";
import type { Embedder } from "../../recall/embedder.ts";
import { meantText, passagesOfEntry } from "../../recall/lexical/indexed-document.ts";

interface VectorHit {
  readonly key: string;
  /** Cosine similarity of the entry's best passage. */
  readonly score: number;
}

export type VectorSearch = (query: string, limit: number) => Promise<readonly VectorHit[]>;

/** Embeds the same texts that recall embeds. */
export async function exactVectorsOver(
  entries: readonly CorpusEntry[],
  embedder: Embedder,
): Promise<VectorSearch> {
  const passages = entries.flatMap((entry) =>
    passagesOfEntry(entry).map((passage) => ({ key: entry.key, text: meantText(entry, passage) })),
  );
  const { vectors } = await embedder.embedDocuments(passages.map(({ text }) => text));
  return async (query, limit) => {
    const asked = await embedder.embedQuery(query);
    const best = new Map<string, number>();
    passages.forEach(({ key }, place) => {
      const score = dot(asked, vectors[place] ?? asked.subarray(0, 0));
      if (score > (best.get(key) ?? Number.NEGATIVE_INFINITY)) best.set(key, score);
    });
    const hits = [...best].map(([key, score]) => ({ key, score }));
    return hits.sort((left, right) => right.score - left.score).slice(0, limit);
  };
}

/** Both vectors have length 1, so this is the cosine. */
function dot(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let place = 0; place < right.length; place += 1) sum += (left[place] ?? 0) * (right[place] ?? 0);
  return sum;
}
