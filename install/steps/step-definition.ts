/** What a step is: one file with one object that says what a person reads of it, what it records, what it does, and what takes it back. */

import type { DockerReady, JournalFacts, OpenClawReady } from "../installation-facts.ts";
import type { ExitCode } from "../installer-exit-codes.ts";
import type { JournalChanges, JournalEntries } from "../journal.ts";
import type { StepContext } from "../step-context.ts";

export interface Definition<Step extends { readonly kind: string }> {
  readonly kind: Step["kind"];
  /** The step in a person's words. */
  title(step: Step): string;
  /** What a person should know about it before saying yes. */
  detail?(step: Step): string | undefined;
  /** Of a run in which it failed. */
  readonly exitCode: ExitCode;
  /** What goes into the journal before it runs, so that a run that is killed in it can be finished or taken back. */
  record?(step: Step, context: StepContext): JournalChanges | Promise<JournalChanges>;
  /** Does it, and may give a remark for its line. */
  run(step: Step, context: StepContext): Promise<string | undefined> | Promise<void>;
  /** What leaves the journal once it has run. */
  readonly forgets?: readonly (keyof JournalEntries)[];
}

export interface StepDefinition<
  Step extends { readonly kind: string },
  UndoStep extends { readonly kind: string } = never,
> extends Definition<Step> {
  readonly undo?: Undo<UndoStep>;
}

interface Undo<UndoStep extends { readonly kind: string }> extends Definition<UndoStep> {
  /** The step that takes back what the journal says; undefined when there is nothing to take back. */
  plan(facts: UninstallFacts): UndoStep | undefined;
}

/** What an uninstallation knows. */
export interface UninstallFacts {
  readonly journal: JournalFacts;
  /** Undefined: it is gone. */
  readonly openclaw: OpenClawReady | undefined;
  /** Undefined: it cannot be asked. */
  readonly docker: DockerReady | undefined;
  /** What is remembered and what was downloaded goes, too. */
  readonly purge: boolean;
}
