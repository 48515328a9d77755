/** Callers that wait until a namespace is embedded: notified after each step, and released when it is done or keeps failing. */
import type { HelmdeckError } from "../../engine/errors.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import type { StepFailure } from "./background-loop.ts";
import type { Coverage, EmbedRunOptions } from "./semantic-contract.ts";

interface EmbedRun extends EmbedRunOptions {
  readonly namespace: Namespace;
  readonly end: (failure: HelmdeckError | undefined) => void;
}

export interface Progress {
  coverage(namespace: Namespace): Coverage;
  isDone(namespace: Namespace): boolean;
}

export class EmbedRuns {
  readonly #progress: Progress;
  readonly #runs = new Set<EmbedRun>();

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  begin(namespace: Namespace, options: EmbedRunOptions): Promise<HelmdeckError | undefined> {
    const { promise, resolve } = Promise.withResolvers<HelmdeckError | undefined>();
    this.#runs.add({ ...options, namespace, end: resolve });
    this.afterStep();
    return promise;
  }

  afterStep(failure?: StepFailure): void {
    for (const run of this.#runs) {
      run.onProgress?.(this.#progress.coverage(run.namespace));
      const hasFailed = failure !== undefined && failure.inARow >= run.mostFailures;
      if (!hasFailed && !this.#progress.isDone(run.namespace)) continue;
      this.#runs.delete(run);
      run.end(hasFailed ? failure.error : undefined);
    }
  }
}
