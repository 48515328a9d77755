/** Runs a plan step by step. The first failure ends it, and the exit code shows which part failed. */

import type { Environment } from "./environment.ts";
import type { Reporter, StepOutcome } from "./report.ts";
import type { OpenClaw } from "./run-openclaw.ts";
import { definitionOf, type Step } from "./steps/registry.ts";
import { EXIT, type ExitCode, type StepContext } from "./steps/step-definition.ts";

export interface Outcome {
  readonly exitCode: ExitCode;
  readonly steps: readonly StepOutcome[];
}

export async function execute(
  steps: readonly Step[],
  environment: Environment,
  openclaw: OpenClaw | undefined,
  reporter: Reporter,
): Promise<Outcome> {
  const { progress, warn } = reporter;
  const outcomes: StepOutcome[] = [];
  for (const step of steps) {
    const outcome = await runStep(step, { environment, openclaw, progress, warn }, reporter);
    outcomes.push(outcome);
    if (outcome.outcome === "failed") return { exitCode: definitionOf(step).exitCode, steps: outcomes };
  }
  return { exitCode: EXIT.done, steps: outcomes };
}

async function runStep(step: Step, context: StepContext, reporter: Reporter): Promise<StepOutcome> {
  const began = performance.now();
  const since = () => Math.round(performance.now() - began);
  reporter.begin(step);
  try {
    const remark = await recordAndRun(step, context);
    const outcome = {
      step,
      outcome: "done",
      ms: since(),
      ...(typeof remark === "string" ? { remark } : {}),
    } as const;
    reporter.done(outcome);
    return outcome;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const outcome = { step, outcome: "failed", ms: since(), error: message } as const;
    reporter.failed(outcome);
    return outcome;
  }
}

/** Records the change before the step and removes the record after it, so that a killed run can be continued or undone. */
async function recordAndRun(step: Step, context: StepContext): Promise<unknown> {
  const definition = definitionOf(step);
  const { journal } = context.environment;
  const changes = await definition.record?.(step, context);
  if (changes !== undefined) await journal.record(changes);
  const remark = await definition.run(step, context);
  await journal.remove(definition.forgets ?? []);
  return remark;
}
