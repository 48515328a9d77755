/** Types of pipelines (packs chained by templated inputs) and their runs. */

import type { UnixMs } from "../../engine/store/memory-store.ts";
import type { Subject } from "../../engine/store/namespace.ts";

export interface PipelineStep {
  readonly id: string;
  readonly pack: string;
  /** The pack's input; texts may contain `${{ inputs.name }}` and `${{ steps.id.output.path }}`. */
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
  /** Template for the output; default: the last step's output. */
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
  /** Progress of the whole run from 0 to 1, with the current step and its pack's message. */
  readonly onProgress?: (done: number, message?: string) => void;
}

export interface PipelineRunner {
  /** Sorted by id. */
  list(): readonly Pipeline[];
  /**
   * Checks the inputs, then runs in the background. Throws `not_found`, `invalid_input`, `forbidden` if a step starts a
   * process and the caller is not authenticated, `rate_limited` if too many runs are in progress, `cancelled` after `close`.
   */
  start(request: PipelineRequest): Promise<PipelineRun>;
  /** Undefined if this caller has no such run. Ended runs are kept for a while. */
  get(caller: Subject, runId: string): PipelineRun | undefined;
  /** Resolves to the ended run; throws `not_found`. */
  ended(caller: Subject, runId: string): Promise<PipelineRun>;
  /** Resolves when the run has ended, whatever its outcome; throws `not_found`. */
  cancel(caller: Subject, runId: string): Promise<PipelineRun>;
  /** Accepts no more runs, waits a while for those in progress, then cancels the rest. All audit rows are written. */
  close(): Promise<void>;
}
