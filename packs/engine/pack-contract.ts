/** The contract for pack authors: the pack, its context while it runs, and the engine's results. */
import type { $ZodType } from "zod/v4/core";
import type { Fingerprint, UnixMs } from "../../engine/store/memory-store.ts";
import type { Subject } from "../../engine/store/namespace.ts";

/** Opts in to memory. Without it a pack has no memory hooks and runs as it would without a store. */
export interface PackMemoryPolicy {
  /** Answers a repeated input from the cache. Requires `ttlSeconds`; refused for a pack with credentials. */
  readonly cache?: boolean;
  /** The lifetime of cached answers, and the default for the handler's notes. */
  readonly ttlSeconds?: number;
  /** The category of the handler's notes; also of cached answers, whose default is `cache`. */
  readonly category?: string;
}

/** A run's effects, for clients that ask a person first. An absent field counts as the worst case. */
export interface PackEffects {
  /** Changes only the cache and the audit. */
  readonly readOnly?: boolean;
  /** May delete or overwrite. */
  readonly destructive?: boolean;
  /** A second run with the same input changes nothing more. */
  readonly idempotent?: boolean;
  /** Reaches systems other than this one. */
  readonly openWorld?: boolean;
}

export interface Pack<Input = unknown, Output = unknown> {
  /** Lower-case words joined by dots: `github.list_issues`. */
  readonly name: string;
  /** Such as `1.2.0`. Each version has its own cache. */
  readonly version: string;
  /** Shown to people instead of the name. */
  readonly title?: string;
  /** One or two sentences for people and models. */
  readonly description: string;
  readonly input: $ZodType<Input>;
  readonly output: $ZodType<Output>;
  /** Needs a working folder with a process runner. */
  readonly session?: true;
  readonly memory?: PackMemoryPolicy;
  /** `false`: runs leave no audit row, as for packs that work on memory itself. */
  readonly audit?: false;
  /** The answer depends on a secret of the caller or the operator, so it is not cached. */
  readonly credentials?: true;
  /** Starts processes on this machine, so it runs for authenticated callers only. */
  readonly startsProcess?: true;
  readonly effects?: PackEffects;
  /** How a long output is divided, where clients take only short ones. */
  readonly pages?: PackPages;
  /** Longest time for one run; default 2 minutes. */
  readonly deadlineMs?: number;
  run(ec: PackContext, input: Input): Promise<Output>;
}

/** The field of an output with its list of items, and that of an item's longest text. Without `items`, the output is the one item. */
export interface PackPages {
  readonly items?: string;
  readonly text: string;
}

/** The context of a handler. `memory` and `callerMemory` are absent unless a store is wired and the pack opted in. */
export interface PackContext {
  readonly caller: Subject;
  /** Aborted when the caller cancels or disconnects, or the deadline passes. */
  readonly signal: AbortSignal;
  readonly now: () => UnixMs;
  readonly artifacts: ArtifactSink;
  /** Present if the pack declares one. */
  readonly session?: Session;
  /** The caller's notes; in a session, only that session's. */
  readonly memory?: PackMemory;
  /** The caller's notes that outlive the session. Without a session, the same as `memory`. */
  readonly callerMemory?: PackMemory;
  /** `done` from 0 to 1, shown to a waiting caller. Never pass a stored value or a secret. */
  progress(done: number, message?: string): void;
}

/** A pack's notes. They have their own origin: they are not facts, not in the corpus, and never clash with a fact's key. */
export interface PackMemory {
  namespace(): string;
  store(key: string, value: string, options?: PackNoteOptions): Promise<void>;
  /** Undefined if there is none, or it has expired. */
  recall(key: string): Promise<PackNote | undefined>;
  /** Newest first; `prefix` compares bytes and has no wildcards. */
  list(prefix?: string): Promise<readonly PackNote[]>;
  /** True if there was one. */
  delete(key: string): Promise<boolean>;
  /** The newest 50 notes by category, without their values. */
  context(): Promise<PackMemoryContext>;
}

