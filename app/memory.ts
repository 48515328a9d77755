/** Memory as every surface sees it: one interface of use cases, served in process or by the worker. */

import type { RecallMode } from "../engine/answer-limits.ts";
import type { PackAudit, PipelineAudit, ToolAudit } from "../engine/audit/audit-rows.ts";
import type { ErrorCode, ErrorDetails } from "../engine/errors.ts";
import type { CorpusChunk } from "../engine/projections/corpus.ts";
import type { Framed } from "../engine/projections/frame.ts";
import type { LearntFromRuns } from "../engine/projections/my-defaults.ts";
import type { ExpiringFacts } from "../engine/projections/my-memory.ts";
import type {
  EndedMonth,
  Erasure,
  Newer,
  Origin,
  StoreReport,
  UnixMs,
} from "../engine/store/memory-store.ts";
import type { Subject } from "../engine/store/namespace.ts";
import type { Writer } from "../engine/store/writer.ts";
import type { RecallAnswer, RecallHit, RecallQuery } from "../recall/search-contract.ts";
import type { EmbeddingStatus } from "../recall/vectors/semantic-contract.ts";
import type { EmbeddingProvider } from "./embedding/embedding-settings.ts";

export type { RecallAnswer, RecallHit, RecallQuery };

/** A fact to store, from a person or an agent; the facts policy validates it. */
export interface FactInput {
  readonly key: string;
  readonly value: string;
  readonly category?: string;
  readonly tags?: readonly string[];
  /**
   * From now on. 0 or absent: the default (90 days unless the operator chose another) for a new fact, and for one whose end nobody
   * chose; a chosen end stays. Likewise, an absent category and absent tags are those that the fact has.
   */
  readonly ttlSeconds?: number;
  /** The fact is a turn of this conversation, in the order of their times. Absent: it is none. */
  readonly conversationId?: string;
  /** Keys, paths, docids or citations of outdated facts that this one supersedes. At most nine. */
  readonly supersedes?: readonly string[];
  /** Only while the fact has this revision; 0: only while there is none that opens. Throws `changed_meanwhile`. */
  readonly ifRevision?: number;
  /** Of a `checkFact`: a fact that it supersedes, and that was written later, throws `changed_meanwhile`. */
  readonly upTo?: number;
  /** False: similar facts are not looked for, which takes less than half of the time. Default true. */
  readonly similar?: boolean;
}

/** Another fact of the same caller about a similar subject. */
export interface SimilarFact {
  readonly key: string;
  /** Its beginning, on one line. */
  readonly value: string;
  readonly updatedAt: UnixMs;
  readonly writer?: Writer;
  /** It says something else of the same thing. */
  readonly contradicts?: true;
}

export interface StoredFact {
  readonly key: string;
  readonly category: string;
  readonly expiresAt: UnixMs;
  /** Absent when the source has none. */
  readonly revision?: number;
  /** Its path in the corpus. */
  readonly path: string;
  /** Present when a live fact was there: `refreshed` when the value is the same, otherwise it was replaced. */
  readonly replaced?: { readonly updatedAt: UnixMs; readonly refreshed: boolean; readonly writer?: Writer };
  /** Keys of the superseded facts; absent when there are none. */
  readonly superseded?: readonly string[];
  /** Keys of other facts with the same value. */
  readonly sameAs?: readonly string[];
  /** Similar facts, at most three; absent when there are none, or the search would have taken too long. */
  readonly similar?: readonly SimilarFact[];
}

/** Facts to store in one call. */
export interface FactsInput {
  /** In their order; 1 to 250. */
  readonly facts: readonly Omit<FactInput, "similar">[];
  /** As in {@link FactInput}, for all of them. */
  readonly similar?: boolean;
}

export interface StoredFacts {
  /** One for each fact, in the given order. */
  readonly results: readonly (StoredFact | RefusedFact)[];
  /** How many of the results are a {@link RefusedFact}. */
  readonly refused: number;
}

