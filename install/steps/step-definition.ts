/** The definition of a step: its texts, its journal record, its work and its undo. */

import { HelmdeckError } from "../../engine/errors.ts";
import type { Environment } from "../environment.ts";
import type { DockerReady, JournalFacts, OpenClawReady } from "../installation-facts.ts";
import type { JournalChanges, JournalEntries } from "../journal.ts";
import type { OpenClaw } from "../run-openclaw.ts";

export interface Definition<Step extends { readonly kind: string }> {
  readonly kind: Step["kind"];
  /** The step's title for a person. */
  title(step: Step): string;
  /** What a person should know before agreeing. */
  detail?(step: Step): string | undefined;
  /** The exit code of a run in which it failed. */
  readonly exitCode: ExitCode;
  /** The journal record written before it runs, so that a killed run can be continued or undone. */
  record?(step: Step, context: StepContext): JournalChanges | Promise<JournalChanges>;
  /** Runs the step, and may return a remark for its line. */
  run(step: Step, context: StepContext): Promise<string | undefined> | Promise<void>;
  /** The journal records removed after it has run. */
  readonly forgets?: readonly (keyof JournalEntries)[];
}

export interface StepDefinition<
  Step extends { readonly kind: string },
  UndoStep extends { readonly kind: string } = never,
> extends Definition<Step> {
  readonly undo?: Undo<UndoStep>;
}

interface Undo<UndoStep extends { readonly kind: string }> extends Definition<UndoStep> {
  /** The step that undoes the journal's record; undefined if there is nothing to undo. */
  plan(facts: UninstallFacts): UndoStep | undefined;
}

/** The facts for an uninstallation. */
export interface UninstallFacts {
  readonly journal: JournalFacts;
  /** Undefined: OpenClaw no longer exists. */
  readonly openclaw: OpenClawReady | undefined;
  /** Undefined: it cannot be asked. */
  readonly docker: DockerReady | undefined;
  /** Also delete the memory and the downloads. */
  readonly purge: boolean;
}

export interface StepContext {
  readonly environment: Environment;
  readonly openclaw: OpenClaw | undefined;
  /** Received bytes of the total. */
  readonly progress: (done: number, total: number) => void;
  readonly warn: (text: string) => void;
}

/**
 * The context of a step: the environment, and its progress and warnings.
 *
 * For steps that are planned only if there is an OpenClaw.
 */
export function requireOpenClaw({ openclaw }: StepContext): OpenClaw {
  if (openclaw === undefined)
    throw new HelmdeckError("internal", "A step about OpenClaw was planned without one.");
  return openclaw;
}

/** The exit codes of install.sh. */
export const EXIT = {
  done: 0,
  user: 1,
  prerequisite: 2,
  sidecar: 3,
  openclaw: 4,
  smokeTest: 5,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
