/**
 * Memory as a library: the API of `import … from "helmdeck-memory"`.
 *
 * @module helmdeck-memory
 */
import { homedir } from "node:os";
import { defined } from "../engine/defined.ts";
import { invalidField } from "../engine/errors.ts";
import { projectEntry } from "../engine/projections/chunks.ts";
import type { CorpusEntry } from "../engine/projections/corpus.ts";
import { entryIdOf, fingerprintOf } from "../engine/store/entry-id.ts";
import type { UnixMs } from "../engine/store/memory-store.ts";
import { namespaceOf } from "../engine/store/namespace.ts";
import { betterSqliteDriver } from "../engine/store/sqlite/better-sqlite-driver.ts";
import type { Memory } from "./memory.ts";
import { openMemory as openStoredMemory } from "./open-memory.ts";
import { findStorage } from "./storage-location.ts";

export { type ErrorCode, HelmdeckError, isHelmdeckError } from "../engine/errors.ts";
export type { CorpusChunk, CorpusEntry } from "../engine/projections/corpus.ts";
export type {
  EndedMonth,
  EntryId,
  Erasure,
  Fingerprint,
  IndexSnapshots,
  Newer,
  Origin,
  ReferenceVectors,
  StoreReport,
  UnixMs,
} from "../engine/store/memory-store.ts";
export { type Namespace, namespaceOf, type Subject } from "../engine/store/namespace.ts";
export { createRecall, type RecallOptions } from "../recall/recall.ts";
export type {
  CorpusChanges,
  CorpusSource,
  Recall,
  RecallAnswer,
  RecallHit,
  RecallQuery,
} from "../recall/search-contract.ts";
export type {
  FactInput,
  FactsPage,
  FactsQuery,
  FactView,
  ForgetInput,
  Forgotten,
  Memory,
  RenewInput,
  SearchAnswer,
  StoredFact,
} from "./memory.ts";

/** The location of a memory, and its key. */
export interface MemoryOptions {
  /** Default: the database that the OpenClaw plugin uses in this environment. */
  readonly databasePath?: string;
  /** Default: the key file that belongs to that database. It is created when there is neither a key nor a database. */
  readonly keyPath?: string;
  /** 64 hexadecimal digits, instead of a key file. */
  readonly key?: string;
  /** For HELMDECK_… settings and OpenClaw's folder. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Opens a memory in this process. Close it when you are done. Throws a HelmdeckError with a `key_…` or `store_…` code. */
export async function openMemory(options: MemoryOptions = {}): Promise<Memory> {
  const { databasePath, keyPath, key, env = process.env } = options;
  const location = findStorage({ env, homeDir: homedir(), ...defined({ databasePath, keyPath }) });
  return openStoredMemory({
    ...location,
    env,
    driver: betterSqliteDriver,
    ...defined({ configuredKey: key }),
  });
}

/** Your own text for recall. */
export interface SourceDocument {
  /** Unique in its category. Its words are searchable. */
  readonly key: string;
  readonly text: string;
  /** Default: `user_facts`. */
  readonly category?: string;
  readonly updatedAt: UnixMs;
}

/** Creates an entry of a {@link CorpusSource} from a text. Its id follows from category and key. */
export function entryOf({ key, text, category = "user_facts", updatedAt }: SourceDocument): CorpusEntry {
  const value = Buffer.from(text);
  const projected = projectEntry({
    id: entryIdOf(`${category}/${key}`),
    namespace: namespaceOf("source"),
    origin: "fact",
    key,
    value,
    category,
    tags: [],
    createdAt: updatedAt,
    updatedAt,
    fingerprint: fingerprintOf(value),
  });
  if (projected.kind !== "chunk")
    throw invalidField("category", `${category} is reserved for records of runs`);
  return projected.entry;
}
