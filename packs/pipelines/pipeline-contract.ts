/** What a pipeline is and how a run of one is followed: packs chained by templated inputs. */
import type { Subject, UnixMs } from "../../engine/index.ts";

export interface PipelineStep {
  readonly id: string;
  readonly pack: string;
  /** The pack's input; texts may hold `${{ inputs.name }}` and `${{ steps.id.output.path }}`. */
  readonly with: Readonly<Record<string, unknown>>;
}

export interface PipelineInput {
  readonly description?: string;
  readonly required: boolean;
  readonly default?: unknown;
}

export interface Pipeline {
  readonly id: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, PipelineInput>>;
  readonly steps: readonly PipelineStep[];
  /** Template of the answer; absent: the last step's output. */
  readonly output?: unknown;
}

export type PipelineState = "running" | "succeeded" | "failed" | "cancelled";

export interface PipelineStepRun {
  readonly id: string;
  readonly pack: string;
  readonly state: "waiting" | PipelineState;
  readonly durationMs?: number;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface PipelineRun {
  readonly runId: string;
  readonly pipeline: string;
  readonly state: PipelineState;
  readonly startedAt: UnixMs;
  readonly durationMs?: number;
  readonly steps: readonly PipelineStepRun[];
  readonly output?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface PipelineRequest {
  readonly pipeline: string;
  readonly inputs: unknown;
  readonly caller: Subject;
  readonly authenticated: boolean;
  /** Of the whole run, from 0 to 1, with the step that is at work and what its pack says. */
  readonly onProgress?: (done: number, message?: string) => void;
}

export interface PipelineRunner {
  /** In order of id. */
  list(): readonly Pipeline[];
  /**
   * Checks the inputs, then runs in the background. Throws `not_found`, `invalid_input`, `forbidden` when a step starts a
   * process and the caller is not authenticated, `rate_limited` when too many runs are under way, `cancelled` when closed.
   */
  start(request: PipelineRequest): Promise<PipelineRun>;
  /** Undefined when there is no such run of this caller (ended ones are kept for a while). */
  get(caller: Subject, runId: string): PipelineRun | undefined;
  /** The run as it ended; throws `not_found`. */
  ended(caller: Subject, runId: string): Promise<PipelineRun>;
  /** Resolves when the run has ended, however it ended; throws `not_found`. */
  cancel(caller: Subject, runId: string): Promise<PipelineRun>;
  /** Takes no more runs, waits a while for those under way, cancels those that take longer; all rows are written. */
  close(): Promise<void>;
}
