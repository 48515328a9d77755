/** The app's public API: the use cases that every surface calls. */

export type { PackAudit, ToolAudit, Writer } from "../engine/index.ts";
export {
  betterSqliteDriver,
  countByCaller,
  cutText,
  DEFAULT_CATEGORY,
  DOCUMENT_KINDS,
  type Framed,
  fieldOf,
  frameOf,
  hasRoom,
  type InspectOptions,
  importsOf,
  isAuditCategory,
  isCategory,
  isImportTag,
  isKnownTime,
  learnableInputs,
  nameOf,
  nodeSqliteDriver,
  originOfCategory,
  pagesOf,
  parseForgetScope,
  quotedKey,
  quotedText,
  rfc3339,
  ruleOf,
  SharedPlaces,
  type ShareLimits,
  syncFolder,
  UNKNOWN_SUBJECT,
  writerText,
} from "../engine/index.ts";
export type {
  RecallAnswer,
  RecallHit,
  RecallQuery,
} from "../recall/index.ts";
export * from "./basics.ts";
export type { CommandMemory, OpenMemory } from "./compose.ts";
export { requireServerKey } from "./database-server/server-key.ts";
export { embedStoredEntries } from "./embedding/embed-stored-entries.ts";
export { namesEmbeddings } from "./embedding/embedding-environment.ts";
export {
  type EmbeddingSettings,
  embeddingSettingsOf,
  NO_EMBEDDINGS,
  unusable,
  withApiKey,
} from "./embedding/embedding-settings.ts";
export type { EmbedReport, EmbedRequest } from "./embedding/on-request.ts";
export { isWideForget } from "./forgetting.ts";
export { compactMemory } from "./health/compact-memory.ts";
export { remedyFor } from "./health/remedies.ts";
export { repairMemory, type VerifyHooks, verifyMemory } from "./health/repair-memory.ts";
export { type BackedUp, type BackUpPlan, backUp, planBackUp } from "./keys/back-up.ts";
export { confirmKeySaved } from "./keys/confirm-key-saved.ts";
export { planRestore, type Restored, type RestorePlan, restore } from "./keys/restore.ts";
export {
  finishRotation,
  planRotation,
  type RotateKeyOptions,
  type Rotation,
  type RotationPlan,
  rotateKey,
} from "./keys/rotate-key.ts";
export type {
  CallerCount,
  CorpusAnswer,
  CorpusQuery,
  DayCount,
  DoctorReport,
  DocumentQuery,
  DocumentSlice,
  EngineStatus,
  FactCheck,
  FactHistory,
  FactInput,
  FactsPage,
  FactsQuery,
  FactView,
  Finding,
  ForgetInput,
  Forgotten,
  FormerView,
  Growth,
  KnownImport,
  Memory,
  MemoryStatus,
  MyDefaults,
  MyMemory,
  RenewInput,
  RunKind,
  RunsPage,
  RunsQuery,
  RunView,
  SearchAnswer,
  SimilarFact,
  StoredCounts,
  StoredFact,
  UndoneFact,
} from "./memory.ts";
export { memoryFrom, type UseCase } from "./memory.ts";
export type { MemoryState } from "./memory-state.ts";
export { examineMemory, openMemory, unopenedStatus } from "./open-memory.ts";
export type { OpenMemoryOptions } from "./open-memory-options.ts";
export { OPERATIONS, operationOf, perform } from "./operations/index.ts";
export type { Operation, Rest } from "./operations/operation.ts";
export { doctorText } from "./presenters/doctor-text.ts";
export {
  entries,
  forgetNotes,
  forgetPreview,
  goesBack,
  importCounts,
  lineOf,
  newerText,
  similarKeysText,
} from "./presenters/forget-texts.ts";
export { historyText, noFact, noHistory, undoText } from "./presenters/history-text.ts";
export { keyForText } from "./presenters/key-for-text.ts";
export { expiryFrom, localMinute } from "./presenters/local-times.ts";
export type { Format, Presented, Voice } from "./presenters/presented.ts";
export { isCopyable, shellWord } from "./presenters/shell-word.ts";
export { statusText } from "./presenters/status-text.ts";
export { counted, firstWords } from "./presenters/words.ts";
export { type RankableFact, rankFacts } from "./rank-facts.ts";
export { checkEngineAddress, type EngineAddress, type EngineSettings } from "./remote/engine-address.ts";
export type { TokenSource } from "./remote/engine-client.ts";
export { type RemoteMemory, remoteMemory } from "./remote/partial-memory.ts";
export { openRemoteMemory, type RemoteMemoryOptions } from "./remote/remote-memory.ts";
export { endAfterRenewal } from "./renewing.ts";
export { unmatchedText } from "./searching.ts";
export { readSecretFile } from "./secret-file.ts";
export { openServedMemory, type ServedMemory, type ServedMemoryOptions } from "./served-memory.ts";
export { findStorage, type StorageLocation, type StorageOptions } from "./storage-location.ts";
export { Sweeper } from "./sweeper.ts";
export { type ExportOptions, type ExportProblem, exportLines } from "./transfer/export-lines.ts";
export { countNotInMarkdown, exportMarkdown, type NotInMarkdown } from "./transfer/export-markdown.ts";
export type { ImportFile, ReadItems } from "./transfer/formats/format.ts";
export { guessFormat, wantsFormat } from "./transfer/formats/guess-format.ts";
export { workspaceNotes } from "./transfer/formats/workspace-notes.ts";
export type { ImportCounts, ImportResult, RefusedLine } from "./transfer/import-counts.ts";
export { type ImportRequest, importFiles, makeImportId } from "./transfer/import-files.ts";
export { type ImportOptions, importLines } from "./transfer/import-lines.ts";
export { removeOnSignal } from "./transfer/remove-on-signal.ts";
export { notThere } from "./upstream/helmdeck-messages.ts";
export { extentText } from "./upstream/upstream-extent.ts";
export { openUpstreamMemory, type UpstreamMemoryOptions } from "./upstream/upstream-memory.ts";
export {
  type CallerReply,
  callerReplySchema,
  type OwnStatusReply,
  ownStatusReplySchema,
} from "./wire/caller-schemas.ts";
export { fromWire, toWire } from "./wire/codec.ts";
export { type ErrorReply, errorReplySchema } from "./wire/error-schema.ts";
export { type ReadinessReply, readinessReplySchema, versionReplySchema } from "./wire/health-schemas.ts";
export { HISTORY_DESCRIPTION, UNDO_DESCRIPTION } from "./wire/history-descriptions.ts";
export { MEMORY_TOOLS, type MemoryTool } from "./wire/memory-tools.ts";
export { doctorReply, historyReply, searchReply, statusReply } from "./wire/replies.ts";
export { rfc3339Schema } from "./wire/rfc3339-schema.ts";
export { recordedReplySchema, runOfRequest, runRequestSchema } from "./wire/run-schemas.ts";
export { STORE_DESCRIPTION, STORE_PARAMETERS } from "./wire/store-tool.ts";
export { problemOfJson } from "./wire/strict-json.ts";
export type { WriterClaim } from "./wire/writer-claim.ts";
export { startUpstreamWorker } from "./worker/upstream-client.ts";
export { serveUpstreamMemory } from "./worker/upstream-worker.ts";
export { startWorkerMemory, type WorkerMemoryOptions } from "./worker/worker-client.ts";
export { type ServeMemoryOptions, serveMemory } from "./worker/worker-server.ts";