/** Not stored: the error that a store of this fact alone would throw. */
export interface RefusedFact {
  readonly key: string;
  readonly error: ErrorCode;
  readonly message: string;
  readonly details?: ErrorDetails;
}

export interface FactName {
  /** Its exact key or, when no fact has that, its path, docid or citation. */
  readonly key: string;
}

export interface GetInput extends FactName {
  /** What the memory said then, as far as histories tell: a time, also in RFC 3339, or a day such as `2026-11-20` (in UTC). */
  readonly asOf?: UnixMs | string;
}

export interface HistoryInput extends FactName {
  /** Only values that another one replaced later than this time, or on this day and later. */
  readonly since?: UnixMs | string;
}

export interface ChangeInput extends FactName {
  /** Only while the fact has this revision; throws `changed_meanwhile`. */
  readonly ifRevision?: number;
}

export interface RenewInput extends ChangeInput {
  /** From now on; 0 or absent: the default, without shortening the fact's life. */
  readonly ttlSeconds?: number;
  /** Changes nothing; answers the fact as it would be. */
  readonly dryRun?: boolean;
}

export interface RenewFactsInput {
  /**
   * Facts that expire within 14 days, or all; `undo`: those of the last change of many facts get their former ends and categories
   * back.
   */
  readonly which: "expiring" | "all" | "undo";
  /** With `all`: only those with these exact keys; at most 250. */
  readonly keys?: readonly string[];
  /** Puts them into this category, instead of renewing them. */
  readonly category?: string;
  /** Only counts. */
  readonly dryRun?: boolean;
  /** A dry run's revision: only what that counted. */
  readonly upTo?: number;
}

export interface RenewedFacts extends Pick<RenewFactsInput, "which"> {
  /** How many got another end or category or, in a dry run, would get one. */
  readonly renewed: number;
  readonly dryRun: boolean;
  /** The soonest of the new ends; absent when there is none, as for categories. */
  readonly expiresAt?: UnixMs;
  /** Of a dry run: for `upTo`. */
  readonly revision?: number;
  /** Facts that were stored or changed after `upTo`, and stay as they are. */
  readonly newer?: number;
}

export interface PinInput extends ChangeInput {
  /** False: unpins it. Default true. */
  readonly pinned?: boolean;
}

/** Who asks, as vouched for by the host; never from the input. */
export interface Asker extends Writer {
  /** A person: in chat, on a page, at a command line. Otherwise it may be a model. Not stored. */
  readonly isPerson?: true;
  /** The verified caller of a server. Not stored. */
  readonly caller?: Subject;
}

export interface FactView {
  readonly key: string;
  readonly value: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly createdAt: UnixMs;
  readonly updatedAt: UnixMs;
  readonly expiresAt?: UnixMs;
  readonly fingerprint: string;
  /** Another one after each change; absent when the source has none. For conditions. */
  readonly revision?: number;
  readonly path: string;
  /** It stands in every prompt of its agent. */
  readonly pinned?: true;
  /** Who stored the value; absent when unknown. */
  readonly writer?: Writer;
  /** Of the conversation that it is a turn of. */
  readonly conversationId?: string;
}

/** A former value of a fact, or of one that it superseded. */
export type FormerView = Omit<FactView, "path" | "revision" | "pinned">;

export interface FactHistory {
  /** The fact with the history; differs from the requested one when that was superseded. */
  readonly key: string;
  /** Newest first, at most ten. */
  readonly former: readonly FormerView[];
  /** Those that an undo would restore. */
  readonly undo: readonly FormerView[];
}

/** The result of a store, without storing. */
export interface FactCheck extends Pick<StoredFact, "key" | "category" | "expiresAt" | "sameAs" | "similar"> {
  readonly value: string;
  readonly tags: readonly string[];
  /** Keys of the facts that it would supersede. */
  readonly supersedes: readonly string[];
  /** Of the fact that is there now, 0 when there is none: as `ifRevision` of the store. Absent when the source has none. */
  readonly revision?: number;
  /** As `upTo` of the store. */
  readonly upTo?: number;
}

