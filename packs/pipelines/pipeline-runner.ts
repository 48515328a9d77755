/**
 * Runs pipelines in the background, and lets each caller follow and cancel its own runs.
 *
 * Threat: a caller guesses another caller's run id, or starts runs until nobody else gets a turn. Defence: a run is found only
 * by caller and id together, and both running and kept runs are counted per caller, so that no group of callers can block or
 * evict somebody else's run.
 */
import { randomBytes } from "node:crypto";
import type { PipelineAudit } from "../../engine/audit/audit-rows.ts";
import { learnableInputs } from "../../engine/audit/learnable.ts";
import { defined } from "../../engine/defined.ts";
import { asHelmdeckError, HelmdeckError, invalidField } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { countByCaller, hasRoom, shareOf } from "../../engine/fair-share.ts";
import type { UnixMs } from "../../engine/store/memory-store.ts";
import { type Namespace, namespaceOf, type Subject } from "../../engine/store/namespace.ts";
import { processTimer, systemClock, type Timer } from "../../engine/timing.ts";
import { progressTo } from "../engine/pack-context.ts";
import type { PackEngine } from "../engine/pack-contract.ts";
import type {
  Pipeline,
  PipelineRequest,
  PipelineRun,
  PipelineRunner,
  PipelineState,
  PipelineStep,
  PipelineStepRun,
} from "./pipeline-contract.ts";
import { fillIn, type Scope } from "./step-template.ts";

export interface PipelineRunnerOptions {
  /** Checked definitions with unique ids. */
  readonly pipelines: readonly Pipeline[];
  readonly packs: Pick<PackEngine, "list" | "run">;
  /** Writes the audit row of an ended run. */
  readonly record: (caller: Subject, row: PipelineAudit) => Promise<void>;
  /** Called if that fails; the run's outcome does not change. */
  readonly onRecordFailure?: (error: unknown) => void;
  readonly now?: () => UnixMs;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
  readonly makeRunId?: () => string;
  /** Time that `close` waits for runs before it cancels them; default 5 s. */
  readonly closeGraceMs?: number;
  readonly timer?: Timer;
}

const CLOSE_GRACE_MS = 5_000;

export const RUN_LIMITS = {
  underWayPerCaller: 8,
  /** For all callers together; at this limit each caller has an equal share. */
  underWay: 64,
  /** Ended runs are kept for this time, or until their caller has more than this number. */
  keptPerCaller: 50,
  keptMs: 3_600_000,
} as const;

export function createPipelineRunner(options: PipelineRunnerOptions): PipelineRunner {
  return new Runner(options);
}

interface Kept {
  readonly run: Run;
  readonly owner: Namespace;
  /** Resolves when the run has ended and its audit row is written. */
  readonly ended: Promise<void>;
  /** Monotonic milliseconds. */
  endedAt?: number;
}

class Runner implements PipelineRunner {
  readonly #options: PipelineRunnerOptions;
  readonly #pipelines: ReadonlyMap<string, Pipeline>;
  readonly #processPacks: ReadonlySet<string>;
  readonly #now: () => UnixMs;
  readonly #clock: () => number;
  /** By run id; ended runs in start order. */
  readonly #kept = new Map<string, Kept>();
  #closed = false;

  constructor(options: PipelineRunnerOptions) {
    this.#options = options;
    const sorted = options.pipelines.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    this.#pipelines = new Map(sorted.map((pipeline) => [pipeline.id, pipeline]));
    const starters = options.packs.list().filter(({ startsProcess }) => startsProcess);
    this.#processPacks = new Set(starters.map(({ name }) => name));
    this.#now = options.now ?? Date.now;
    this.#clock = options.clock ?? systemClock.now;
  }

