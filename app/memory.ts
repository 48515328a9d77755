/** Memory as every surface sees it: one interface of use cases, served in process or by the worker. */
import type {
  CorpusChunk,
  Erasure,
  ErrorCode,
  ExpiringFacts,
  Framed,
  LearntFromRuns,
  PackAudit,
  PipelineAudit,
  RecallMode,
  StoreReport,
  Subject,
  ToolAudit,
  UnixMs,
  Writer,
} from "../engine/index.ts";
import type { EmbeddingStatus, RecallAnswer, RecallQuery } from "../recall/index.ts";
import type { EmbeddingProvider } from "./embedding/embedding-settings.ts";

/** What a person or an agent asks to have kept; checked by the facts policy, whatever the surface. */
export interface FactInput {
  readonly key: string;
  readonly value: string;
  readonly category?: string;
  readonly tags?: readonly string[];
  /** 0 or absent: 90 days. */
  readonly ttlSeconds?: number;
  /** Keys, paths, docids or citations of facts that are no longer so: they are retired with this store. At most nine. */
  readonly supersedes?: readonly string[];
}

/** Another fact of the same caller that a new one may be about. */
export interface SimilarFact {
  readonly key: string;
  /** Its beginning, on one line. */
  readonly value: string;
  readonly updatedAt: UnixMs;
}

export interface StoredFact {
  readonly key: string;
  readonly category: string;
  readonly expiresAt: UnixMs;
  /** Where the corpus shows it. */
  readonly path: string;
  /** Present when a live fact stood there: `refreshed` when the value is the same, else it was replaced. */
  readonly replaced?: { readonly updatedAt: UnixMs; readonly refreshed: boolean };
  /** Keys of the facts that were retired; absent for none. */
  readonly superseded?: readonly string[];
  /** Keys of other facts with this very value. */
  readonly sameAs?: readonly string[];
  /** Facts that are like it, at most three; absent when there is none, or it would have taken long to find them. */
  readonly similar?: readonly SimilarFact[];
}

export interface RenewInput {
  /** Or a path, docid or citation. */
  readonly key: string;
  /** From now on; 0 or absent: 90 days, and never less than the fact has. */
  readonly ttlSeconds?: number;
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
  readonly path: string;
  /** Who stored the value; absent where nobody was named. */
  readonly writer?: Writer;
}

/** What a fact, or one that it superseded, held before. */
export type FormerView = Omit<FactView, "path">;

export interface FactHistory {
  /** The fact whose history it is; another than was asked for where that was superseded. */
  readonly key: string;
  /** Newest first, at most ten. */
  readonly former: readonly FormerView[];
  /** Of these, what an undo would bring back. */
  readonly undo: readonly FormerView[];
}

/** What a store would do, seen without storing. */
export interface FactCheck extends Pick<StoredFact, "key" | "category" | "expiresAt" | "sameAs" | "similar"> {
  readonly value: string;
  readonly tags: readonly string[];
  /** Keys of what it would retire. */
  readonly supersedes: readonly string[];
}

export interface UndoneFact {
  /** What was taken back. */
  readonly undone: FactView;
  /** What is there again. */
  readonly restored: readonly FactView[];
}

export interface FactsQuery {
  readonly prefix?: string;
  readonly category?: string;
  /** Only facts with this tag, exactly. */
  readonly tag?: string;
  /** Only what ends within 14 days. */
  readonly expiring?: boolean;
  /** Of what ends within 14 days: the next to end comes first, not the newest. */
  readonly soonestFirst?: boolean;
  /** 1 to 1,000; default 100. */
  readonly limit?: number;
  readonly cursor?: string;
}

export interface FactsPage {
  readonly facts: readonly FactView[];
  /** Keys of rows that are there but do not open; shown, never hidden. */
  readonly unreadable: readonly string[];
  readonly nextCursor?: string;
}

export interface RunsQuery {
  readonly kind?: RunKind;
  /** `failed`: whatever did not go well. */
  readonly outcome?: "ok" | "failed";
  /** Only what was recorded then or before. */
  readonly until?: UnixMs;
  /** 1 to 200; default 50. */
  readonly limit?: number;
  readonly cursor?: string;
}