export interface UndoneFact {
  /** The undone value. */
  readonly undone: FactView;
  /** The restored facts. */
  readonly restored: readonly FactView[];
}

export interface FactsQuery {
  readonly prefix?: string;
  readonly category?: string;
  /** Only facts with exactly this tag. */
  readonly tag?: string;
  /** Only facts that expire within 14 days. */
  readonly expiring?: boolean;
  /** Only pinned facts, in the order of prompts. */
  readonly pinned?: boolean;
  /** As of a fact. Not with `expiring`. */
  readonly asOf?: GetInput["asOf"];
  /** Sorts pinned facts by their times, too. */
  readonly newestFirst?: boolean;
  /** With `expiring`: sorts by expiry, soonest first, instead of newest first. */
  readonly soonestFirst?: boolean;
  /** 1 to 1,000; default 100. */
  readonly limit?: number;
  readonly cursor?: string;
}

export interface FactsPage {
  /** Pinned ones first, then the newest first. */
  readonly facts: readonly FactView[];
  /** Keys of rows that exist but do not open; never hidden. */
  readonly unreadable: readonly string[];
  readonly nextCursor?: string;
  /** Of the first page: how many facts ended in which month, for a year. */
  readonly ended?: readonly EndedMonth[];
}

/**
 * `duplicate`: they say the same. `conflict`: they contradict each other. `near`: nearly the same words, from different sources.
 * `expiring`: one fact that expires within 14 days.
 */
export type ReviewKind = "duplicate" | "conflict" | "near" | "similar" | "expiring";

export interface ReviewQuery {
  /** Findings, 1 to 100; default 20. */
  readonly limit?: number;
  readonly cursor?: string;
}

export interface ReviewFinding {
  readonly kind: ReviewKind;
  /** Newest first, at most ten. */
  readonly facts: readonly FactView[];
}

/** What somebody should decide about a memory. */
export interface Review {
  /** The most certain first; what expires soon comes last. May be fewer than the limit. */
  readonly findings: readonly ReviewFinding[];
  /** How many there are of each kind. */
  readonly found: Readonly<Record<ReviewKind, number>>;
  /** From before the look: as `upTo` of what is done with these facts. */
  readonly revision: number;
  readonly nextCursor?: string;
}

export interface ApartInput {
  /** Of 2 to 10 facts, like {@link FactName}. */
  readonly keys: readonly string[];
  /** False: takes it back. Default true. */
  readonly apart?: boolean;
  /** The `revision` of a review: a fact that was written later throws `changed_meanwhile`. */
  readonly upTo?: number;
}

export interface ApartFacts {
  readonly keys: readonly string[];
  readonly apart: boolean;
}

export interface RunsQuery {
  readonly kind?: RunKind;
  /** `failed`: anything but success. */
  readonly outcome?: "ok" | "failed";
  /** Only runs recorded then or earlier. */
  readonly until?: UnixMs;
  /** 1 to 200; default 50. */
  readonly limit?: number;
  readonly cursor?: string;
}

export type RunKind = "pack" | "pipeline" | "tool";

/** One run of a pack, pipeline or tool. */
export interface RunView {
  readonly key: string;
  readonly kind: RunKind;
  readonly name: string;
  /** "ok", "succeeded", "failed", "cancelled" or an error code. */
  readonly outcome: string;
  readonly isOk: boolean;
  readonly at: UnixMs;
  readonly durationMs?: number;
  /** The recorded ones. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly findings: number;
  readonly path: string;
  readonly writer?: Writer;
}

export interface RunsPage {
  /** Newest first. May be fewer than the limit when most did not match; `nextCursor` then continues. */
  readonly runs: readonly RunView[];
  /** Rows that exist but do not open. */
  readonly unreadable: number;
  readonly nextCursor?: string;
}

