/** The search systems that are compared. Each is filled with the same facts and returns ten hits. */
import { DatabaseSync } from "node:sqlite";
import MiniSearch from "minisearch";
import { projectEntry } from "../../engine/projections/chunks.ts";
import type { CorpusEntry } from "../../engine/projections/corpus.ts";
import type { Entry, EntryId, Fingerprint } from "../../engine/store/memory-store.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { createRecall } from "../../recall/recall.ts";
import type { CorpusSource } from "../../recall/search-contract.ts";
import { anyWordOf } from "../recall/fts5.ts";
import { type MadeFact, madeFact } from "./made-facts.ts";

export interface BuiltSystem {
  /** Returns the number of hits. */
  readonly search: (query: string) => number | Promise<number>;
  /** Whether the build pauses for other work. */
  readonly inSlices: boolean;
}

const HITS = 10;

export const SYSTEMS: Readonly<Record<string, (entries: number) => BuiltSystem | Promise<BuiltSystem>>> = {
  ours: buildOurs,
  minisearch: buildMiniSearch,
  fts5: buildFts5,
};

/** The index of the plugin's worker, without a store: facts are generated when the index asks for them. */
async function buildOurs(entries: number): Promise<BuiltSystem> {
  const namespace = namespaceOf("bench");
  const now = () => Date.UTC(2028, 0, 1);
  const recall = createRecall({ source: sourceOf(entries), now });
  await recall.warm(namespace);
  await recall.related(namespace);
  const search = async (query: string) =>
    (await recall.search(namespace, { query, limit: HITS })).results.length;
  return { search, inSlices: true };
}

function sourceOf(entries: number): CorpusSource {
  return {
    async changes(namespace, since, limit) {
      const cursor = Math.min(entries, since + limit);
      const upserts = madeEntries(since, cursor - since, namespace);
      return { kind: "changes", upserts, removed: [], cursor, more: cursor < entries };
    },
  };
}

/** Documents of made facts, from this number on. */
export function madeEntries(
  first: number,
  count: number,
  namespace: Entry["namespace"],
): readonly CorpusEntry[] {
  return Array.from({ length: count }, (_, place) => {
    const projection = projectEntry(entryOf(madeFact(first + place), first + place, namespace));
    if (projection.kind !== "chunk") throw new Error("A made fact belongs to the corpus.");
    return projection.entry;
  });
}

function entryOf(fact: MadeFact, number: number, namespace: Entry["namespace"]): Omit<Entry, "revision"> {
  return {
    namespace,
    origin: "fact",
    id: `mem_${number.toString(16).padStart(32, "0")}` as EntryId, // in the form of a store's ids
    key: fact.key,
    value: Buffer.from(fact.value),
    category: fact.category,
    tags: fact.tags,
    createdAt: fact.createdAt,
    updatedAt: fact.createdAt,
    fingerprint: "0".repeat(16) as Fingerprint, // not read here
  };
}

function buildMiniSearch(entries: number): BuiltSystem {
  const index = new MiniSearch({
    fields: ["key", "value", "category", "tags"],
    storeFields: ["key", "value"],
  });
  for (let number = 0; number < entries; number += 1) {
    const fact = madeFact(number);
    index.add({ id: number, ...fact, tags: fact.tags.join(" ") });
  }
  return { search: (query) => index.search(query).slice(0, HITS).length, inSlices: false };
}

function buildFts5(entries: number): BuiltSystem {
  const database = new DatabaseSync(":memory:");
  database.exec(
    "create virtual table facts using fts5(key, value, category, tags, tokenize = 'porter unicode61')",
  );
  const insert = database.prepare("insert into facts values (?, ?, ?, ?)");
  database.exec("begin");
  for (let number = 0; number < entries; number += 1) {
    const { key, value, category, tags } = madeFact(number);
    insert.run(key, value, category, tags.join(" "));
  }
  database.exec("commit");
  const select = database.prepare(
    `select key, value from facts where facts match ? order by bm25(facts) limit ${HITS}`,
  );
  return { search: (query) => select.all(anyWordOf(query)).length, inSlices: false };
}