export type RunKind = "pack" | "pipeline" | "tool";

/** One thing that a pack, a pipeline or a tool did. */
export interface RunView {
  readonly key: string;
  readonly kind: RunKind;
  readonly name: string;
  /** "ok", "succeeded", "failed", "cancelled" or an error code. */
  readonly outcome: string;
  readonly isOk: boolean;
  readonly at: UnixMs;
  readonly durationMs?: number;
  /** Those that were kept. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly findings: number;
  readonly path: string;
  readonly writer?: Writer;
}

export interface RunsPage {
  /** Newest first; may be fewer than the limit where most did not match, and `nextCursor` says that there is more. */
  readonly runs: readonly RunView[];
  /** Rows that are there but do not open. */
  readonly unreadable: number;
  readonly nextCursor?: string;
}

/** An import of notes that `forget import:<id>` takes back. */
export interface KnownImport {
  readonly id: string;
  /** Facts that are as it brought them. */
  readonly facts: number;
  /** Of what it brought, what stands only in the history of a fact. */
  readonly former: number;
  /** Runs, and notes of packs; absent for none. */
  readonly records?: number;
}

/** When what is there now came in. */
export interface Growth {
  /** Days (UTC) on which something came, oldest first. */
  readonly days: readonly DayCount[];
  /** Of all values, former ones and caches with them, as they are stored. */
  readonly bytes: number;
}

export interface DayCount {
  /** `2026-11-20` */
  readonly day: string;
  readonly facts: number;
  readonly runs: number;
}

/** A slice of a virtual document, as memory-wiki gives it: lines from 1, 200 at a time. */
export interface DocumentQuery {
  readonly path: string;
  readonly fromLine?: number;
  readonly lineCount?: number;
  /** An agent reads, and the operator wants that what is used lives on. */
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
  /** What it is the document of; absent for the summary of all. */
  readonly entry?: Framed;
}

export interface ForgetInput {
  /** A scope (`key:<exact>`, `category:<name>`, `packs`, …), a fact's exact key, or the path, docid or citation of a hit. */
  readonly scope: string;
  readonly dryRun?: boolean;
}

export interface Forgotten {
  readonly scope: string;
  readonly deleted: number;
  readonly dryRun: boolean;
  /** Of those deleted: facts that are again what they were before the import that is forgotten; absent for none. */
  readonly restored?: number;
  /** Former values in the history of facts that stay; absent for none. */
  readonly former?: number;
  /**
   * `nothing`: the scope named nothing, it was a dry run, or a helmdeck keeps this memory, which overwrites nothing. `pending`: gone from every answer, but a reader delays the
   * overwriting of old bytes.
   */
  readonly erased: Erasure["erased"] | "nothing";
  /** Present when the scope named nothing: at most three keys of this subject's facts that are like it. */
  readonly near?: readonly string[];
}

/** What memory holds for a subject, without values: the projection behind helmdeck/my-memory.md. */
export interface MyMemory {
  readonly scope: string;
  readonly fetchedAt: UnixMs;
  readonly categories: readonly {
    readonly name: string;
    readonly count: number;
    /** The five newest. */
    readonly recentKeys: readonly string[];
  }[];
  /** Facts that end within 14 days; absent for none. */
  readonly expiring?: ExpiringFacts;
  readonly note?: string;
}

/** Entries of one subject that a search looks through. */
export interface StoredCounts {
  readonly facts: number;
  readonly auditRows: number;
}

export interface SearchAnswer extends RecallAnswer {
  /** What is there, where nothing of it was found and all of it was looked at. Not for strangers. */
  readonly unmatched?: StoredCounts;
  /** Its source shows no more than a part of it; `reason` says how much was looked through. */
  readonly partial?: true;
}

