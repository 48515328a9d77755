/** A database of generated facts and their vectors, stored by the product itself. */
import { join } from "node:path";
import { recallOverStore } from "../../app/corpus-pages.ts";
import { vectorCacheOver } from "../../app/embedding/open-embeddings.ts";
import { openMemory } from "../../app/open-memory.ts";
import type { CorpusEntry } from "../../engine/projections/corpus.ts";
import { loadOrMakeKey } from "../../engine/store/find-key.ts";
import type { MemoryStore } from "../../engine/store/memory-store.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { nodeSqliteDriver } from "../../engine/store/sqlite/node-sqlite-driver.ts";
import { openSqliteStore } from "../../engine/store/sqlite/open-sqlite.ts";
import { backgroundTimer } from "../../engine/timing.ts";
import type { CorpusSource } from "../../recall/search-contract.ts";
import type { SemanticIndex } from "../../recall/vectors/semantic-contract.ts";
import { createSemanticIndex } from "../../recall/vectors/semantic-index.ts";
import { importLines } from "../../test/transfer/import-lines.ts";
import { madeFact } from "../search/made-facts.ts";
import { madeEmbedder } from "./made-vectors.ts";

const SUBJECT = "bench";
export const NAMESPACE = namespaceOf(SUBJECT);

/** Writes the facts, then embeds them with the product's own code. */
export async function fillWithVectors(folder: string, entries: number): Promise<void> {
  await importFacts(folder, entries);
  const { store, semantic } = await openVectors(folder);
  const follower = semantic.follow(NAMESPACE);
  for await (const page of pagesOf(recallOverStore(store))) follower.changed(page, []);
  follower.caughtUp();
  await semantic.settled(NAMESPACE);
  const { embedded } = semantic.coverage(NAMESPACE);
  semantic.close();
  await store.close();
  if (embedded !== entries) throw new Error(`Only ${embedded} of ${entries} entries were embedded.`);
}

async function importFacts(folder: string, entries: number): Promise<void> {
  const places = placesIn(folder);
  const memory = await openMemory({ ...places, env: {}, driver: nodeSqliteDriver, sweepEveryMs: 0 });
  const { refused } = await importLines({ memory, subject: SUBJECT, input: linesOf(entries) });
  await memory.close();
  if (refused.length > 0) throw new Error(`${refused.length} made facts were refused.`);
}

async function* linesOf(entries: number): AsyncGenerator<Uint8Array> {
  for (let number = 0; number < entries; number += 1) {
    const { key, value, category, tags } = madeFact(number);
    yield Buffer.from(`${JSON.stringify({ key, value, category, tags })}\n`);
  }
}

export interface OpenVectors {
  readonly store: MemoryStore;
  readonly semantic: SemanticIndex;
}

/** Uses node:sqlite, as in the gateway. */
export async function openVectors(folder: string): Promise<OpenVectors> {
  const { databasePath, keyPath } = placesIn(folder);
  const { key } = await loadOrMakeKey({ databasePath, keyPath, env: {} });
  const store = await openSqliteStore({ path: databasePath, key, driver: nodeSqliteDriver, now: Date.now });
  const cache = vectorCacheOver(store);
  return { store, semantic: createSemanticIndex({ embedder: madeEmbedder, cache, timer: backgroundTimer }) };
}

export async function* pagesOf(source: CorpusSource): AsyncGenerator<readonly CorpusEntry[]> {
  for (let since = 0, more = true; more; ) {
    const page = await source.changes(NAMESPACE, since, 250);
    if (page.kind === "start_over")
      throw new Error("A store that was just filled has nothing to start over.");
    yield page.upserts;
    ({ cursor: since, more } = page);
  }
}

function placesIn(folder: string): { readonly databasePath: string; readonly keyPath: string } {
  return { databasePath: join(folder, "memory.sqlite"), keyPath: join(folder, "memory.key") };
}