/** An import that `forget import:<id>` can undo. */
export interface KnownImport {
  readonly id: string;
  /** Facts that are unchanged since the import. */
  readonly facts: number;
  /** Imported values that are only in a fact's history. */
  readonly former: number;
  /** Runs, and notes of packs; absent when there are none. */
  readonly records?: number;
}

/** When the current entries were stored. */
export interface Growth {
  /** Days (UTC) on which something was stored, oldest first. */
  readonly days: readonly DayCount[];
  /** Size of all stored values, including former ones and caches. */
  readonly bytes: number;
}

export interface DayCount {
  /** `2026-11-20` */
  readonly day: string;
  readonly facts: number;
  readonly runs: number;
}

/** A slice of a virtual document, like memory-wiki's: lines from 1, 200 at a time. */
export interface DocumentQuery {
  readonly path: string;
  readonly fromLine?: number;
  readonly lineCount?: number;
  /** An agent reads, and the operator enabled renewal by use. */
  readonly renewOnUse?: boolean;
}

export interface DocumentSlice {
  readonly path: string;
  readonly title: string;
  readonly content: string;
  readonly fromLine: number;
  readonly lineCount: number;
  readonly totalLines: number;
  readonly truncated: boolean;
  /** The document's entry; absent for the summary. */
  readonly entry?: Framed;
}

export interface ForgetInput {
  /** A scope (`key:<exact>`, `category:<name>`, `packs`, …), a fact's exact key, or the path, docid or citation of a hit. */
  readonly scope: string;
  readonly dryRun?: boolean;
  /** The `revision` of a dry run: deletes what that showed. What was stored or changed since stays, and is named. */
  readonly upTo?: number;
}

export interface Forgotten {
  readonly scope: string;
  readonly deleted: number;
  readonly dryRun: boolean;
  /** Of the deleted ones: facts that went back to what the forgotten import had replaced or superseded; absent when there are none. */
  readonly restored?: number;
  /** Former values in the histories of remaining facts; absent when there are none. */
  readonly former?: number;
  /**
   * `nothing`: the scope matched nothing, it was a dry run, or a helmdeck keeps this memory, which does not overwrite deleted
   * bytes. `pending`: gone from every answer, but a reader delays the overwriting of old bytes.
   */
  readonly erased: Erasure["erased"] | "nothing";
  /** Of everything: the database names this memory's subject until its next clean-up. Otherwise absent. */
  readonly nameStays?: true;
  /** Present when the scope matched nothing: at most three similar keys of this subject's facts. */
  readonly near?: readonly string[];
  /** Of a dry run: as `upTo` of the forget that was confirmed. Absent when the source has none. */
  readonly revision?: number;
  /** What the scope covers, but was stored or changed after `upTo`, and stays; absent when there is none. */
  readonly newer?: Newer;
}

/** A subject's memory without values: the data of helmdeck/my-memory.md. */
export interface MyMemory {
  readonly scope: string;
  readonly fetchedAt: UnixMs;
  readonly categories: readonly {
    readonly name: string;
    readonly count: number;
    /** The five newest. */
    readonly recentKeys: readonly string[];
  }[];
  /** Facts that expire within 14 days; absent when there are none. */
  readonly expiring?: ExpiringFacts;
  readonly note?: string;
}

/** How many entries of a subject a search covers. */
export interface StoredCounts {
  readonly facts: number;
  readonly auditRows: number;
  /** Facts that ended by themselves within a year, by month; absent when there are none. */
  readonly ended?: readonly EndedMonth[];
}

export interface SearchAnswer extends Omit<RecallAnswer, "otherLanguage"> {
  /** The searched entries, when a complete search found nothing. Not for strangers. */
  readonly unmatched?: StoredCounts;
  /** What could find more, for a person. Only with `unmatched`. */
  readonly hint?: string;
  /** The source shows only a part of the memory; `reason` says how much was searched. `incomplete` for programs. */
  readonly partial?: true;
}

