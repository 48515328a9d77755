/** The engine's public API. */

export {
  AUDIT_TTL_SECONDS,
  type AuditRow,
  auditEntry,
  checkAuditRow,
  nameOfRun,
  parseAuditEntry,
  requireUnixNs,
} from "./audit/audit-entries.ts";
export { AUDIT_CATEGORIES, isAuditCategory, RunClock } from "./audit/audit-keys.ts";
export type { PackAudit, PipelineAudit, ToolAudit } from "./audit/audit-rows.ts";
export { AUDIT_LIMITS } from "./audit/check-audit-row.ts";
export { findingsOf } from "./audit/findings.ts";
export { LEARNABLE_FIELDS, learnableInputs } from "./audit/learnable.ts";
export * from "./basics.ts";
export { compareText } from "./compare-text.ts";
export {
  CATEGORY,
  type CheckedFact,
  checkCategory,
  checkSupersedes,
  checkTags,
  checkTtl,
  DEFAULT_CATEGORY,
  FACT_LIMITS,
  factEntry,
  isCategory,
  isReservedCategory,
  keyToLookUp,
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
  isWideScope,
  parseForgetScope,
  settleScope,
} from "./facts/forget-scope.ts";
export { importsOf, importTag, isImportTag } from "./facts/import-tag.ts";
export { KeyLooks } from "./facts/key-looks.ts";
export { nearestKeys } from "./facts/near.ts";
export { EXPIRING_WITHIN_MS, endOfStore, renewalByHand, renewalByUse } from "./facts/renewal.ts";
export { kindOfSecret, refuseSecrets } from "./facts/secrets.ts";
export { countByCaller, hasRoom, SharedPlaces, type ShareLimits, shareOf } from "./fair-share.ts";
export { isKnownTime, placeholderTime } from "./known-time.ts";
export { pagesOf } from "./pages-of.ts";
export { projectEntry } from "./projections/chunks.ts";
export {
  type CorpusChunk,
  type CorpusEntry,
  DOCUMENT_KINDS,
  type DocumentKind,
} from "./projections/corpus.ts";
export { type ExpiringFacts, expiringFacts } from "./projections/expiring.ts";
export {
  cutText,
  type Framed,
  frameOf,
  nameOf,
  quotedKey,
  quotedText,
  writerText,
} from "./projections/frame.ts";
export {
  DEFAULTS_LIMITS,
  defaultsOf,
  type LearntFromRuns,
  learnDefaults,
  type RecordedRun,
} from "./projections/my-defaults.ts";
export {
  MY_MEMORY_TITLE,
  myMemoryDocument,
  summariseMemory,
} from "./projections/my-memory.ts";
export { entriesNamedBy, withoutCitation } from "./projections/naming.ts";
export {
  citedPath,
  docidOf,
  isMyMemoryPath,
  MY_MEMORY_PATH,
  originOfCategory,
  parseDocid,
  parsePath,
  pathOf,
} from "./projections/paths.ts";
export { rfc3339 } from "./rfc3339.ts";
export { keepsExisting, requireRevision } from "./rules/conditions.ts";
export { HISTORY_LIMITS, isCovered, mayCoverFormer, undoOf } from "./rules/history.ts";
export { DEFAULT_QUOTA, type Quota } from "./rules/quota.ts";
export { fieldOf, ruleOf } from "./schema-issues.ts";
export type { BackupHeader } from "./store/backup/backup-header.ts";
export { type OnBytes, openSealedFile, readBackupHeader, sealFile } from "./store/backup/sealed-file.ts";
export { decodeListCursor, encodeListCursor, seqOfCursor } from "./store/cursors.ts";
export { entryIdOf, fingerprintOf } from "./store/entry-id.ts";
export { ENTRY_LIMITS } from "./store/entry-rules.ts";
export { findKey, type KeyPlaces, type LoadedKey, loadOrMakeKey, nameOfKeySource } from "./store/find-key.ts";
export { createInMemoryStore } from "./store/in-memory-store.ts";
export type { KeyChangingStore } from "./store/key-change.ts";
export type { RunCommand } from "./store/key-command.ts";
export { makeKeyFile, readKeyFile, requireKeyFile } from "./store/key-file.ts";
export { KeyRing, keyIdOf } from "./store/key-ring.ts";
export { MasterKey, parseKey } from "./store/master-key.ts";
export {
  type Changes,
  type ChangesQuery,
  type DecideRenewal,
  type Entry,
  type EntryFilter,
  type EntryId,
  type EntryMeta,
  type EntryRef,
  type EntryVectors,
  type Erasure,
  type FillIn,
  type Fingerprint,
  type FormerKey,
  type FormerKeysPage,
  type FormerKeysQuery,
  type FormerValue,
  type InspectOptions,
  type KeysSince,
  type ListQuery,
  type MemoryReader,
  type MemoryStore,
  type NewEntry,
  type Newer,
  ORIGINS,
  type Origin,
  type PutManyOptions,
  type PutOptions,
  type PutResult,
  type ReferenceVectors,
  type RenewOptions,
  type StoreCapabilities,
  type StoreFacts,
  type StoreIdentity,
  type StoreReport,
  type Undone,
  type UndoOptions,
  type UnixMs,
  type VectorStore,
  type VectorsQuery,
} from "./store/memory-store.ts";
export { type Namespace, namespaceOf, type Subject, subjectOf, UNKNOWN_SUBJECT } from "./store/namespace.ts";
export {
  foreignOwner,
  isFileError,
  makePrivateFolder,
  placeOnce,
  syncFolder,
  unlessMissing,
} from "./store/private-file.ts";
export type { ResealProgress } from "./store/reseal-options.ts";
export { betterSqliteDriver } from "./store/sqlite/better-sqlite-driver.ts";
export { copyDatabase, setGeneration, whileAlone } from "./store/sqlite/copy-database.ts";
export { nodeSqliteDriver } from "./store/sqlite/node-sqlite-driver.ts";
export {
  compactDatabase,
  openSqliteReader,
  openSqliteStore,
  openSqliteStoreToChangeKey,
  openSqliteStoreToRead,
  requireOwnDatabase,
  type SqliteStoreOptions,
} from "./store/sqlite/open-sqlite.ts";
export {
  repairDatabase,
  type UnreadableRow,
  type Verified,
  type VerifyOptions,
  verifyDatabase,
} from "./store/sqlite/repair.ts";
export type { SqliteConnection, SqliteDriver, SqliteRow } from "./store/sqlite/sqlite-driver.ts";
export { readStoreFacts } from "./store/sqlite/store-facts.ts";
export type { Writer } from "./store/writer.ts";
