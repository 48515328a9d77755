/** The vector searches that are compared, each over the vectors of the same facts. */
import { DatabaseSync } from "node:sqlite";
import { recallOverStore } from "../../app/corpus-pages.ts";
import type { CorpusEntry } from "../../engine/projections/corpus.ts";
import type { EntryId } from "../../engine/store/memory-store.ts";
import { createRecall } from "../../recall/recall.ts";
import { textsOf } from "../../recall/vectors/semantic-index.ts";
import { NAMESPACE, openVectors, pagesOf } from "./filled.ts";
import { DIMENSIONS, dot, madeEmbedder, madeVector } from "./made-vectors.ts";

interface StartedSystem {
  /** Keys of the nearest entries to the given vector, best first. */
  readonly nearest: (question: Float32Array, limit: number) => readonly string[];
  /** Keyword and semantic search together, if the system has both. Returns the number of hits. */
  readonly hybrid?: (question: string) => Promise<number>;
  /** From the start of the process until a question was answered, and until everything was loaded. */
  readonly firstAnswerMs?: number;
  readonly completeMs?: number;
  readonly close: () => Promise<void>;
}

const FIRST_QUESTION = "When is the dashboard reviewed?";
const HITS = 10;

/** `extension` is the path of sqlite-vec. */
type Start = (folder: string, extension: string) => Promise<StartedSystem>;

export const SYSTEMS: Readonly<Record<string, Start>> = {
  ours: startOurs,
  exact: startExact,
  "sqlite-vec": startSqliteVec,
};

/** Starts like the plugin's worker: key, store, indexes, vectors from the sealed cache. */
async function startOurs(folder: string): Promise<StartedSystem> {
  const { store, semantic } = await openVectors(folder);
  const source = recallOverStore(store);
  const recall = createRecall({ source, now: Date.now, semantic });
  const ask = (query: string) => recall.search(NAMESPACE, { query, limit: HITS });
  await ask(FIRST_QUESTION);
  const firstAnswerMs = performance.now();
  await recall.warm(NAMESPACE);
  await semantic.settled(NAMESPACE);
  const completeMs = performance.now();
  const keys = new Map<EntryId, string>();
  for await (const page of pagesOf(source)) for (const { id, key } of page) keys.set(id, key);
  const { mode } = await ask(FIRST_QUESTION);
  if (mode !== "hybrid") throw new Error("Vectors are there and the answer is by keywords alone.");
  let compared: Promise<unknown> | undefined;
  return {
    nearest: (vector, limit) =>
      semantic
        .search(NAMESPACE, { space: madeEmbedder.space, vector }, limit)
        .map(({ id }) => keys.get(id) ?? ""),
    hybrid: async (question) => {
      // Until all facts are compared with each other, in the first seconds, each search compares its own hits.
      compared ??= recall.related(NAMESPACE);
      await compared;
      return (await ask(question)).results.length;
    },
    firstAnswerMs,
    completeMs,
    async close() {
      recall.close();
      semantic.close();
      await store.close();
    },
  };
}

/** Compares every vector in plain TypeScript, in one array of numbers. It is the simplest system, and misses nothing. */
async function startExact(folder: string): Promise<StartedSystem> {
  const entries = await entriesOf(folder);
  const vectors = entries.map(vectorOf);
  return {
    nearest(question, limit) {
      const near = vectors.map((vector, place) => ({ place, similarity: dot(question, vector) }));
      near.sort((left, right) => right.similarity - left.similarity);
      return near.slice(0, limit).map(({ place }) => entries[place]?.key ?? "");
    },
    close: async () => {},
  };
}

async function startSqliteVec(folder: string, extension: string): Promise<StartedSystem> {
  const entries = await entriesOf(folder);
  const database = new DatabaseSync(":memory:", { allowExtension: true });
  database.loadExtension(extension);
  database.exec(`create virtual table near using vec0(vector float[${DIMENSIONS}])`);
  const insert = database.prepare("insert into near (rowid, vector) values (?, ?)");
  database.exec("begin");
  for (const [place, entry] of entries.entries()) insert.run(BigInt(place), bytesOf(vectorOf(entry)));
  database.exec("commit");
  const select = database.prepare("select rowid from near where vector match ? and k = ? order by distance");
  return {
    nearest: (question, limit) =>
      select.all(bytesOf(question), limit).map(({ rowid }) => entries[Number(rowid)]?.key ?? ""),
    close: async () => database.close(),
  };
}

/** Only key and text, because the other systems need no more. */
async function entriesOf(folder: string): Promise<readonly CorpusEntry[]> {
  const { store, semantic } = await openVectors(folder);
  semantic.close();
  const entries: CorpusEntry[] = [];
  for await (const page of pagesOf(recallOverStore(store))) entries.push(...page);
  await store.close();
  return entries;
}

/** Generated facts are short, so each is one passage. */
function vectorOf(entry: CorpusEntry): Float32Array {
  const [text = "", ...more] = textsOf(entry);
  if (more.length > 0) throw new Error("A made fact is one passage.");
  return madeVector(text);
}

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}
