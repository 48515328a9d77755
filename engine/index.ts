/** The engine's public surface: everything other modules may use, by name. */

export { asHelmdeckError } from "./as-helmdeck-error.ts";
export {
  AUDIT_TTL_SECONDS,
  type AuditEntryTimes,
  type AuditRow,
  auditEntry,
  checkAuditRow,
  parseAuditEntry,
  requireUnixNs,
} from "./audit/audit-entries.ts";
export { RunClock } from "./audit/audit-keys.ts";
export type { AuditFinding, PackAudit, PipelineAudit } from "./audit/audit-rows.ts";
export { findingsOf } from "./audit/check-audit-row.ts";
export { LEARNABLE_FIELDS, learnableInputs } from "./audit/learnable.ts";
export { defined } from "./defined.ts";
export {
  ERROR_CODES,
  type ErrorCode,
  type ErrorDetails,
  HelmdeckError,
  type HelmdeckErrorOptions,
  isHelmdeckError,
} from "./errors.ts";
export {
  type CheckedFact,
  checkCategory,
  checkKey,
  checkTags,
  DEFAULT_CATEGORY,
  FACT_LIMITS,
  factEntry,
  isReservedCategory,
  keyToLookUp,
  RESERVED_CATEGORIES,
  refuse,
  refuseHostile,
  refuseLong,
  textOf,
  validateFact,
} from "./facts/facts-policy.ts";
export {
  FORGET_SCOPES,
  type ForgetReadings,
  type ForgetScope,
  filterOf,
  parseForgetScope,
  settleScope,
} from "./facts/forget-scope.ts";
export { harmlessBlock, harmlessLine, problemOfName } from "./facts/hostile-text.ts";
export { nearestKeys } from "./facts/near.ts";
export { countByCaller, hasRoom, SharedPlaces, type ShareLimits, shareOf } from "./fair-share.ts";
export { type Projection, projectEntry } from "./projections/chunks.ts";
export type { CorpusChunk, CorpusEntry } from "./projections/corpus.ts";
export {
  type CommonFinding,
  DEFAULTS_LIMITS,
  defaultsOf,
  type LearntDefaults,
  type LearntFromRuns,
  learnDefaults,
  type RecentRun,
  type RecordedRun,
} from "./projections/my-defaults.ts";
export {
  type CategorySummary,
  MY_MEMORY_TITLE,
  myMemoryDocument,
  RECENT_KEYS,
  summariseMemory,
} from "./projections/my-memory.ts";
export { type EntryName, entriesNamedBy, withoutCitation } from "./projections/naming.ts";
export {
  type CorpusPlace,
  citedPath,
  docidOf,
  isMyMemoryPath,
  MY_MEMORY_PATH,
  originOfCategory,
  PATH_PREFIX,
  parseDocid,
  parsePath,
  pathOf,
} from "./projections/paths.ts";
export { fieldOf, ruleOf } from "./schema-issues.ts";
export { fingerprintOf } from "./store/entry-id.ts";
export { ENTRY_LIMITS } from "./store/entry-rules.ts";
export { findKey, type KeyPlaces, type LoadedKey, loadOrMakeKey } from "./store/find-key.ts";
export { createInMemoryStore, type InMemoryStoreOptions } from "./store/in-memory-store.ts";
export { makeKeyFile, readKeyFile } from "./store/key-file.ts";
export { MasterKey, parseKey } from "./store/master-key.ts";
export {
  type CategoryCount,
  type Changes,
  type ChangesQuery,
  type Entry,
  type EntryFilter,
  type EntryId,
  type EntryMeta,
  type EntryPage,
  type EntryRef,
  type EntryVectors,
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
  type ReferenceVectors,
  type StoreCapabilities,
  type StoreReport,
  type UnixMs,
  type UnreadableEntry,
  type VectorStore,
  type VectorsQuery,
} from "./store/memory-store.ts";
export { type Namespace, namespaceOf, type Subject, subjectOf, UNKNOWN_SUBJECT } from "./store/namespace.ts";
export { isFileError, makePrivateFolder, placeOnce } from "./store/private-file.ts";
export { betterSqliteDriver } from "./store/sqlite/better-sqlite-driver.ts";
export { nodeSqliteDriver } from "./store/sqlite/node-sqlite-driver.ts";
export {
  openSqliteReader,
  openSqliteStore,
  openSqliteStoreToRead,
  requireOwnDatabase,
  type SqliteReaderOptions,
  type SqliteStoreOptions,
} from "./store/sqlite/open-sqlite.ts";
export type { SqliteDriver } from "./store/sqlite/sqlite-driver.ts";
export { backgroundTimer, processTimer, type Timer } from "./timer.ts";
