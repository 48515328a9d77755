/**
 * The pack engine: runs packs for callers, each run through one fixed pipeline, and writes down that it ran.
 *
 * Who attacks: a caller who wants a process started without being known, or begins runs without end; a handler that never
 * ends; a client that leaves so that nothing is written down. What stops them: who may run is decided before anything else, and
 * runs under way are bounded for each caller; the caller's wait ends with their signal, the deadline or the engine, whatever the
 * handler does; and the audit row is tied to none of these.
 * A handler is the operator's own code in this process: it can be left behind, not stopped by force.
 */
import {
  asHelmdeckError,
  defined,
  HelmdeckError,
  invalidField,
  type Limits,
  type MemoryStore,
  orAborted,
  type PackAudit,
  processTimer,
  SharedPlaces,
  type ShareLimits,
  type Subject,
  systemClock,
  type Timer,
  type UnixMs,
} from "../../engine/index.ts";
import { PACK_LIMITS } from "./define-pack.ts";
import { packAuditOf } from "./pack-audit.ts";
import { makeContext, progressTo } from "./pack-context.ts";
import type {
  ArtifactStore,
  Pack,
  PackEngine,
  PackInfo,
  PackRequest,
  PackRun,
  Session,
  SessionProvider,
} from "./pack-contract.ts";
import { PackFailure } from "./pack-failure.ts";
import { type RegisteredPack, registerPacks } from "./pack-registry.ts";
import { RunArtifacts } from "./run-artifacts.ts";
import { type CacheOptions, type CacheSlot, openSlot, type PackAnswer } from "./run-cache.ts";
import { closed, openRunLimits } from "./run-limits.ts";
import { SingleFlight, type Waiter } from "./single-flight.ts";
import { requireInput, requireOutput } from "./validate-run.ts";

/** The engine closes none of what it is given. */
export interface PackEngineOptions {
  readonly packs: readonly Pack[];
  /** Gate 1: without a store no pack has memory, and nothing is cached. */
  readonly store?: MemoryStore;
  /** Keeps the row of a run; absent: none are kept. */
  readonly recordRun?: (caller: Subject, row: PackAudit) => Promise<void>;
  readonly sessions: SessionProvider;
  readonly artifacts: ArtifactStore;
  readonly now: () => UnixMs;
  /** Milliseconds of a clock that is never set back, for durations. */
  readonly monotonicMs?: () => number;
  readonly timer?: Timer;
  /** A row that could not be kept. The run itself is answered all the same. */
  readonly onAuditFailure?: (error: HelmdeckError, row: PackAudit) => void;
  /** A cached answer that could not be read or written. The run itself goes on without. */
  readonly onCacheFailure?: (error: HelmdeckError, pack: string) => void;
  /** How long `close` waits for runs before it aborts them; default 5 s. */
  readonly closeGraceMs?: number;
  /** How long a handler may take to end by itself once its run is aborted; then it is left behind. Default 2 s. */
  readonly handlerGraceMs?: number;
  /** Runs under way. */
  readonly underWay?: ShareLimits;
}

/** Of cheap packs a client may well start a batch of requests at once, each with a batch of calls. */
const DEFAULT_UNDER_WAY: ShareLimits = { perCaller: 256, total: 1_024 };

const DEFAULT_CLOSE_GRACE_MS = 5_000;
const DEFAULT_HANDLER_GRACE_MS = 2_000;

/** Throws `invalid_input` when a pack is unsound or two have one name. */
export function createPackEngine(options: PackEngineOptions): PackEngine {
  return new Engine(options);
}

/** A request for a pack that there is, while it is under way. */
interface Run extends Waiter {
  readonly pack: Pack;
  readonly request: PackRequest;
}

interface Ended {
  readonly session?: string;
  readonly answer: PackAnswer;
}

class Engine implements PackEngine {
  readonly #options: PackEngineOptions;
  readonly #packs: ReadonlyMap<string, RegisteredPack>;
  readonly #cache: CacheOptions | undefined;
  readonly #timer: Timer;
  readonly #singleFlight = new SingleFlight<PackAnswer>();
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #places: SharedPlaces;
  readonly #abortAll = new AbortController();
  #closing: Promise<void> | undefined;