/** The location and state of memory; never throws, so that a status can always be shown. */
export interface MemoryStatus {
  /** `none`: nothing was stored yet. */
  readonly state: "ready" | "none" | "failed";
  /** Of `none`: what that means here. */
  readonly notice?: string;
  readonly databasePath: string;
  readonly keySource: string;
  readonly driver: string;
  /** For a database server that currently answers reads only: a standby. */
  readonly readOnly?: true;
  /** How a search works now, as far as is known: `keyword` too while the embedding service fails. */
  readonly mode: "keyword" | "hybrid";
  readonly subject?: StoredCounts & { readonly name: string; readonly expiring?: ExpiringFacts };
  /** Present for a served engine: then there is no local database. */
  readonly engine?: EngineStatus;
  /** Absent when memory does not open. */
  readonly embeddings?: EmbeddingsStatus;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
}

export interface EngineStatus {
  readonly url: string;
  /** Absent for an engine of ours. */
  readonly kind?: "helmdeck";
  /** Absent when unknown. */
  readonly version?: string;
  /** Duration of a request. */
  readonly tookMs: number;
  /** How much of a partially known memory is known, and since when. */
  readonly held?: HeldRows;
}

export interface HeldRows {
  readonly rows: number;
  /** The source's count, including expired entries and cached answers. */
  readonly of: number;
  /** Everything that the source shows. */
  readonly isWhole: boolean;
  readonly readAt: UnixMs;
  /** Facts that cannot be shown here. */
  readonly leftOut: number;
}

/** The embedding service and the progress of embedding; sends no request. */
export type EmbeddingsStatus =
  /** `problem`: the built-in model is not installed; how to install it. */
  | { readonly provider: "none"; readonly problem?: string }
  | { readonly provider: "unusable"; readonly problem: string }
  | {
      readonly provider: EmbeddingProvider;
      /** Absent for the built-in model. */
      readonly url?: string;
      /** The service's name for it. */
      readonly model: string;
      readonly state: EmbeddingStatus["state"];
      /** Entries of all currently open memories. */
      readonly embedded: number;
      readonly waiting: number;
      /** Entries that the service refuses. */
      readonly refused: number;
      /** The last failure, as a sentence or code; absent after a success. */
      readonly failure?: string;
    };

/** A result of one of doctor's checks. */
export interface Finding {
  readonly level: "ok" | "warning" | "error";
  readonly check: string;
  readonly message: string;
  /** How to fix it. */
  readonly remedy?: string;
}

export interface DoctorReport {
  readonly findings: readonly Finding[];
  readonly store?: StoreReport;
}

/** A subject's habits, learnt from past runs (helmdeck's "my-defaults"); the shape of REST and MCP. */
export interface MyDefaults extends LearntFromRuns {
  readonly scope: string;
  /** RFC 3339. */
  readonly fetched_at: string;
}

export interface CorpusQuery {
  /** Ranks hits for it; absent or blank: every chunk, newest first. */
  readonly query?: string;
  /** 1 to 100; default 20. At most 50 ranked hits. */
  readonly limit?: number;
  /** From the previous page; not with a query. */
  readonly cursor?: string;
  /** With a query: what to show when no hit is certain. */
  readonly recall?: RecallMode;
}

/** QMD-shaped; with a query, includes `score` and `snippet`. */
export interface FoundChunk extends Omit<CorpusChunk, "metadata"> {
  /** `possible: true`: only possibly related. */
  readonly metadata: Readonly<Record<string, CorpusChunk["metadata"][string] | true>>;
  readonly score?: number;
  readonly snippet?: string;
}

export interface CorpusAnswer {
  /** May be fewer than the limit when they are large; `nextCursor` then continues. */
  readonly chunks: readonly FoundChunk[];
  readonly nextCursor?: string;
  /** With a query: how it was ranked. */
  readonly mode?: RecallAnswer["mode"];
  /** Not everything was searched, read or shown; `note` says why. */
  readonly incomplete?: true;
  /** Why the page may be incomplete: still indexing, unreadable rows; for an empty page, what there is. */
  readonly note?: string;
  /** The searched entries, when a query found nothing. */
  readonly unmatched?: StoredCounts;
}

