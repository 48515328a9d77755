/** A database of generated facts and their vectors, stored by the product itself. */
import { join } from "node:path";
import { recallOverStore } from "../../app/corpus-source.ts";
import { importLines, nodeSqliteDriver, openMemory } from "../../app/index.ts";
import { vectorCacheOver } from "../../app/vector-cache.ts";
import {
  backgroundTimer,
  type CorpusEntry,
  loadOrMakeKey,
  type MemoryStore,
  namespaceOf,
  openSqliteStore,
} from "../../engine/index.ts";
import { type CorpusSource, createSemanticIndex, type SemanticIndex } from "../../recall/index.ts";
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
