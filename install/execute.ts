/** Runs a plan: one step after the other, the first failure ends it, and the exit code says in whose part it was. */

import type { World } from "./environment.ts";
import type { OpenClaw } from "./openclaw-commands.ts";
import type { Reporter } from "./report.ts";
import { prove } from "./smoke-test/smoke-test.ts";
import type { Work } from "./step-context.ts";
import * as noteSteps from "./steps/notes.ts";
import * as openclawSteps from "./steps/openclaw-steps.ts";
import * as purgeSteps from "./steps/purge-data.ts";
import * as settingSteps from "./steps/settings-steps.ts";
import * as sidecarSteps from "./steps/sidecar-steps.ts";
import {
  EXIT,
  type ExitCode,
  exitCodeOf,
  type Step,
  type StepKind,
  type StepOutcome,
} from "./steps/step-kinds.ts";

type Runners = {
  readonly [Kind in StepKind]: (
    step: Extract<Step, { kind: Kind }>,
    work: Work,
  ) => Promise<string | undefined> | Promise<void>;
};

export interface Outcome {
  readonly exitCode: ExitCode;
  readonly steps: readonly StepOutcome[];
}

const RUNNERS: Runners = {
  "create-network": sidecarSteps.createNetwork,
  "start-sidecar": sidecarSteps.startSidecar,
  "pull-model": sidecarSteps.pullModel,
  "check-embedding": sidecarSteps.checkEmbedding,
  "check-from-container": sidecarSteps.checkFromContainer,
  "stop-sidecar": sidecarSteps.stopSidecar,
  "remove-network": sidecarSteps.removeNetwork,
  "make-key": openclawSteps.makeKey,
  "back-up-config": openclawSteps.backUpConfig,
  "install-plugin": openclawSteps.installPlugin,
  "attach-container": openclawSteps.attachContainer,
  "point-facts": settingSteps.pointFacts,
  "restore-facts": settingSteps.restoreFacts,
  "point-search": settingSteps.pointSearch,
  "restore-search": settingSteps.restoreSearch,
  "index-notes": noteSteps.indexNotes,
  "uninstall-plugin": openclawSteps.uninstallPlugin,
  "restore-config-copy": openclawSteps.restoreConfigCopy,
  "detach-container": openclawSteps.detachContainer,
  "delete-memory": purgeSteps.deleteMemory,
  "delete-memory-in-container": purgeSteps.deleteMemoryInContainer,
  "forget-journal": purgeSteps.forgetJournal,
  prove,
};

export async function execute(
  steps: readonly Step[],
  world: World,
  openclaw: OpenClaw | undefined,
  reporter: Reporter,
): Promise<Outcome> {
  const outcomes: StepOutcome[] = [];
  for (const step of steps) {
    const outcome = await runStep(step, world, openclaw, reporter);
    outcomes.push(outcome);
    if (outcome.outcome === "failed") return { exitCode: exitCodeOf(step), steps: outcomes };
  }
  return { exitCode: EXIT.done, steps: outcomes };
}

async function runStep(
  step: Step,
  world: World,
  openclaw: OpenClaw | undefined,
  reporter: Reporter,
): Promise<StepOutcome> {
  const began = performance.now();
  const since = () => Math.round(performance.now() - began);
  reporter.begin(step);
  const { progress, warn } = reporter;
  try {
    const remark = await runnerOf(step)(step, { world, openclaw, progress, warn });
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

/** The table has for each kind the runner of that kind; TypeScript cannot follow the pair through a lookup. */
function runnerOf({ kind }: Step): (step: Step, work: Work) => Promise<unknown> {
  return RUNNERS[kind] as (step: Step, work: Work) => Promise<unknown>;
}