export interface PageQuery {
  /** 1 to 1,000; default 100. */
  readonly limit?: number;
  readonly cursor?: string;
}

export interface CallersPage {
  readonly callers: readonly CallerCount[];
  /** Of a server: since when requests are counted, and of how many callers the counts were dropped. */
  readonly engine?: { readonly startedAt: UnixMs; readonly dropped: number };
  readonly nextCursor?: string;
}

export interface CallerCount extends Partial<RequestCounts> {
  readonly subject: Subject;
  /** Entries of every kind, sessions and what has expired but is not deleted yet included. */
  readonly count: number;
  /** Size of the values as stored, former ones included. */
  readonly bytes: number;
}

/** Requests to a server, and how many of them were refused, by the reason. */
export interface RequestCounts {
  readonly requests: number;
  readonly refused: Readonly<Record<"rate" | "size" | "limit" | "auth", number>>;
}

export interface ExportQuery extends PageQuery {
  /** Includes former values. */
  readonly withHistory?: boolean;
}

export interface ExportPage {
  /** Of an export, in the order of the last writes. May be fewer than the limit. */
  readonly lines: readonly string[];
  /** What cannot be exported. */
  readonly problems: readonly ExportProblem[];
  readonly nextCursor?: string;
}

export interface ExportProblem {
  readonly origin: Origin;
  readonly key: string;
  readonly code: "entry_unreadable" | "invalid_input";
  readonly reason: string;
}

/** Every use case of an open memory. All of them can be served across a worker boundary. */
export interface Memory {
  /** `writer`: who asks, as vouched for by the host; never from the input. */
  storeFact(subject: Subject, fact: FactInput, writer?: Asker): Promise<StoredFact>;
  /**
   * Each by the rules of `storeFact`, with a result of its own. Throws `invalid_input` for another number of facts, and the memory's
   * failure if that kept it from storing any.
   */
  storeFacts(subject: Subject, input: FactsInput, writer?: Asker): Promise<StoredFacts>;
  /** The result of `storeFact` with its errors, without writing. */
  checkFact(subject: Subject, fact: FactInput): Promise<FactCheck>;
  getFact(subject: Subject, input: GetInput): Promise<FactView | undefined>;
  listFacts(subject: Subject, query: FactsQuery): Promise<FactsPage>;
  /** Also of a superseded fact; undefined when there is no such history. */
  factHistory(subject: Subject, input: HistoryInput): Promise<FactHistory | undefined>;
  /** Undoes the last store that changed a fact; the next call undoes the one before. Throws `not_found`. */
  undoFact(subject: Subject, input: ChangeInput): Promise<UndoneFact>;
  /** Changes a fact's expiry and nothing else. Throws `not_found`, and `invalid_input` if a model would keep a pinned fact longer. */
  renewFact(subject: Subject, input: RenewInput, asker?: Asker): Promise<FactView>;
  /** The same for many facts, by the default; a person's pinned ones for a year. Or puts many into a category. */
  renewFacts(subject: Subject, input: RenewFactsInput, asker?: Asker): Promise<RenewedFacts>;
  /** Pins a fact for a year, or unpins it. A person who pins it again confirms it for another year. Throws `not_found`. */
  pinFact(subject: Subject, input: PinInput, asker?: Asker): Promise<FactView>;
  /** What somebody should decide: duplicates, conflicts, near-copies, similar facts, and what expires soon. */
  review(subject: Subject, query: ReviewQuery): Promise<Review>;
  /** A review asks no more about these facts beside each other, until one gets another value. Throws `not_found`. */
  keepApart(subject: Subject, input: ApartInput): Promise<ApartFacts>;
  search(subject: Subject, query: RecallQuery): Promise<SearchAnswer>;
  /** Undefined when this subject's memory has no such document, or the path is not ours. */
  readDocument(subject: Subject, query: DocumentQuery): Promise<DocumentSlice | undefined>;
  forget(subject: Subject, input: ForgetInput, asker?: Asker): Promise<Forgotten>;
  /** Facts and records of runs, as an import takes them. */
  exportPage(subject: Subject, query: ExportQuery): Promise<ExportPage>;
  myMemory(subject: Subject): Promise<MyMemory>;
  /** How many facts end within 14 days, for whoever can tell a person now; 0 if a person was told today. */
  tellEnding(subject: Subject): Promise<{ readonly facts: number }>;
  defaults(subject: Subject): Promise<MyDefaults>;
  corpusPage(subject: Subject, query: CorpusQuery): Promise<CorpusAnswer>;
  /** Runs of packs, pipelines and tools. */
  listRuns(subject: Subject, query: RunsQuery): Promise<RunsPage>;
  growth(subject: Subject): Promise<Growth>;
  /** Imports of which something remains. */
  imports(subject: Subject): Promise<readonly KnownImport[]>;
  /** Everyone with entries, by name: for the operator. With a subject: only this one. Reads no entry. */
  callers(of?: Subject, query?: PageQuery): Promise<CallersPage>;
  /**
   * A number that grows with every visible change of this subject's facts and runs, by any process; cheap. Expiry counts when it
   * is swept.
   */
  revision(subject: Subject): Promise<number>;
  recordPackRun(subject: Subject, row: PackAudit, writer?: Writer): Promise<void>;
  recordPipelineRun(subject: Subject, row: PipelineAudit, writer?: Writer): Promise<void>;
  /** Omits inputs that look like credentials; keeps each subject's newest 5,000 calls. */
  recordToolCall(subject: Subject, row: ToolAudit, writer?: Writer): Promise<void>;
  /** Starts indexing in the background. */
  warm(subject: Subject): Promise<void>;
  /** Deletes entries that have been expired for a day of observed time. */
  sweep(): Promise<Erasure>;
  status(subject?: Subject): Promise<MemoryStatus>;
  doctor(): Promise<DoctorReport>;
  close(): Promise<void>;
}

