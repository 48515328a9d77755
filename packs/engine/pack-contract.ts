/** What a pack is, what it is given while it runs, and what the engine answers: the contract for pack authors. */
import type { $ZodType } from "zod/v4/core";
import type { Fingerprint, Subject, UnixMs } from "../../engine/index.ts";

/** Opting in to memory: without this a pack has no hooks at all, and runs as it would without a store. */
export interface PackMemoryPolicy {
  /** Answer a repeated input from the cache. Needs `ttlSeconds`, and is refused for a pack that carries credentials. */
  readonly cache?: boolean;
  /** How long cached answers live, and the default for what the handler stores. */
  readonly ttlSeconds?: number;
  /** Of what the handler stores; cached answers are in `cache` unless this says otherwise. */
  readonly category?: string;
}

/** What a run does, for clients that ask a person before it. What is not said is taken for the worse. */
export interface PackEffects {
  /** Changes nothing but the cache and the audit row. */
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
  /** `1.2.0`; another version is another cache. */
  readonly version: string;
  /** What a person is shown in place of the name; absent: the name. */
  readonly title?: string;
  /** For a person and for a model, in a sentence or two. */
  readonly description: string;
  readonly input: $ZodType<Input>;
  readonly output: $ZodType<Output>;
  /** Needs a working folder with a process runner. */
  readonly session?: true;
  readonly memory?: PackMemoryPolicy;
  /** `false`: runs leave no audit row, as for packs whose subject is memory itself. */
  readonly audit?: false;
  /** The answer depends on a secret of the caller or the operator, so it is never cached. */
  readonly credentials?: true;
  /** Starts processes on this machine, so it runs for authenticated callers only. */
  readonly startsProcess?: true;
  readonly effects?: PackEffects;
  /** Longest time for one run; default 2 minutes. */
  readonly deadlineMs?: number;
  run(ec: PackContext, input: Input): Promise<Output>;
}

/** What a handler works with. `memory` and `callerMemory` are absent unless a store is wired and the pack opted in. */
export interface PackContext {
  readonly caller: Subject;
  /** Aborted when the caller cancels or leaves, and when the deadline has passed. */
  readonly signal: AbortSignal;
  readonly now: () => UnixMs;
  readonly artifacts: ArtifactSink;
  /** Present when the pack asked for one. */
  readonly session?: Session;
  /** Notes of the caller; inside a session, of that session only. */
  readonly memory?: PackMemory;
  /** Notes of the caller that outlive the session. The same as `memory` outside one. */
  readonly callerMemory?: PackMemory;
  /** `done` from 0 to 1; shown to a caller who waits. Never a stored value or a secret. */
  progress(done: number, message?: string): void;
}

/** A pack's notes (ADR 039): its own origin, so that they are no facts, no corpus, and never meet a fact's key. */
export interface PackMemory {
  namespace(): string;
  store(key: string, value: string, options?: PackNoteOptions): Promise<void>;
  /** Undefined when there is none, or it has expired. */
  recall(key: string): Promise<PackNote | undefined>;
  /** Newest first; `prefix` compares bytes and has no wildcards. */
  list(prefix?: string): Promise<readonly PackNote[]>;
  /** True when there was one. */
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

/** A working folder of one caller, with a process runner. */
export interface Session {
  readonly id: string;
  /** Absolute; only this session's processes work in it. */
  readonly folder: string;
  /** Runs one program without a shell. A non-zero end is an answer, not an error. */
  run(program: string, args: readonly string[], options?: ProcessOptions): Promise<ProcessResult>;
}

export interface ProcessOptions {
  /** Below the session's folder. */
  readonly cwd?: string;
  /** The whole environment: nothing is inherited but PATH, LANG and a HOME inside the session. */
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
  /** More was written than is kept (1 MiB of each). */
  readonly truncated: boolean;
}

export interface SessionRequest {
  readonly caller: Subject;
  readonly pack: string;
  /** Go on in this open session of the same caller; absent: a fresh one that ends with the run. */
  readonly sessionId?: string;
  readonly signal: AbortSignal;
}

export interface SessionProvider {
  /** Throws `session_unavailable`, or `not_found` for a session that is not open for this caller. */
  acquire(request: SessionRequest): Promise<Session>;
  /** Ends its processes; a session that nobody asked to keep loses its folder. Never throws. */
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

/** Where a handler puts what it made; collected at the end of the run. Throws `artifact_refused` beyond a size cap. */
export interface ArtifactSink {
  put(artifact: NewArtifact): Promise<ArtifactRef>;
}

export interface ArtifactStore {
  put(caller: Subject, artifact: NewArtifact): Promise<ArtifactRef>;
  /** Undefined when it is not there or not this caller's. */
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
  /** A token or the operator's shell vouches for the caller. */
  readonly authenticated: boolean;
  readonly sessionId?: string;
  /** Fires when the caller cancels or leaves. */
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

/** What a client is told of a pack. Schemas are JSON Schema 2020-12. */
export interface PackInfo {
  readonly name: string;
  /** For people; the name where the pack has none. */
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema: Readonly<Record<string, unknown>>;
  readonly startsProcess: boolean;
  readonly effects?: PackEffects;
  readonly cached: boolean;
}

export interface PackEngine {
  /** In order of name. */
  list(): readonly PackInfo[];
  /** Throws a HelmdeckError whose code is the outcome in the audit row. */
  run(request: PackRequest): Promise<PackRun>;
  /** Takes no more runs, and waits for those under way and their audit rows. */
  close(): Promise<void>;
}
