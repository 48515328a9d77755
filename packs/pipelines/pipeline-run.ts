/** One run of a pipeline: executes its steps in order until one fails or the run is cancelled. */

import { defined } from "../../engine/defined.ts";
import { asHelmdeckError, HelmdeckError } from "../../engine/errors.ts";
import type { UnixMs } from "../../engine/store/memory-store.ts";
import { progressTo } from "../engine/pack-context.ts";
import type { PackEngine } from "../engine/pack-contract.ts";
import type {
  Pipeline,
  PipelineRequest,
  PipelineRun,
  PipelineState,
  PipelineStep,
  PipelineStepRun,
} from "./pipeline-contract.ts";
import { fillIn, type Scope } from "./step-template.ts";

/** Outputs of ended runs are kept for a while, so their size is limited. */
const OUTPUT_BYTES = 256 * 1_024;

export interface RunParts {
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

export class Run {
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
      this.#output = await this.#runSteps();
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

  async #runSteps(): Promise<unknown> {
    const outputs = new Map<string, unknown>();
    const scope: Scope = { inputs: this.parts.inputs, outputs };
    let last: unknown;
    for (const [index, step] of this.parts.pipeline.steps.entries()) {
      last = await this.#runStep(index, step, scope);
      outputs.set(step.id, last);
    }
    const { output } = this.parts.pipeline;
    return requireSmall(output === undefined ? last : fillIn(output, scope));
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
    const onProgress = this.#progressOf(index, id);
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

  /** Every step counts equally, however long it takes. */
  #progressOf(index: number, step: string): (done: number, message?: string) => void {
    const steps = this.#steps.length;
    return (done, message) =>
      this.#listener.progress((index + done) / steps, message === undefined ? step : `${step}: ${message}`);
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
