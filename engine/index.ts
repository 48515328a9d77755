/** The engine's public surface: everything other rooms may use, by name. */
export {
  AUDIT_TTL_SECONDS,
  type AuditEntryTimes,
  type AuditRow,
  auditEntry,
  checkAuditRow,
  parseAuditEntry,
  requireUnixNs,
} from "./audit/entries.ts";
export { RunClock } from "./audit/keys.ts";
export { LEARNABLE_FIELDS, learnableInputs } from "./audit/learnable.ts";
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
  FORGET_SCOPES,
  type ForgetReadings,
  type ForgetScope,
  filterOf,
  parseForgetScope,
  settleScope,
} from "./facts/forget.ts";
export { harmlessBlock, harmlessLine } from "./facts/hostile-text.ts";
export { nearestKeys } from "./facts/near.ts";
export {
  type CheckedFact,
  checkCategory,
  checkKey,
  DEFAULT_CATEGORY,
  FACT_LIMITS,
  factEntry,
  isReservedCategory,
  keyToLookUp,
  RESERVED_CATEGORIES,
  validateFact,
} from "./facts/policy.ts";
export { asHelmdeckError } from "./failure.ts";
export { countByCaller, hasRoom, SharedPlaces, type ShareLimits } from "./fair-share.ts";
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
} from "./memory/contract.ts";
export { ENTRY_LIMITS } from "./memory/entry-rules.ts";
export { fingerprintOf } from "./memory/identity.ts";
export { createInMemoryStore, type InMemoryStoreOptions } from "./memory/in-memory-store.ts";
export { makeKeyFile, readKeyFile } from "./memory/key-file.ts";
export { findKey, type KeyPlaces, type LoadedKey, loadOrMakeKey } from "./memory/keys.ts";
export { MasterKey, parseKey } from "./memory/master-key.ts";
export { type Namespace, namespaceOf, type Subject, subjectOf, UNKNOWN_SUBJECT } from "./memory/namespace.ts";
export { betterSqliteDriver } from "./memory/sqlite/better-sqlite-driver.ts";
export type { SqliteDriver } from "./memory/sqlite/driver.ts";
export { nodeSqliteDriver } from "./memory/sqlite/node-sqlite-driver.ts";
export {
  openSqliteReader,
  openSqliteStore,
  openSqliteStoreToRead,
  requireOwnDatabase,
  type SqliteReaderOptions,
  type SqliteStoreOptions,
} from "./memory/sqlite/open.ts";
export type {
  ArtifactRef,
  ArtifactSink,
  ArtifactStore,
  NewArtifact,
  Pack,
  PackContext,
  PackEffects,
  PackEngine,
  PackInfo,
  PackMemory,
  PackMemoryContext,
  PackMemoryPolicy,
  PackNote,
  PackNoteMeta,
  PackNoteOptions,
  PackRequest,
  PackRun,
  ProcessOptions,
  ProcessResult,
  Session,
  SessionProvider,
  SessionRequest,
} from "./packs/contract.ts";
export { definePack, PACK_LIMITS } from "./packs/define.ts";
export { createPackEngine, type PackEngineOptions } from "./packs/engine.ts";
export {
  type LocalArtifacts,
  type LocalArtifactsOptions,
  openLocalArtifacts,
} from "./packs/local/artifacts.ts";
export { type LocalSessionsOptions, openLocalSessions } from "./packs/local/sessions.ts";
export type {
  Pipeline,
  PipelineInput,
  PipelineRequest,
  PipelineRun,
  PipelineRunner,
  PipelineState,
  PipelineStep,
  PipelineStepRun,
} from "./pipelines/contract.ts";
export { checkDefinition, type DefinitionProblem, PIPELINE_LIMITS } from "./pipelines/definition.ts";
export { createPipelineRunner, type PipelineRunnerOptions } from "./pipelines/runner.ts";
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
export { backgroundTimer, processTimer, type Timer } from "./timer.ts";