  constructor(options: PackEngineOptions) {
    const { store, artifacts, now, onCacheFailure = () => {} } = options;
    this.#options = options;
    this.#packs = registerPacks(options.packs, store !== undefined);
    this.#cache = store && { store, artifacts, now, onFailure: onCacheFailure };
    this.#timer = options.timer ?? processTimer;
    this.#places = new SharedPlaces(options.underWay ?? DEFAULT_UNDER_WAY);
  }

  list(): readonly PackInfo[] {
    return [...this.#packs.values()].map(({ info }) => info);
  }

  /** Without a row: a pack that there is not, a run after `close`, and one too many, which would be a row for each of a flood. */
  async run(request: PackRequest): Promise<PackRun> {
    if (this.#closing !== undefined) throw closed();
    const registered = this.#packs.get(request.pack);
    if (registered === undefined) throw notFound();
    const giveBack = this.#places.take(request.caller);
    if (giveBack === undefined) throw tooManyRuns();
    return this.#track(this.#recorded(registered.pack, request, giveBack));
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  /** Waits for the answer or for the run's limits, whichever is first, then writes the row, whatever came. */
  async #recorded(pack: Pack, request: PackRequest, hasEnded: () => void): Promise<PackRun> {
    const { now, monotonicMs = systemClock.now } = this.#options;
    const startedMs = monotonicMs();
    const limits = this.#openLimits(pack, request.signal);
    const listener = progressTo(request.onProgress);
    const run = { pack, request, signal: limits.signal, progress: listener.progress };
    // The caller's wait may be over before its run is.
    const pipeline = this.#track(this.#pipeline(run).finally(hasEnded));
    const ended = await settle(orAborted(pipeline, limits.signal));
    limits.release();
    listener.stop();
    const durationMs = Math.round(monotonicMs() - startedMs);
    const facts = { pack, input: request.input, endedAt: now(), durationMs };
    if (!ended.ok) {
      const { error } = ended;
      await this.#audit(request.caller, {
        ...facts,
        outcome: error.code,
        output: PackFailure.outputOf(error),
      });
      throw error;
    }
    const { answer, session } = ended.value;
    await this.#audit(request.caller, { ...facts, outcome: "ok", output: answer.output });
    return {
      pack: pack.name,
      version: pack.version,
      output: answer.output,
      artifacts: answer.artifacts,
      durationMs,
      ...defined({ sessionId: session }),
      cached: answer.cached,
    };
  }

