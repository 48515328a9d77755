/**
 * All kinds of steps. An uninstallation goes through the list in reverse, so a step that must be undone last comes first:
 * OpenClaw rebuilds its note index only after its configuration is restored. The planner decides the order of an installation.
 */
import { HelmdeckError } from "../../engine/errors.ts";
import { attachContainer } from "./attach-container.ts";
import { setAuditTools } from "./audit-tools.ts";
import { backUpConfig } from "./back-up-config.ts";
import { checkEmbedding, checkFromContainer } from "./check-embedding.ts";
import { createNetwork } from "./create-network.ts";
import { deleteMemory, deleteMemoryInContainer } from "./delete-memory.ts";
import { forgetJournal } from "./forget-journal.ts";
import { indexNotes } from "./index-notes.ts";
import { installModel } from "./install-model.ts";
import { installNotesPlugin, installPlugin } from "./install-plugin.ts";
import { makeKey } from "./make-key.ts";
import { pointFacts } from "./point-facts.ts";
import { pointSearch } from "./point-search.ts";
import { pointSource } from "./point-source.ts";
import { pullModel } from "./pull-model.ts";
import { runSmokeTest } from "./run-smoke-test.ts";
import { startSidecar } from "./start-sidecar.ts";
import type { Definition, UninstallFacts } from "./step-definition.ts";
import { setKeepAYear, setSpeakUp } from "./yes-or-no.ts";

const STEPS = [
  createNetwork,
  startSidecar,
  pullModel,
  makeKey,
  installModel,
  attachContainer,
  checkEmbedding,
  checkFromContainer,
  indexNotes,
  backUpConfig,
  installPlugin,
  installNotesPlugin,
  pointSearch,
  pointFacts,
  pointSource,
  setAuditTools,
  setSpeakUp,
  setKeepAYear,
  runSmokeTest,
  deleteMemory,
  deleteMemoryInContainer,
  forgetJournal,
] as const;

type Registered = (typeof STEPS)[number];

/** A step of a plan as plain data, so that --dry-run prints exactly what a run executes. */
export type Step =
  | Parameters<Registered["title"]>[0]
  | Parameters<NonNullable<Registered["undo"]>["title"]>[0];

const DEFINITIONS: ReadonlyMap<string, Definition<Step>> = new Map(
  STEPS.flatMap((step) => [step, ...(step.undo === undefined ? [] : [step.undo])]).map((definition) => [
    definition.kind,
    definition,
  ]),
);

export function definitionOf({ kind }: Pick<Step, "kind">): Definition<Step> {
  const definition = DEFINITIONS.get(kind);
  if (definition === undefined) throw new HelmdeckError("internal", `No step is registered as ${kind}.`);
  return definition;
}

/** Undoes the journal in reverse order. */
export function undoSteps(facts: UninstallFacts): readonly Step[] {
  return STEPS.toReversed()
    .map(({ undo }): Step | undefined => undo?.plan(facts))
    .filter((step) => step !== undefined);
}
