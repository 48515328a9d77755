/** The definition of a step: its texts, its journal record, its work and its undo. */

import type { DockerReady, JournalFacts, OpenClawReady } from "../installation-facts.ts";
import type { ExitCode } from "../installer-exit-codes.ts";
import type { JournalChanges, JournalEntries } from "../journal.ts";
import type { StepContext } from "../step-context.ts";

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