export type UseCase = keyof Memory;

/** Each with the name of its tool, without a server's prefix; the tools in the order in which clients show them. */
const EVERY_USE_CASE = {
  search: "search",
  getFact: "get",
  storeFact: "store",
  listFacts: "list",
  forget: "forget",
  factHistory: "history",
  undoFact: "undo",
  renewFact: "renew",
  pinFact: "pin",
  corpusPage: "corpus",
  storeFacts: undefined,
  checkFact: undefined,
  renewFacts: undefined,
  review: undefined,
  keepApart: undefined,
  readDocument: undefined,
  exportPage: undefined,
  myMemory: undefined,
  tellEnding: undefined,
  defaults: undefined,
  listRuns: undefined,
  growth: undefined,
  imports: undefined,
  callers: undefined,
  revision: undefined,
  recordPackRun: undefined,
  recordPipelineRun: undefined,
  recordToolCall: undefined,
  warm: undefined,
  sweep: undefined,
  status: undefined,
  doctor: undefined,
  close: undefined,
} as const satisfies Record<UseCase, string | undefined>;

export type MemoryTool = NonNullable<(typeof EVERY_USE_CASE)[UseCase]>;

export const MEMORY_TOOLS = Object.values(EVERY_USE_CASE).filter((tool) => tool !== undefined);

export function toolOf(useCase: UseCase): MemoryTool | undefined {
  return EVERY_USE_CASE[useCase];
}

/** The names of all use cases, for proxies of a memory. */
export const USE_CASES = Object.keys(EVERY_USE_CASE) as readonly UseCase[]; // complete by its type

/** A memory whose use cases all come from one function of their names. */
export function memoryFrom(useCase: <Name extends UseCase>(name: Name) => Memory[Name]): Memory {
  return Object.fromEntries(USE_CASES.map((name) => [name, useCase(name)])) as unknown as Memory; // each under its own name
}
