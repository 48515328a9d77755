/** Corpora for recall tests: entries in the engine's projection, and a source that tests can write to and break. */

import { projectEntry } from "../../engine/projections/chunks.ts";
import type { CorpusEntry } from "../../engine/projections/corpus.ts";
import type { Entry, EntryId, Fingerprint } from "../../engine/store/memory-store.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import type { Writer } from "../../engine/store/writer.ts";
import { createRecall, type RecallOptions } from "../../recall/recall.ts";
import type { CorpusChanges, CorpusSource, RecallHit } from "../../recall/search-contract.ts";

export const OWNER = namespaceOf("tester");
export const NOW = Date.UTC(2026, 5, 15, 12);

export interface FactSketch {
  readonly key: string;
  readonly value: string;
  readonly category?: string;
  readonly tags?: readonly string[];
  readonly createdAt?: number;
  readonly updatedAt?: number;
  readonly expiresAt?: number;
  readonly writer?: Writer;
  readonly conversationId?: string;
}

/** The id only depends on the key, so the same key always gives the same entry. */
export function idOf(key: string): EntryId {
  const hex = Buffer.from(key).toString("hex").padEnd(32, "0");
  return `mem_${hex.slice(0, 16)}${hex.slice(-16)}` as EntryId; // the form of a store's ids
}

export function corpusEntry(sketch: FactSketch): CorpusEntry {
  const { key, value, category = "user_facts", tags = [], createdAt = NOW - 86_400_000, expiresAt } = sketch;
  const entry: Omit<Entry, "revision"> = {
    ...{ namespace: OWNER, origin: "fact", id: idOf(key), key, category, tags, createdAt },
    value: Buffer.from(value),
    updatedAt: sketch.updatedAt ?? createdAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(sketch.writer && { writer: sketch.writer }),
    ...(sketch.conversationId && { conversationId: sketch.conversationId }),
    fingerprint: "0".repeat(16) as Fingerprint, // recall ignores it
  };
  const projection = projectEntry(entry);
  if (projection.kind !== "chunk") throw new Error(`Not a corpus entry: ${key}`);
  return projection.entry;
}

/** Facts in memory with a change log, as a store keeps it. */
export class WritableSource implements CorpusSource {
  /** The number of rows returned, and the number of calls. */
  rowsRead = 0;
  calls = 0;
  /** If set, the next calls wait for it: all of them, or those after the first page. */
  gate: Promise<void> | undefined;
  gatesFirstPage = true;
  /** If set, calls fail with it. */
  failure: Error | undefined;
  #log: { readonly id: EntryId; readonly entry?: CorpusEntry }[] = [];
  #exchangedAt = 0;

  constructor(facts: readonly FactSketch[] = []) {
    for (const fact of facts) this.put(fact);
  }

  put(sketch: FactSketch): void {
    const entry = corpusEntry(sketch);
    this.#log.push({ id: entry.id, entry });
  }

  remove(key: string): void {
    this.#log.push({ id: idOf(key) });
  }

  /** Drops the change history, so that every reader must start over. */
  exchange(facts: readonly FactSketch[]): void {
    const offset = this.#log.length;
    this.#log = Array.from({ length: offset }, () => ({ id: idOf("nothing") }));
    this.#exchangedAt = offset;
    for (const fact of facts) this.put(fact);
  }

  /** Drops all entries from this process's memory, like a store that keeps them in a file. */
  empty(): void {
    this.#log = [];
  }

  /** Fixes the answer at the time of the call, like a database snapshot, even if the answer arrives later. */
  async changes(_namespace: unknown, since: number, limit: number): Promise<CorpusChanges> {
    this.calls += 1;
    const { gate, failure } = this;
    const answer = this.#read(since, limit);
    if (gate !== undefined && (this.gatesFirstPage || since > 0)) await gate;
    if (failure !== undefined) throw failure;
    return answer;
  }

  #read(since: number, limit: number): CorpusChanges {
    if (since > 0 && since <= this.#exchangedAt) return { kind: "start_over" };
    const page = this.#log.slice(since, since + limit);
    this.rowsRead += page.length;
    const last = new Map(page.map((change) => [change.id, change]));
    return {
      kind: "changes",
      upserts: [...last.values()].flatMap(({ entry }) => entry ?? []),
      removed: [...last.values()].flatMap(({ id, entry }) => (entry === undefined ? [id] : [])),
      cursor: since + page.length,
      more: since + page.length < this.#log.length,
    };
  }
}

export function recallOf(source: CorpusSource, options: Partial<RecallOptions> = {}) {
  return createRecall({ source, now: () => NOW, ...options });
}

/** The sure hits of one query over these facts. */
export async function hitsOf(
  facts: readonly FactSketch[],
  query: string,
  limit = 10,
): Promise<readonly RecallHit[]> {
  return (await shownOf(facts, query, limit)).filter(({ possible }) => possible === undefined);
}

/** All hits of one query over these facts, including possible hits. */
export async function shownOf(
  facts: readonly FactSketch[],
  query: string,
  limit = 10,
): Promise<readonly RecallHit[]> {
  return (await recallOf(new WritableSource(facts)).search(OWNER, { query, limit })).results;
}

export async function keysOf(facts: readonly FactSketch[], query: string): Promise<readonly string[]> {
  return (await hitsOf(facts, query)).map(({ key }) => key);
}

export function repeated(texts: readonly string[]): readonly string[] {
  return texts.filter((text, place) => texts.indexOf(text) !== place);
}

/** Words for any text, some of them hard to take apart. */
export const SOME_WORDS = "copper lamp deploying deployed Zürich 会议室 v1.2.3 a/b-c the 12 is".split(" ");
