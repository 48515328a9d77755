/** A real memory in a folder of its own. Facts are added through the app's import, and questions use the plugin's calls. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OpenMemory } from "../../app/compose.ts";
import { recallOverStore } from "../../app/corpus-pages.ts";
import { vectorCacheOver } from "../../app/embedding/open-embeddings.ts";
import { openMemory } from "../../app/open-memory.ts";
import type { CorpusEntry } from "../../engine/projections/corpus.ts";
import type { MemoryStore } from "../../engine/store/memory-store.ts";
import { type Namespace, namespaceOf } from "../../engine/store/namespace.ts";
import { nodeSqliteDriver } from "../../engine/store/sqlite/node-sqlite-driver.ts";
import { backgroundTimer, type Timer } from "../../engine/timing.ts";
import { isEnglish } from "../../recall/analysis/commonness.ts";
import type { Embedder } from "../../recall/embedder.ts";
import { createRecall, type RecallOptions } from "../../recall/recall.ts";
import type { CorpusSource, RecallHit, RecallQuery } from "../../recall/search-contract.ts";
import { createSemanticIndex } from "../../recall/vectors/semantic-index.ts";
import { WEIGHTS } from "../../recall/weights.ts";
import { importLines } from "../../test/transfer/import-lines.ts";

/** Options other than the weights that change which hits are shown. */
export type Tuning = Pick<RecallOptions, "showsAll" | "possible">;

/** Keeps every candidate for a possible hit, with its score. */
export const EVERY_CANDIDATE: Tuning = {
  possible: { ...WEIGHTS.possible, most: Number.POSITIVE_INFINITY, least: 0, beside: 0 },
};

export interface BenchMemory {
  readonly memory: OpenMemory;
  /** Throws if a line is refused. */
  fill(subject: string, lines: readonly object[]): Promise<void>;
  /** The hits that the plugin shows: sure and possible ones. */
  shown(subject: string, query: string, limit: number): Promise<readonly RecallHit[]>;
  /** The hits that it shows if strangers may read along: only sure ones. */
  sure(subject: string, query: string, limit: number): Promise<readonly RecallHit[]>;
  /** Sure hits and all candidates for a possible hit, with their scores before the cut-off. */
  candidates(subject: string, query: string, limit: number): Promise<readonly RecallHit[]>;
  /** The same ranking over the same store without a cut-off. */
  ranked(subject: string, query: string, limit: number): Promise<readonly RecallHit[]>;
  /** Every candidate, with the parts of its score. */
  explained(subject: string, query: string, limit: number): Promise<readonly RecallHit[]>;
  /** The entries of a subject that search sees. */
  entries(namespace: Namespace): Promise<readonly CorpusEntry[]>;
  close(): Promise<void>;
}

/** Uses node:sqlite, as in the gateway. */
export async function openBenchMemory(): Promise<BenchMemory> {
  const folder = mkdtempSync(join(tmpdir(), "helmdeck-bench-recall-"));
  const memory = await openMemory({
    databasePath: join(folder, "memory.sqlite"),
    keyPath: join(folder, "memory.key"),
    env: {},
    driver: nodeSqliteDriver,
    sweepEveryMs: 0,
  });
  const source = recallOverStore(memory.store);
  const over = (tuning: Tuning) => createRecall({ source, now: memory.now, ...tuning });
  const uncut = over({ showsAll: true });
  const candidates = over(EVERY_CANDIDATE);
  return {
    memory,
    async fill(subject, lines) {
      const { refused } = await importLines({ memory, subject, input: bytesOf(lines) });
      const [first] = refused;
      if (first !== undefined)
        throw new Error(`Line ${first.line} of ${subject} was refused: ${first.reason}`);
      await memory.warm(subject);
      await uncut.warm(namespaceOf(subject));
      await candidates.warm(namespaceOf(subject));
    },
    shown: async (subject, query, limit) => (await memory.search(subject, { query, limit })).results,
    sure: async (subject, query, limit) =>
      (await memory.search(subject, { query, limit, recall: "quiet" })).results,
    candidates: async (subject, query, limit) =>
      (await candidates.search(namespaceOf(subject), { query, limit })).results,
    ranked: async (subject, query, limit) =>
      (await uncut.search(namespaceOf(subject), { query, limit })).results,
    explained: async (subject, query, limit) =>
      (await uncut.search(namespaceOf(subject), { query, limit, explain: true })).results,
    entries: (namespace) => readAll(source, namespace),
    async close() {
      uncut.close();
      candidates.close();
      await memory.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Keyword and semantic search over a filled memory: the same recall that the app composes. */
export interface HybridSearch {
  /** Indexes and embeds all entries of the subject. Throws if one of them cannot be embedded. */
  fill(subject: string): Promise<void>;
  search(subject: string, query: string, limit: number): Promise<readonly RecallHit[]>;
  /** The same with the parts of each score. */
  explained(subject: string, query: string, limit: number): Promise<readonly RecallHit[]>;
  /** Only sure hits. */
  sure(subject: string, query: string, limit: number): Promise<readonly RecallHit[]>;
  close(): void;
}

/** Longer than a user would wait, because a busy machine takes longer and gives the same answer. */
const PATIENCE_MS = 10 * 60_000;

/** The caller must close the embedder. */
export function openHybridSearch(
  store: MemoryStore,
  embedder: Embedder,
  tuning: Tuning = {},
  timer?: Timer,
): HybridSearch {
  const cache = vectorCacheOver(store);
  const semantic = createSemanticIndex({ embedder, cache, timer: backgroundTimer });
  const recall = createRecall({
    source: recallOverStore(store),
    now: Date.now,
    ...{ semantic, ...tuning },
    ...{ questionBudgetMs: PATIENCE_MS, patienceMs: PATIENCE_MS },
    ...(timer && { timer }),
  });
  const ask = async (subject: string, query: RecallQuery) => {
    const { mode, results, reason } = await recall.search(namespaceOf(subject), query);
    const isKnown = embedder.language === undefined || isEnglish(query.query);
    if (isKnown && mode !== "hybrid") throw new Error(`An answer by keywords alone: ${reason}`);
    return results;
  };
  return {
    async fill(subject) {
      const namespace = namespaceOf(subject);
      await recall.warm(namespace);
      await semantic.settled(namespace);
      const { embedded, total } = semantic.coverage(namespace);
      if (embedded < total) throw new Error(`Of ${total} entries of ${subject} ${embedded} were embedded.`);
    },
    search: (subject, query, limit) => ask(subject, { query, limit }),
    explained: (subject, query, limit) => ask(subject, { query, limit, explain: true }),
    sure: (subject, query, limit) => ask(subject, { query, limit, recall: "quiet" }),
    close() {
      recall.close();
      semantic.close();
    },
  };
}

async function* bytesOf(lines: readonly object[]): AsyncGenerator<Uint8Array> {
  for (const line of lines) yield Buffer.from(`${JSON.stringify(line)}\n`);
}

async function readAll(source: CorpusSource, namespace: Namespace): Promise<readonly CorpusEntry[]> {
  const entries: CorpusEntry[] = [];
  for (let since = 0, more = true; more; ) {
    const page = await source.changes(namespace, since, 1_000);
    if (page.kind === "start_over")
      throw new Error("A store that was just filled has nothing to start over.");
    entries.push(...page.upserts);
    ({ cursor: since, more } = page);
  }
  return entries;
}
