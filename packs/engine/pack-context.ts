/** Makes a handler's context for one run. Its session starts processes only if the pack declares it. */
import { HelmdeckError } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import type { MemoryStore, UnixMs } from "../../engine/store/memory-store.ts";
import { namespaceOf, type Subject } from "../../engine/store/namespace.ts";
import type { ArtifactSink, Pack, PackContext, Session } from "./pack-contract.ts";
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
