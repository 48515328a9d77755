/**
 * Memory as a library: the API of `import … from "helmdeck-memory"`.
 *
 * @module helmdeck-memory
 */
import { homedir } from "node:os";
import {
  betterSqliteDriver,
  type CorpusEntry,
  defined,
  entryIdOf,
  fingerprintOf,
  invalidField,
  namespaceOf,
  projectEntry,
  type UnixMs,
} from "../engine/index.ts";
import type { Memory } from "./memory.ts";
import { openMemory as openStoredMemory } from "./open-memory.ts";
import { findStorage } from "./storage-location.ts";

export {
  type CorpusChunk,
  type CorpusEntry,
  type EntryId,
  type Erasure,
  type ErrorCode,
  type Fingerprint,
  HelmdeckError,
  isHelmdeckError,
  type Namespace,
  type Newer,
  namespaceOf,
  type Origin,
  type ReferenceVectors,
  type StoreReport,
  type Subject,
  type UnixMs,
} from "../engine/index.ts";
export {
  type CorpusChanges,
  type CorpusSource,
  createRecall,
  type Recall,
  type RecallAnswer,
  type RecallHit,
  type RecallOptions,
  type RecallQuery,
} from "../recall/index.ts";
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
