/**
 * The pack engine: runs packs for callers through one fixed sequence of steps, and writes an audit row for each run.
 *
 * Threat: a caller starts a process without authentication, or starts endless runs; a handler never ends; a client disconnects
 * to avoid the audit. Defence: permission is checked first, and each caller's concurrent runs are limited; a caller's wait ends
 * with its signal, the deadline or the engine's close, whatever the handler does; the audit row depends on none of these.
 * A handler is the operator's own code in this process: it can be abandoned, but not stopped by force.
 */

import type { PackAudit } from "../../engine/audit/audit-rows.ts";
import { findingsOf } from "../../engine/audit/findings.ts";
import { learnableInputs } from "../../engine/audit/learnable.ts";
import { defined } from "../../engine/defined.ts";
import { asHelmdeckError, type ErrorCode, HelmdeckError, invalidField } from "../../engine/errors.ts";
import { SharedPlaces, type ShareLimits } from "../../engine/fair-share.ts";
import type { MemoryStore, UnixMs } from "../../engine/store/memory-store.ts";
import type { Subject } from "../../engine/store/namespace.ts";
import { type Limits, orAborted, processTimer, systemClock, type Timer } from "../../engine/timing.ts";
import {
  PACK_LIMITS,
  PackFailure,
  type RegisteredPack,
  registerPacks,
  requireInput,
  requireOutput,
} from "./define-pack.ts";
import { closed, makeContext, openRunLimits, progressTo, RunArtifacts } from "./pack-context.ts";
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
import { type CacheOptions, type CacheSlot, openSlot, type PackAnswer } from "./run-cache.ts";
import { SingleFlight, type Waiter } from "./single-flight.ts";

/** The engine closes none of its parts. */
export interface PackEngineOptions {
  readonly packs: readonly Pack[];
  /** Gate 1: without a store, no pack has memory and nothing is cached. */
  readonly store?: MemoryStore;
  /** Stores a run's audit row. Absent: no rows are stored. */
  readonly recordRun?: (caller: Subject, row: PackAudit) => Promise<void>;
  readonly sessions: SessionProvider;
  readonly artifacts: ArtifactStore;
  readonly now: () => UnixMs;
  /** Monotonic milliseconds, for durations. */
  readonly monotonicMs?: () => number;
  readonly timer?: Timer;
  /** Called for a row that could not be stored. The run is answered anyway. */
  readonly onAuditFailure?: (error: HelmdeckError, row: PackAudit) => void;
  /** Called for a failed cache read or write. The run continues without the cache. */
  readonly onCacheFailure?: (error: HelmdeckError, pack: string) => void;
  /** Time that `close` waits for runs before it aborts them; default 5 s. */
  readonly closeGraceMs?: number;
  /** Limits for concurrent runs. */
  readonly underWay?: ShareLimits;
}

/** High enough for a client that sends several batches of cheap calls at once. */
const DEFAULT_UNDER_WAY: ShareLimits = { perCaller: 256, total: 1_024 };

const DEFAULT_CLOSE_GRACE_MS = 5_000;
/** Time for a handler to end after its run was aborted; then it is abandoned. */
const HANDLER_GRACE_MS = 2_000;

/** Throws `invalid_input` if a pack is invalid or two packs have the same name. */
export function createPackEngine(options: PackEngineOptions): PackEngine {
  return new Engine(options);
}

/** A request for an existing pack, in progress. */
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

  /** No audit row for an unknown pack, a run after `close`, or a run over the limit: a flood would write a row each. */
  async run(request: PackRequest): Promise<PackRun> {
    if (this.#closing !== undefined) throw closed();
    const registered = this.#packs.get(request.pack);
    if (registered === undefined)
      throw new HelmdeckError(
        "not_found",
        "There is no pack with this name. Names must match exactly: see the list of packs.",
      );
    const giveBack = this.#places.take(request.caller);
    if (giveBack === undefined)
      throw new HelmdeckError("rate_limited", "You have too many runs in progress; wait for some to end.");
    return this.#track(this.#recorded(registered.pack, request, giveBack));
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  /** Waits for the answer or the run's limits, whichever comes first, and always writes the row. */
  async #recorded(pack: Pack, request: PackRequest, hasEnded: () => void): Promise<PackRun> {
    const { now, monotonicMs = systemClock.now } = this.#options;
    const startedMs = monotonicMs();
    const limits = this.#openLimits(pack, request.signal);
    const listener = progressTo(request.onProgress);
    const run = { pack, request, signal: limits.signal, progress: listener.progress };
    // The caller's wait may end before its run does.
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
   * Every run takes these steps, in this order.
   *
   * Artifacts are collected before the cache is written (helmdeck does it after), so that a cache hit includes them.
   */
  async #pipeline(run: Run): Promise<Ended> {
    // Refused runs leave an audit row too.
    const { pack, request } = run;
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
    const input = await this.#withinGrace(requireInput(run.pack, run.request.input), run.signal);
    const session = await this.#acquireSession(run);
    try {
      const slot = this.#cache && openSlot(this.#cache, run.pack, run.request.caller, input);
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
          waiter.signal.throwIfAborted(); // the answer of an aborted run may be incomplete
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

  /** Runs with the same cache slot share one execution with its own limits; any other run executes separately. */
  #shared(
    slot: CacheSlot | undefined,
    run: Run,
    work: (waiter: Waiter) => Promise<PackAnswer>,
  ): Promise<PackAnswer> {
    if (slot === undefined) return work(run);
    return this.#singleFlight.join(slot.id, run, () => this.#openLimits(run.pack), work);
  }

  /** Runs the pack's handler. After an abort it has a short time to end, then it is abandoned. */
  #withinGrace<T>(packCode: Promise<T>, signal: AbortSignal): Promise<T> {
    return orAborted(packCode, signal, { timer: this.#timer, graceMs: HANDLER_GRACE_MS });
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

async function settle<T>(work: Promise<T>) {
  try {
    return { ok: true as const, value: await work };
  } catch (error) {
    return { ok: false as const, error: asHelmdeckError(error) };
  }
}

interface EndedRun {
  readonly pack: Pack;
  readonly input: unknown;
  readonly outcome: "ok" | ErrorCode;
  readonly endedAt: UnixMs;
  readonly durationMs: number;
  /** For a successful run, and for a failed run with findings. */
  readonly output?: unknown;
}

/** The audit row of one run: pack, outcome and duration, never the input's or output's text. */
function packAuditOf({ pack, input, outcome, endedAt, durationMs, output }: EndedRun): PackAudit {
  const learnt = learnableInputs(input);
  const findings = findingsOf(output);
  return {
    pack: pack.name,
    version: pack.version,
    outcome,
    at_unix: Math.floor(endedAt / 1_000),
    duration_ms: durationMs,
    ...defined({ learn_inputs: learnt }),
    ...(findings.length > 0 && { findings }),
  };
}
