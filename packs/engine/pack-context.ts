/** Makes a handler's context for one run. Its session starts processes only if the pack declares it. */
import { HelmdeckError } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import type { MemoryStore, UnixMs } from "../../engine/store/memory-store.ts";
import { namespaceOf, type Subject } from "../../engine/store/namespace.ts";
import { type Limits, openLimits, type Timer } from "../../engine/timing.ts";
import type {
  ArtifactRef,
  ArtifactSink,
  ArtifactStore,
  NewArtifact,
  Pack,
  PackContext,
  Session,
} from "./pack-contract.ts";
import { openNotes } from "./pack-notes.ts";
import type { Progress, Waiter } from "./single-flight.ts";

const PROGRESS_CHARACTERS = 200;

export interface ContextParts {
  readonly pack: Pack;
  readonly caller: Subject;
  readonly waiter: Waiter;
  readonly now: () => UnixMs;
  readonly artifacts: ArtifactSink;
  readonly session: Session | undefined;
  /** Gate 1. */
  readonly store: MemoryStore | undefined;
}

export function makeContext(parts: ContextParts): PackContext {
  const { pack, caller, waiter, now, artifacts, session } = parts;
  return Object.freeze({
    caller,
    signal: waiter.signal,
    now,
    artifacts,
    ...(session && { session: guardSession(pack, session, waiter.signal) }),
    ...openMemory(parts),
    progress: waiter.progress,
  });
}

/** Reports progress to the caller until the run ends: numbers from 0 to 1 and safe text. */
export function progressTo(listener: Progress | undefined): { readonly progress: Progress; stop(): void } {
  let current = listener;
  const progress: Progress = (done, message) => {
    if (current === undefined || Number.isNaN(done)) return;
    const line = message === undefined ? [] : [harmlessLine(message).slice(0, PROGRESS_CHARACTERS)];
    try {
      current(Math.min(1, Math.max(0, done)), ...line);
    } catch {
      // A listener that fails must not fail the run.
    }
  };
  return {
    progress,
    stop: () => {
      current = undefined;
    },
  };
}

/** Both gates: without a store, or without `memory` on the pack, these fields are absent. */
function openMemory({
  pack,
  caller,
  store,
  session,
  now,
}: ContextParts): Pick<PackContext, "memory" | "callerMemory"> {
  const policy = pack.memory;
  if (store === undefined || policy === undefined) return {};
  const callerMemory = openNotes({ store, namespace: namespaceOf(caller), policy, now });
  if (session === undefined) return { memory: callerMemory, callerMemory };
  return {
    memory: openNotes({ store, namespace: namespaceOf(caller, session.id), policy, now }),
    callerMemory,
  };
}

/** Processes end with the run. Only packs that declare it may start them, because other packs run for callers without a token. */
function guardSession(pack: Pack, session: Session, signal: AbortSignal): Session {
  return {
    id: session.id,
    folder: session.folder,
    run: async (program, args, options = {}) => {
      if (pack.startsProcess !== true) throw undeclared(pack);
      const signals = options.signal === undefined ? [signal] : [signal, options.signal];
      return session.run(program, args, { ...options, signal: AbortSignal.any(signals) });
    },
  };
}

function undeclared(pack: Pack): HelmdeckError {
  return new HelmdeckError(
    "forbidden",
    `${pack.name} may not start processes: it is not declared with startsProcess.`,
    { details: { pack: pack.name } },
  );
}

/** The artifacts of one run: stored at once, and deleted if the run fails. */
export class RunArtifacts {
  readonly #store: ArtifactStore;
  readonly #caller: Subject;
  readonly #putting: Promise<ArtifactRef>[] = [];
  #open = true;

  constructor(store: ArtifactStore, caller: Subject) {
    this.#store = store;
    this.#caller = caller;
  }

  /** The sink that the handler sees. */
  readonly sink: ArtifactSink = { put: (artifact) => this.#put(artifact) };

  /** All stored artifacts in order, without refused ones. Accepts no more afterwards. */
  async collect(): Promise<readonly ArtifactRef[]> {
    this.#open = false;
    const settled = await Promise.allSettled(this.#putting);
    return settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }

  /** Best effort: the artifact store expires anything that cannot be deleted now. */
  async takeBack(): Promise<void> {
    const refs = await this.collect();
    await Promise.allSettled(refs.map(({ id }) => this.#store.delete(this.#caller, id)));
  }

  #put(artifact: NewArtifact): Promise<ArtifactRef> {
    if (!this.#open) return Promise.reject(cancelled());
    const putting = this.#store.put(this.#caller, artifact);
    putting.catch(() => {}); // a handler that does not await this must not crash the process
    this.#putting.push(putting);
    return putting;
  }
}

export interface RunLimitsOptions {
  readonly pack: string;
  readonly deadlineMs: number;
  readonly timer: Timer;
  /** Fires when the engine stops waiting. */
  readonly closing: AbortSignal;
  /** Fires when the caller cancels or leaves. */
  readonly caller?: AbortSignal | undefined;
}

/** Limits of a run: it ends when its caller disconnects, its deadline passes, or the engine closes. */
export function openRunLimits({ pack, deadlineMs, timer, closing, caller }: RunLimitsOptions): Limits {
  const until = [[closing, closed] as const, [caller, cancelled] as const];
  return openLimits({ timer, deadlineMs, tooLate: () => deadlineExceeded(pack, deadlineMs), until });
}

function cancelled(): HelmdeckError {
  return new HelmdeckError("cancelled", "The run was cancelled, or its caller disconnected before it ended.");
}

/** For runs that start too late, and for those that do not end in time. */
export function closed(): HelmdeckError {
  return new HelmdeckError("cancelled", "This server is shutting down; try again when it is back.");
}

function deadlineExceeded(pack: string, deadlineMs: number): HelmdeckError {
  const message = `${pack} did not end within its deadline of ${deadlineMs} ms.`;
  return new HelmdeckError("deadline_exceeded", message, { details: { pack, deadlineMs } });
}
