/** The systems that are compared: ways of searching one subject's memory, each filled with the same facts. */
import { namespaceOf } from "../../engine/store/namespace.ts";
import type { Embedder } from "../../recall/embedder.ts";
import { type BenchMemory, EVERY_CANDIDATE, openBenchMemory, openHybridSearch } from "./bench-memory.ts";
import { exactVectorsOver } from "./exact-vectors.ts";
import { fts5Over } from "./fts5.ts";

/**
 * `keyword` and `hybrid` show what the plugin shows. `…Sure` leaves out possible hits, `…Candidates` includes every candidate for a
 * possible hit, and `…Uncut` is the same ranking without a cut-off. `vector` is semantic search alone, by exact comparison, and returns
 * hits for every question. `fts5` is SQLite's full-text search.
 */
export const SYSTEMS = {
  keywordSure: "keywords, sure hits only",
  keyword: "keywords, as the plugin shows them",
  keywordCandidates: "keywords, every candidate",
  keywordUncut: "keywords, before the cut-off",
  vector: "vectors only, exact, no cut-off",
  hybridSure: "hybrid, sure hits only",
  hybrid: "hybrid, as the plugin shows it",
  hybridCandidates: "hybrid, every candidate",
  hybridUncut: "hybrid, before the cut-off",
  fts5: "SQLite FTS5, stemmed, BM25",
} as const;
export type SystemId = keyof typeof SYSTEMS;

export interface Hit {
  readonly key: string;
  readonly score: number;
  readonly possible?: true;
  readonly conflictsWith?: readonly { readonly key: string }[];
}

export type Search = (query: string, limit: number) => Promise<readonly Hit[]>;
export type Systems = ReadonlyMap<SystemId, Search>;

export interface Bench {
  /** Adds lines that `import` accepts to the subject's memory in each system. Throws if a line is refused. */
  fill(subject: string, lines: readonly object[]): Promise<Systems>;
  close(): Promise<void>;
}

/** Without an embedder, only keyword search and FTS5 run. The caller must close the embedder. */
export async function openBench(embedder?: Embedder): Promise<Bench> {
  const keyword = await openBenchMemory();
  const meaning = embedder && openMeaning(keyword, embedder);
  return {
    async fill(subject, lines) {
      await keyword.fill(subject, lines);
      const searchFts5 = fts5Over(await keyword.entries(namespaceOf(subject)));
      return new Map<SystemId, Search>([
        ["keywordSure", (query, limit) => keyword.sure(subject, query, limit)],
        ["keyword", (query, limit) => keyword.shown(subject, query, limit)],
        ["keywordCandidates", (query, limit) => keyword.candidates(subject, query, limit)],
        ["keywordUncut", (query, limit) => keyword.ranked(subject, query, limit)],
        ["fts5", async (query, limit) => searchFts5(query, limit).map((key) => ({ key, score: 0 }))],
        ...((await meaning?.over(subject)) ?? []),
      ]);
    },
    async close() {
      meaning?.close();
      await keyword.close();
    },
  };
}

/** The systems that need an embedder, over a filled memory. */
function openMeaning(memory: BenchMemory, embedder: Embedder) {
  const { store } = memory.memory;
  const hybrid = openHybridSearch(store, embedder);
  const candidates = openHybridSearch(store, embedder, EVERY_CANDIDATE);
  const uncut = openHybridSearch(store, embedder, { showsAll: true });
  return {
    async over(subject: string): Promise<readonly (readonly [SystemId, Search])[]> {
      await hybrid.fill(subject);
      await candidates.fill(subject);
      await uncut.fill(subject);
      return [
        ["vector", await exactVectorsOver(await memory.entries(namespaceOf(subject)), embedder)],
        ["hybridSure", (query, limit) => hybrid.sure(subject, query, limit)],
        ["hybrid", (query, limit) => hybrid.search(subject, query, limit)],
        ["hybridCandidates", (query, limit) => candidates.search(subject, query, limit)],
        ["hybridUncut", (query, limit) => uncut.search(subject, query, limit)],
      ];
    },
    close() {
      hybrid.close();
      candidates.close();
      uncut.close();
    },
  };
}
