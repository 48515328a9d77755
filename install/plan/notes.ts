/** The part of a plan that keeps OpenClaw's index of its own notes fitting who embeds. */
import type { Facts, OpenClawReady } from "../installation-facts.ts";
import type { Step } from "../steps/step-kinds.ts";
import type { SearchPart } from "./plan-search.ts";

/** After an installation's own changes. */
export function indexSteps(openclaw: OpenClawReady, facts: Facts, search: SearchPart): readonly Step[] {
  const isDue = search.steps.length > 0 || facts.journal.indexDue || isStuck(openclaw);
  return isDue ? [indexStep(openclaw, search.embeds)] : [];
}

/** What we set is taken back, now or by an earlier run that was killed, or by a version that left the index as it was. */
export function takenBackIndexSteps(openclaw: OpenClawReady, { journal }: Facts): readonly Step[] {
  const isOurs = journal.target !== undefined && isStuck(openclaw);
  return journal.search !== undefined || journal.indexDue || isOurs ? [indexStep(openclaw, false)] : [];
}

/** Asked for by name: also an index whose provider somebody chose. */
export function repairSteps(openclaw: OpenClawReady, { journal }: Facts): readonly Step[] {
  const { configPath, unfitIndexes = [] } = openclaw;
  if (unfitIndexes.length === 0 && !journal.indexDue) return [];
  return [{ kind: "index-notes", configPath, mustWork: true, awaitsGateway: false }];
}

export function unfitWarnings(openclaw: OpenClawReady, facts: Facts): readonly string[] {
  if (!isStuck(openclaw) || takenBackIndexSteps(openclaw, facts).length > 0) return [];
  return [
    "OpenClaw's index of its own notes is of an embedding service that is not set any more, so it finds no new note: install.sh --repair",
  ];
}

function indexStep({ configPath, gateway }: OpenClawReady, isPointed: boolean): Step {
  return {
    kind: "index-notes",
    configPath,
    mustWork: isPointed,
    awaitsGateway: !isPointed && gateway === "running",
  };
}

/** Nobody chose a provider, and OpenClaw will not touch the vectors of the one that is gone. */
function isStuck({ unfitIndexes = [] }: OpenClawReady): boolean {
  return unfitIndexes.some(({ isChosen }) => !isChosen);
}