/** Where memory lives and whether it works; never throws, so that a status can always be shown. */
export interface MemoryStatus {
  readonly state: "ready" | "failed";
  readonly databasePath: string;
  readonly keySource: string;
  readonly driver: string;
  /** Of a database server that only answers reads now: a standby. */
  readonly readOnly?: true;
  readonly mode: "keyword" | "hybrid";
  readonly subject?: StoredCounts & { readonly name: string; readonly expiring?: ExpiringFacts };
  /** Present where a served engine keeps it: then there is no database here. */
  readonly engine?: EngineStatus;
  /** Absent when memory does not open. */
  readonly embeddings?: EmbeddingsStatus;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
}

export interface EngineStatus {
  readonly url: string;
  /** Absent for an engine of ours. */
  readonly kind?: "helmdeck";
  /** Absent where it does not say. */
  readonly version?: string;
  /** How long a request took. */
  readonly tookMs: number;
  /** Of a memory that is known in part: how much of it, and since when. */
  readonly held?: HeldRows;
}

export interface HeldRows {
  readonly rows: number;
  /** As the source counts them, what has expired and cached answers with them. */
  readonly of: number;
  /** All that the source shows. */
  readonly isWhole: boolean;
  readonly readAt: UnixMs;
  /** Facts that cannot be shown here. */
  readonly leftOut: number;
}

/** The service behind search by meaning, and how far it is; asks nobody. */
export type EmbeddingsStatus =
  | { readonly provider: "none" }
  | { readonly provider: "unusable"; readonly problem: string }
  | {
      readonly provider: EmbeddingProvider;
      readonly url: string;
      /** As its service names it. */
      readonly model: string;
      readonly state: EmbeddingStatus["state"];
      /** Entries of all memories that are open at the moment. */
      readonly embedded: number;
      readonly waiting: number;
      /** What the service does not take. */
      readonly refused: number;
      /** What went wrong last, in a sentence or by its code; absent after a success. */
      readonly failure?: string;
    };

/** One thing doctor looked at. */
export interface Finding {
  readonly level: "ok" | "warning" | "error";
  readonly check: string;
  readonly message: string;
  /** What to do about it. */
  readonly remedy?: string;
}

export interface DoctorReport {
  readonly findings: readonly Finding[];
  readonly store?: StoreReport;
}

/** What past runs say about how a subject likes things (facts/helmdeck.md, "my-defaults"); the shape of REST and MCP. */
export interface MyDefaults extends LearntFromRuns {
  readonly scope: string;
  /** RFC 3339. */
  readonly fetched_at: string;
}

export interface CorpusQuery {
  /** Ranked hits for it; absent or blank: every chunk, newest first. */
  readonly query?: string;
  /** 1 to 100; default 20. Of ranked hits there are never more than 50. */
  readonly limit?: number;
  /** From the page before; not with a query. */
  readonly cursor?: string;
  /** Of a query: what is shown where nothing answers it surely. */
  readonly recall?: RecallMode;
}

/** QMD-shaped; `score` and `snippet` when there was a query. */
export interface FoundChunk extends Omit<CorpusChunk, "metadata"> {
  /** `possible: true`: nothing answers the query surely, and this is only possibly related. */
  readonly metadata: Readonly<Record<string, CorpusChunk["metadata"][string] | true>>;
  readonly score?: number;
  readonly snippet?: string;
}

export interface CorpusAnswer {
  /** May be fewer than the limit when they are large; `nextCursor` says that there are more. */
  readonly chunks: readonly FoundChunk[];
  readonly nextCursor?: string;
  /** With a query: how it was ranked. */
  readonly mode?: RecallAnswer["mode"];
  /** Why this may be less than there is: still indexing, rows that do not open; in an empty answer, what is there. */
  readonly note?: string;
  /** What is there, where a query found nothing of it. */
  readonly unmatched?: StoredCounts;
}

export interface CallerCount {
  readonly subject: Subject;
  /** Entries of every kind, sessions included. */
  readonly count: number;
}