  list(): readonly Pipeline[] {
    return [...this.#pipelines.values()];
  }

  async start(request: PipelineRequest): Promise<PipelineRun> {
    if (this.#closed)
      throw new HelmdeckError("cancelled", "This server is shutting down; no run was started.");
    const pipeline = this.#requirePipeline(request.pipeline);
    this.#requireAllowed(pipeline, request);
    const inputs = checkInputs(pipeline, request.inputs);
    const owner = namespaceOf(request.caller);
    this.#prune();
    this.#requireRoom(owner);
    const run = new Run({
      runId: (this.#options.makeRunId ?? makeRunId)(),
      pipeline,
      request,
      inputs,
      packs: this.#options.packs,
      startedAt: this.#now(),
      clock: this.#clock,
    });
    const kept: Kept = { run, owner, ended: this.#carryOut(run) };
    kept.ended.then(() => {
      kept.endedAt = this.#clock();
    });
    this.#kept.set(run.parts.runId, kept);
    return run.view();
  }

  get(caller: Subject, runId: string): PipelineRun | undefined {
    return this.#find(caller, runId)?.run.view();
  }

  async ended(caller: Subject, runId: string): Promise<PipelineRun> {
    const { run, ended } = this.#require(caller, runId);
    await ended;
    return run.view();
  }

  async cancel(caller: Subject, runId: string): Promise<PipelineRun> {
    const { run, ended } = this.#require(caller, runId);
    run.cancel();
    await ended;
    return run.view();
  }

  async close(): Promise<void> {
    this.#closed = true;
    const { closeGraceMs = CLOSE_GRACE_MS, timer = processTimer } = this.#options;
    const runs = [...this.#kept.values()];
    const hurry = timer(() => {
      for (const { run } of runs) run.cancel();
    }, closeGraceMs);
    await Promise.all(runs.map(({ ended }) => ended));
    hurry();
  }

  /** Never rejects. Only this function writes the row, so that there is exactly one, however the run ends. */
  async #carryOut(run: Run): Promise<void> {
    await run.execute();
    try {
      const now = this.#now();
      const { runId, pipeline, state, durationMs } = run.view();
      const learnt = learnableInputs(run.parts.inputs);
      await this.#options.record(run.parts.request.caller, {
        pipeline,
        run_id: runId,
        outcome: state,
        at_unix: Math.floor(now / 1_000),
        ...defined({ duration_ms: durationMs, learn_inputs: learnt }),
      });
    } catch (error) {
      this.#options.onRecordFailure?.(error);
    }
  }

  #requirePipeline(id: unknown): Pipeline {
    const pipeline = typeof id === "string" ? this.#pipelines.get(id) : undefined;
    if (pipeline !== undefined) return pipeline;
    throw new HelmdeckError("not_found", "There is no such pipeline. See the list of pipelines.");
  }

  #requireAllowed({ id, steps }: Pipeline, { authenticated }: PipelineRequest): void {
    const starter = authenticated ? undefined : steps.find(({ pack }) => this.#processPacks.has(pack));
    if (starter === undefined) return;
    throw new HelmdeckError(
      "forbidden",
      `${id} starts processes on this machine (${starter.pack}), so it runs for authenticated callers only.`,
      { details: { pipeline: id, pack: starter.pack } },
    );
  }

  #requireRoom(owner: Namespace): void {
    const underWay = [...this.#kept.values()].filter(({ endedAt }) => endedAt === undefined);
    const held = countByCaller(underWay.map((kept) => kept.owner));
    const limits = { perCaller: RUN_LIMITS.underWayPerCaller, total: RUN_LIMITS.underWay };
    if (hasRoom(owner, held, limits)) return;
    const limit = shareOf(owner, held, limits);
    throw new HelmdeckError(
      "rate_limited",
      `${held.get(owner)} of your runs are in progress, and ${limit} are allowed at the moment; wait for one to end.`,
      { details: { limit } },
    );
  }

  #prune(): void {
    const ended = [...this.#kept].filter(([, { endedAt }]) => endedAt !== undefined).toReversed();
    const since = this.#clock() - RUN_LIMITS.keptMs;
    const counts = new Map<Namespace, number>();
    for (const [runId, { owner, endedAt = 0 }] of ended) {
      const count = (counts.get(owner) ?? 0) + 1;
      counts.set(owner, count);
      if (endedAt <= since || count > RUN_LIMITS.keptPerCaller) this.#kept.delete(runId);
    }
  }

  #find(caller: Subject, runId: string): Kept | undefined {
    this.#prune();
    const kept = this.#kept.get(runId);
    return kept?.owner === namespaceOf(caller) ? kept : undefined;
  }

  #require(caller: Subject, runId: string): Kept {
    const kept = this.#find(caller, runId);
    if (kept !== undefined) return kept;
    throw new HelmdeckError("not_found", "You have no such run. Finished runs are kept for an hour.");
  }
}

/** The inputs with defaults; refuses unknown and missing ones. */
function checkInputs({ id, inputs }: Pipeline, given: unknown): Readonly<Record<string, unknown>> {
  if (given !== undefined && (typeof given !== "object" || given === null || Array.isArray(given))) {
    throw refuse(id, "inputs", "must be an object");
  }
  const members = new Map<string, unknown>(Object.entries(given ?? {}));
  for (const name of members.keys()) {
    if (!Object.hasOwn(inputs, name)) {
      const shown = harmlessLine(name).slice(0, 64);
      throw refuse(
        id,
        `inputs.${shown}`,
        `is not an input; the inputs are: ${Object.keys(inputs).join(", ") || "none"}`,
      );
    }
  }
  const filled = Object.entries(inputs).map(([name, input]) => {
    const value = members.get(name) ?? input.default;
    if (value === undefined && input.required) throw refuse(id, `inputs.${name}`, "is missing");
    return [name, value] as const;
  });
  return Object.fromEntries(filled.filter(([, value]) => value !== undefined));
}

