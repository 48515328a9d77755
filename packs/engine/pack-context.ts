/**
 * A handler's context for one run: its session, which starts processes only if the pack declares it, and its notes (ec.memory)
 * over the store, for one namespace.
 *
 * Threat: somebody controls a handler's input, and through it a key, a tag or a value. Defence: the origin is always `pack` and
 * the namespace is fixed here, so no key can reach a fact, an audit row, a cached answer or another caller; sizes and
 * characters have the same limits as facts. All packs of an engine share a caller's notes (docs/decisions/0018): packs are the
 * operator's own code in one process, so a separation would protect nothing.
 */

import { defined } from "../../engine/defined.ts";
import { HelmdeckError, invalidField } from "../../engine/errors.ts";
import {
  checkCategory,
  checkTags,
  FACT_LIMITS,
  refuseHostile,
  refuseLong,
  textOf,
} from "../../engine/facts/facts-policy.ts";
import { harmlessLine, problemOfName } from "../../engine/facts/hostile-text.ts";
import { pagesOf } from "../../engine/pages-of.ts";
import type { Entry, MemoryStore, UnixMs } from "../../engine/store/memory-store.ts";
import { type Namespace, namespaceOf, type Subject } from "../../engine/store/namespace.ts";
import { type Limits, openLimits, type Timer } from "../../engine/timing.ts";
import { isWholeWithin, PACK_LIMITS } from "./define-pack.ts";
import type {
  ArtifactRef,
  ArtifactSink,
  ArtifactStore,
  NewArtifact,
  Pack,
  PackContext,
  PackMemory,
  PackMemoryPolicy,
  PackNote,
  PackNoteMeta,
  PackNoteOptions,
  Session,
} from "./pack-contract.ts";
import type { Progress, Waiter } from "./single-flight.ts";

const PROGRESS_CHARACTERS = 200;

interface ContextParts {
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
      if (pack.startsProcess !== true)
        throw new HelmdeckError(
          "forbidden",
          `${pack.name} may not start processes: it is not declared with startsProcess.`,
          { details: { pack: pack.name } },
        );
      const signals = options.signal === undefined ? [signal] : [signal, options.signal];
      return session.run(program, args, { ...options, signal: AbortSignal.any(signals) });
    },
  };
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

interface RunLimitsOptions {
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

/** Maximum number of notes that `list` returns. */
const MOST_LISTED_NOTES = 1_000;
/** Maximum number of notes that `context` returns. */
const CONTEXT_NOTES = 50;

const PAGE = 100;

interface NotesOptions {
  readonly store: MemoryStore;
  readonly namespace: Namespace;
  readonly policy: PackMemoryPolicy;
  readonly now: () => UnixMs;
}

/** Methods throw the store's errors. An invalid key is a miss. */
function openNotes({ store, namespace, policy, now }: NotesOptions): PackMemory {
  const refTo = (key: string) => ({ namespace, origin: "pack", key }) as const;
  return {
    namespace: () => namespace,
    store: async (key, value, options = {}) => {
      const { ttlSeconds, ...note } = checkNote(key, value, options, policy);
      await store.put({ ...refTo(note.key), ...note, expiresAt: now() + ttlSeconds * 1_000 });
    },
    recall: async (key) => {
      const name = keyOfNote(key);
      const entry = name === undefined ? undefined : await store.get(refTo(name));
      return entry && noteOf(entry);
    },
    list: async (prefix) => (await listNotes(store, namespace, prefix)).map(noteOf),
    delete: async (key) => {
      const name = keyOfNote(key);
      return name !== undefined && (await store.delete(refTo(name))).deleted > 0;
    },
    context: async () => {
      // A fingerprint is computed from the value and not stored in clear, so these fifty entries are decrypted.
      const { entries } = await store.list({ namespace, origin: "pack", limit: CONTEXT_NOTES });
      return { namespace, entries: groupByCategory(entries) };
    },
  };
}

async function listNotes(
  store: MemoryStore,
  namespace: Namespace,
  prefix: string | undefined,
): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  const query = { namespace, origin: "pack", limit: PAGE, ...(prefix && { prefix }) } as const;
  for await (const { entries } of pagesOf((more) => store.list({ ...query, ...more }))) {
    found.push(...entries);
    if (found.length >= MOST_LISTED_NOTES) break;
  }
  return found.slice(0, MOST_LISTED_NOTES);
}

function groupByCategory(entries: readonly Entry[]): Readonly<Record<string, readonly PackNoteMeta[]>> {
  const groups = Map.groupBy(entries, ({ category }) => category);
  return Object.fromEntries([...groups].map(([category, group]) => [category, group.map(metaOf)]));
}

function noteOf(entry: Entry): PackNote {
  return { ...metaOf(entry), value: Buffer.from(entry.value).toString() };
}

function metaOf({ key, category, tags, createdAt, updatedAt, expiresAt, fingerprint }: Entry): PackNoteMeta {
  return {
    key,
    category,
    tags,
    createdAt,
    updatedAt,
    ...defined({ expiresAt }),
    fingerprint,
  };
}

/** 30 days, as in helmdeck. */
const DEFAULT_NOTE_TTL_SECONDS = 2_592_000;
const DEFAULT_NOTE_CATEGORY = "notes";

/**
 * Limits of a pack's notes: those of facts, but keys and values are stored unchanged, as programs expect.
 *
 * The note with the pack's defaults. Throws `invalid_input` with the field and its limit.
 */
function checkNote(key: unknown, value: unknown, options: PackNoteOptions, policy: PackMemoryPolicy) {
  const name = textOf("key", key);
  if (name === "")
    throw invalidField("key", "is missing; begin it with the pack's name, such as swe.solve/notes");
  refuseLong("key", name, FACT_LIMITS.keyBytes, "shorten it");
  refuseHostile("key", name);
  const text = textOf("value", value);
  refuseLong("value", text, FACT_LIMITS.valueBytes, "keep a summary, or an artifact");
  if (!text.isWellFormed())
    throw invalidField("value", "holds half of a surrogate pair, which is not Unicode text");
  return {
    key: name,
    value: Buffer.from(text),
    category: checkCategory(options.category ?? policy.category ?? DEFAULT_NOTE_CATEGORY),
    tags: checkTags(options.tags),
    ttlSeconds: checkNoteTtl(options.ttlSeconds ?? policy.ttlSeconds ?? DEFAULT_NOTE_TTL_SECONDS),
  };
}

/** The key, or undefined if no note can have it. For lookups, where a miss is not an error. */
function keyOfNote(key: unknown): string | undefined {
  const fits = typeof key === "string" && key !== "" && Buffer.byteLength(key) <= FACT_LIMITS.keyBytes;
  return fits && problemOfName(key) === undefined ? key : undefined;
}

function checkNoteTtl(ttlSeconds: unknown): number {
  const { leastTtlSeconds, mostTtlSeconds } = PACK_LIMITS;
  if (isWholeWithin(ttlSeconds, leastTtlSeconds, mostTtlSeconds)) return ttlSeconds;
  throw invalidField(
    "ttlSeconds",
    `must be whole seconds from ${leastTtlSeconds} to ${mostTtlSeconds} (a year)`,
  );
}