/** Every use case, for one open memory. All of it can be served across a worker boundary. */
export interface Memory {
  /** `writer`: who asks, as the surface knows it from its host; nothing of the input. */
  storeFact(subject: Subject, fact: FactInput, writer?: Writer): Promise<StoredFact>;
  /** What `storeFact` would do, with the errors that it would throw; nothing is written. */
  checkFact(subject: Subject, fact: FactInput): Promise<FactCheck>;
  /** By its exact key; where no fact has that, by its path, docid or citation. */
  getFact(subject: Subject, key: string): Promise<FactView | undefined>;
  listFacts(subject: Subject, query: FactsQuery): Promise<FactsPage>;
  /** Of a fact by its key, path, docid or citation, also of one that was superseded; undefined when nothing is known of it. */
  factHistory(subject: Subject, key: string): Promise<FactHistory | undefined>;
  /** Takes back the last store that changed a fact; the next one takes back the store before that. Throws `not_found`. */
  undoFact(subject: Subject, key: string): Promise<UndoneFact>;
  /** Gives a fact another life and changes nothing else of it. Throws `not_found`. */
  renewFact(subject: Subject, input: RenewInput): Promise<FactView>;
  search(subject: Subject, query: RecallQuery): Promise<SearchAnswer>;
  /** Undefined when there is no such document in this subject's memory, or it is not ours. */
  readDocument(subject: Subject, query: DocumentQuery): Promise<DocumentSlice | undefined>;
  forget(subject: Subject, input: ForgetInput): Promise<Forgotten>;
  myMemory(subject: Subject): Promise<MyMemory>;
  defaults(subject: Subject): Promise<MyDefaults>;
  corpusPage(subject: Subject, query: CorpusQuery): Promise<CorpusAnswer>;
  /** What packs, pipelines and tools did. */
  listRuns(subject: Subject, query: RunsQuery): Promise<RunsPage>;
  growth(subject: Subject): Promise<Growth>;
  /** Those of which something is still there. */
  imports(subject: Subject): Promise<readonly KnownImport[]>;
  /** Everyone who has entries, in order of name: for the operator. */
  callers(): Promise<readonly CallerCount[]>;
  /**
   * A number that grows with every change of what this subject's facts and runs show, whichever process made it; cheap to
   * ask for. What expires counts when it is swept.
   */
  revision(subject: Subject): Promise<number>;
  recordPackRun(subject: Subject, row: PackAudit, writer?: Writer): Promise<void>;
  recordPipelineRun(subject: Subject, row: PipelineAudit, writer?: Writer): Promise<void>;
  /** An input that looks like a credential is left out; of each subject the newest 5,000 calls are kept. */
  recordToolCall(subject: Subject, row: ToolAudit, writer?: Writer): Promise<void>;
  /** Starts indexing in the background. */
  warm(subject: Subject): Promise<void>;
  /** Deletes what has been expired for a day of use. */
  sweep(): Promise<Erasure>;
  status(subject?: Subject): Promise<MemoryStatus>;
  doctor(): Promise<DoctorReport>;
  close(): Promise<void>;
}

export type UseCase = keyof Memory;

const EVERY_USE_CASE = {
  storeFact: true,
  checkFact: true,
  getFact: true,
  listFacts: true,
  factHistory: true,
  undoFact: true,
  renewFact: true,
  search: true,
  readDocument: true,
  forget: true,
  myMemory: true,
  defaults: true,
  corpusPage: true,
  listRuns: true,
  growth: true,
  imports: true,
  callers: true,
  revision: true,
  recordPackRun: true,
  recordPipelineRun: true,
  recordToolCall: true,
  warm: true,
  sweep: true,
  status: true,
  doctor: true,
  close: true,
} as const satisfies Record<UseCase, true>;

/** The names of all use cases, for whatever stands in for a memory. */
export const USE_CASES = Object.keys(EVERY_USE_CASE) as readonly UseCase[]; // complete by its type

/** A memory that has each of its use cases from one function of their names. */
export function memoryFrom(useCase: <Name extends UseCase>(name: Name) => Memory[Name]): Memory {
  return Object.fromEntries(USE_CASES.map((name) => [name, useCase(name)])) as unknown as Memory; // each under its own name
}