  /**
   * The pipeline: every run takes these steps, in this order.
   *
   * Artifacts are collected before the cache is written, not after it as in helmdeck, so that a hit brings them too.
   */
  async #pipeline(run: Run): Promise<Ended> {
    requireAllowed(run);
    const input = await this.#withinGrace(requireInput(run.pack, run.request.input), run.signal);
    const session = await this.#acquireSession(run);
    try {
      const slot = this.#openSlot(run, input);
      const answer = await this.#shared(slot, run, async (waiter) => {
        const hit = await slot?.read();
        if (hit !== undefined) return hit;
        const artifacts = new RunArtifacts(this.#options.artifacts, run.request.caller);
        try {
          const made = await this.#withinGrace(
            this.#handle(run, waiter, session, artifacts, input),
            waiter.signal,
          );
          const output = await this.#withinGrace(requireOutput(run.pack, made), waiter.signal);
          const fresh = { output, artifacts: await artifacts.collect(), cached: false };
          waiter.signal.throwIfAborted(); // an answer that nobody awaits may be half of one
          await slot?.write(fresh);
          return fresh;
        } catch (error) {
          await artifacts.takeBack();
          throw error;
        }
      });
      return { answer, ...(session && { session: session.id }) };
    } finally {
      if (session !== undefined) await this.#options.sessions.release(session);
    }
  }

  async #acquireSession({ pack, request, signal }: Run): Promise<Session | undefined> {
    if (pack.session !== true) return undefined;
    const { caller, sessionId } = request;
    const asked = { caller, pack: pack.name, signal, ...defined({ sessionId }) };
    return this.#options.sessions.acquire(asked);
  }

  #openSlot({ pack, request }: Run, input: unknown): CacheSlot | undefined {
    return this.#cache && openSlot(this.#cache, pack, request.caller, input);
  }

  /** Runs that have one slot share one flight, with limits of its own; any other run flies alone. */
  #shared(
    slot: CacheSlot | undefined,
    run: Run,
    work: (waiter: Waiter) => Promise<PackAnswer>,
  ): Promise<PackAnswer> {
    if (slot === undefined) return work(run);
    return this.#singleFlight.join(slot.id, run, () => this.#openLimits(run.pack), work);
  }

  /** The pack's own code; once its run is aborted it has a little time to end by itself, then it is left behind. */
  #withinGrace<T>(packCode: Promise<T>, signal: AbortSignal): Promise<T> {
    const { handlerGraceMs = DEFAULT_HANDLER_GRACE_MS } = this.#options;
    return orAborted(packCode, signal, { timer: this.#timer, graceMs: handlerGraceMs });
  }

  async #handle(
    { pack, request }: Run,
    waiter: Waiter,
    session: Session | undefined,
    artifacts: RunArtifacts,
    input: unknown,
  ): Promise<unknown> {
    waiter.signal.throwIfAborted();
    const { caller } = request;
    const { now, store } = this.#options;
    const ec = makeContext({ pack, caller, waiter, now, artifacts: artifacts.sink, session, store });
    return pack.run(ec, input);
  }

  async #audit(caller: Subject, facts: Parameters<typeof packAuditOf>[0]): Promise<void> {
    const { recordRun, onAuditFailure } = this.#options;
    if (recordRun === undefined || facts.pack.audit === false) return;
    const row = packAuditOf(facts);
    try {
      await recordRun(caller, row);
    } catch (error) {
      onAuditFailure?.(asHelmdeckError(error), row);
    }
  }

  #openLimits(pack: Pack, caller?: AbortSignal): Limits {
    return openRunLimits({
      pack: pack.name,
      deadlineMs: pack.deadlineMs ?? PACK_LIMITS.defaultDeadlineMs,
      timer: this.#timer,
      closing: this.#abortAll.signal,
      caller,
    });
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const ended: Promise<void> = settle(work).then(() => {
      this.#underWay.delete(ended);
    });
    this.#underWay.add(ended);
    return work;
  }

  async #closeAll(): Promise<void> {
    const { closeGraceMs = DEFAULT_CLOSE_GRACE_MS } = this.#options;
    const cancelAbort = this.#timer(() => this.#abortAll.abort(), closeGraceMs);
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    await this.#singleFlight.settled();
    cancelAbort();
  }
}

/** Refused runs leave a row too: that somebody tried is worth knowing. */
function requireAllowed({ pack, request }: Run): void {
  if (pack.startsProcess === true && !request.authenticated) {
    throw new HelmdeckError(
      "forbidden",
      `${pack.name} starts processes, so it runs for authenticated callers only: send a token.`,
      { details: { pack: pack.name } },
    );
  }
  if (request.sessionId !== undefined && pack.session !== true) {
    throw invalidField("sessionId", "works without a session; leave the session out", { named: pack.name });
  }
}

function notFound(): HelmdeckError {
  return new HelmdeckError(
    "not_found",
    "There is no pack with that name. Names are exact: see the list of packs.",
  );
}

function tooManyRuns(): HelmdeckError {
  return new HelmdeckError("rate_limited", "You have too many runs in progress; wait for some to end.");
}

type Settled<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: HelmdeckError };

async function settle<T>(work: Promise<T>): Promise<Settled<T>> {
  try {
    return { ok: true, value: await work };
  } catch (error) {
    return { ok: false, error: asHelmdeckError(error) };
  }
}