export interface PackNoteOptions {
  /** Default: the pack's, else 30 days. */
  readonly ttlSeconds?: number;
  readonly category?: string;
  readonly tags?: readonly string[];
}

export interface PackNoteMeta {
  readonly key: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly createdAt: UnixMs;
  readonly updatedAt: UnixMs;
  readonly expiresAt?: UnixMs;
  readonly fingerprint: Fingerprint;
}

export interface PackNote extends PackNoteMeta {
  readonly value: string;
}

interface PackMemoryContext {
  readonly namespace: string;
  readonly entries: Readonly<Record<string, readonly PackNoteMeta[]>>;
}

/** A caller's working folder, with a process runner. */
export interface Session {
  readonly id: string;
  /** Absolute path; only this session's processes use it. */
  readonly folder: string;
  /** Runs one program without a shell. A non-zero exit code is a result, not an error. */
  run(program: string, args: readonly string[], options?: ProcessOptions): Promise<ProcessResult>;
}

export interface ProcessOptions {
  /** A path below the session's folder. */
  readonly cwd?: string;
  /** The complete environment, except for PATH, LANG and a HOME inside the session. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

export interface ProcessResult {
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** The program wrote more than is kept (1 MiB per stream). */
  readonly truncated: boolean;
}

export interface SessionRequest {
  readonly caller: Subject;
  readonly pack: string;
  /** Continue in this open session of the same caller. Absent: a new session that ends with the run. */
  readonly sessionId?: string;
  readonly signal: AbortSignal;
}

export interface SessionProvider {
  /** Throws `session_unavailable`, or `not_found` if this caller has no such open session. */
  acquire(request: SessionRequest): Promise<Session>;
  /** Ends its processes, and removes its folder unless the session is kept. Never throws. */
  release(session: Session): Promise<void>;
  close(): Promise<void>;
}

export interface NewArtifact {
  /** A plain file name. */
  readonly name: string;
  readonly mediaType: string;
  readonly content: Uint8Array;
}

export interface ArtifactRef {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** Takes a handler's files; collected at the end of the run. Throws `artifact_refused` beyond a size limit. */
export interface ArtifactSink {
  put(artifact: NewArtifact): Promise<ArtifactRef>;
}

export interface ArtifactStore {
  put(caller: Subject, artifact: NewArtifact): Promise<ArtifactRef>;
  /** Undefined if it does not exist or belongs to another caller. */
  get(
    caller: Subject,
    id: string,
  ): Promise<{ readonly ref: ArtifactRef; readonly content: Uint8Array } | undefined>;
  has(caller: Subject, id: string): Promise<boolean>;
  delete(caller: Subject, id: string): Promise<void>;
  close(): Promise<void>;
}

export interface PackRequest {
  readonly pack: string;
  readonly input: unknown;
  readonly caller: Subject;
  /** The caller has a valid token or uses the operator's shell. */
  readonly authenticated: boolean;
  readonly sessionId?: string;
  /** Fires when the caller cancels or disconnects. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, message?: string) => void;
}

export interface PackRun {
  readonly pack: string;
  readonly version: string;
  readonly output: unknown;
  readonly artifacts: readonly ArtifactRef[];
  readonly durationMs: number;
  readonly sessionId?: string;
  /** The answer came from the cache. */
  readonly cached: boolean;
}

/** A pack's description for clients. Schemas are JSON Schema 2020-12. */
export interface PackInfo {
  readonly name: string;
  /** For people; defaults to the name. */
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema: Readonly<Record<string, unknown>>;
  readonly startsProcess: boolean;
  readonly effects?: PackEffects;
  readonly pages?: PackPages;
  readonly cached: boolean;
}

export interface PackEngine {
  /** Sorted by name. */
  list(): readonly PackInfo[];
  /** Throws a HelmdeckError whose code is the outcome in the audit row. */
  run(request: PackRequest): Promise<PackRun>;
  /** Accepts no more runs, and waits for those in progress and their audit rows. */
  close(): Promise<void>;
}