function makeRunId(): string {
  return `run_${randomBytes(16).toString("hex")}`;
}

function refuse(pipeline: string, field: string, rule: string): HelmdeckError {
  return invalidField(field, `${rule}; nothing was run`, {
    named: `${field} of ${pipeline}`,
    details: { pipeline },
  });
}

/** Outputs of ended runs are kept for a while, so their size is limited. */
const OUTPUT_BYTES = 256 * 1_024;

interface RunParts {
  readonly runId: string;
  readonly pipeline: Pipeline;
  readonly request: PipelineRequest;
  /** Checked inputs, with defaults. */
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly packs: Pick<PackEngine, "run">;
  readonly startedAt: UnixMs;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
}

type Failure = NonNullable<PipelineRun["error"]>;

class Run {
  readonly parts: RunParts;
  readonly #begun: number;
  readonly #cancelling = new AbortController();
  readonly #listener: ReturnType<typeof progressTo>;
  readonly #steps: PipelineStepRun[];
  #state: PipelineState = "running";
  #durationMs: number | undefined;
  #output: unknown;
  #error: Failure | undefined;

  constructor(parts: RunParts) {
    this.parts = parts;
    this.#begun = parts.clock();
    this.#listener = progressTo(parts.request.onProgress);
    this.#steps = parts.pipeline.steps.map(({ id, pack }) => ({ id, pack, state: "waiting" }));
  }

  /** The current state. */
  view(): PipelineRun {
    const { runId, pipeline, startedAt } = this.parts;
    return {
      runId,
      pipeline: pipeline.id,
      state: this.#state,
      startedAt,
      ...defined({ durationMs: this.#durationMs }),
      steps: [...this.#steps],
      ...defined({ output: this.#output, error: this.#error }),
    };
  }

  /** Aborts the running pack and starts no further step. */
  cancel(): void {
    this.#cancelling.abort();
  }

  /** Runs until the end, whatever the outcome. Never throws. */
  async execute(): Promise<void> {
    try {
      const outputs = new Map<string, unknown>();
      const scope: Scope = { inputs: this.parts.inputs, outputs };
      let last: unknown;
      for (const [index, step] of this.parts.pipeline.steps.entries()) {
        last = await this.#runStep(index, step, scope);
        outputs.set(step.id, last);
      }
      const { output } = this.parts.pipeline;
      this.#output = await requireSmall(output === undefined ? last : fillIn(output, scope));
      this.#state = "succeeded";
    } catch (error) {
      this.#error = failureOf(error);
      this.#state = this.#stateAfter(this.#error);
    }
    this.#durationMs = Math.round(this.parts.clock() - this.#begun);
    this.#listener.stop();
  }

  /** A pack is also cancelled if the engine closes first. */
  #stateAfter({ code }: Failure): "cancelled" | "failed" {
    return this.#cancelling.signal.aborted || code === "cancelled" ? "cancelled" : "failed";
  }

  async #runStep(index: number, { id, pack, with: template }: PipelineStep, scope: Scope): Promise<unknown> {
    const begun = this.parts.clock();
    const note = (state: PipelineState, error?: Failure): void => {
      const durationMs = Math.round(this.parts.clock() - begun);
      this.#steps[index] = {
        id,
        pack,
        state,
        ...(state !== "running" && { durationMs }),
        ...defined({ error }),
      };
    };
    const { signal } = this.#cancelling;
    if (signal.aborted) throw new HelmdeckError("cancelled", "The run was cancelled.");
    note("running");
    // Every step counts equally, however long it takes.
    const steps = this.#steps.length;
    const onProgress = (done: number, message?: string) =>
      this.#listener.progress((index + done) / steps, message === undefined ? id : `${id}: ${message}`);
    onProgress(0);
    try {
      const { caller, authenticated } = this.parts.request;
      const input = fillIn(template, scope);
      const request = { pack, input, caller, authenticated, signal, onProgress };
      const { output } = await this.parts.packs.run(request);
      note("succeeded");
      return output;
    } catch (error) {
      const failure = failureOf(error);
      note(this.#stateAfter(failure), failure);
      throw error;
    }
  }
}

function failureOf(error: unknown): Failure {
  const { code, message } = asHelmdeckError(error);
  return { code, message };
}

function requireSmall(output: unknown): unknown {
  if (output === undefined || Buffer.byteLength(JSON.stringify(output)) <= OUTPUT_BYTES) return output;
  throw new HelmdeckError(
    "too_large",
    `The pipeline's output exceeds ${OUTPUT_BYTES} bytes of JSON; name a smaller part in its output.`,
    { details: { limit: OUTPUT_BYTES } },
  );
}
