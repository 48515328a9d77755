/** Plans to keep OpenClaw's note index in line with the embedding provider. */
import { INSTALLER } from "../install-names.ts";
import type { Facts, OpenClawReady } from "../installation-facts.ts";
import { indexNotesStep, isDueOnceTakenBack, isStuck, searchesInGateway } from "../steps/index-notes.ts";
import type { Step } from "../steps/registry.ts";
import type { SearchPlan } from "./plan-search.ts";

/** Steps after an installation's own changes. */
export function indexSteps(openclaw: OpenClawReady, facts: Facts, search: SearchPlan): readonly Step[] {
  const isDue = search.steps.length > 0 || facts.journal.indexDue || isStuck(openclaw);
  return isDue ? [indexNotesStep(openclaw, search.embeds)] : [];
}

/** For --repair: also repairs an index whose provider somebody chose. */
export function repairSteps(openclaw: OpenClawReady, { journal }: Facts): readonly Step[] {
  const { configPath, unfitIndexes = [] } = openclaw;
  if (unfitIndexes.length === 0 && !journal.indexDue) return [];
  return [{ kind: "index-notes", configPath, mustWork: true, awaitsGateway: searchesInGateway(openclaw) }];
}

export function unfitWarnings(openclaw: OpenClawReady, { journal }: Facts): readonly string[] {
  if (!isStuck(openclaw) || isDueOnceTakenBack(journal, openclaw)) return [];
  return [
    `OpenClaw's index of its own notes belongs to an embedding service that is no longer configured, so it finds no new notes. Run: ${INSTALLER} --repair`,
  ];
}
