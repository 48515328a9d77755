/** The engine's public surface: everything other rooms may use, by name. */
export type { AuditFinding, PackAudit, PipelineAudit } from "./audit/rows.ts";
export {
  ERROR_CODES,
  type ErrorCode,
  type ErrorDetails,
  HelmdeckError,
  type HelmdeckErrorOptions,
  isHelmdeckError,
} from "./errors.ts";
export {
  type Changes,
  type ChangesQuery,
  type Entry,
  type EntryFilter,
  type EntryId,
  type EntryMeta,
  type EntryPage,
  type EntryRef,
  type Erasure,
  type Fingerprint,
  type ListQuery,
  type MemoryReader,
  type MemoryStore,
  type MetaPage,
  type NamespaceCount,
  type NewEntry,
  ORIGINS,
  type Origin,
  type PutResult,
  type StoreCapabilities,
  type StoreReport,
  type UnixMs,
  type UnreadableEntry,
} from "./memory/contract.ts";
export { ENTRY_LIMITS } from "./memory/entry-rules.ts";
export { createInMemoryStore, type InMemoryStoreOptions } from "./memory/in-memory-store.ts";
export { type Namespace, namespaceOf, type Subject, UNKNOWN_SUBJECT } from "./memory/namespace.ts";
export type { CorpusChunk, CorpusEntry } from "./projections/corpus.ts";
