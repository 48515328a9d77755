/** Plans the uninstallation: undoes exactly the changes in the journal. */

import { defined } from "../../engine/defined.ts";
import { type Facts, type OpenClawReady, readyDocker, targetName } from "../installation-facts.ts";
import type { Options } from "../options.ts";
import { type Step, undoSteps } from "../steps/registry.ts";
import type { Plan, UnmetPrerequisite } from "./plan.ts";
import { unfitWarnings } from "./plan-search.ts";
import { gatewayAccessPrerequisite } from "./prerequisites.ts";

export function uninstallPlan(facts: Facts, { purge }: Options): Plan {
  const unmet = uninstallPrerequisites(facts);
  if (unmet.length > 0) return { target: undefined, steps: [], warnings: [], unmet, questions: [], kept: [] };
  const { journal } = facts;
  const openclaw = facts.openclaw.state === "ready" ? facts.openclaw : undefined;
  const steps: readonly Step[] = [
    ...undoSteps({ journal, openclaw, docker: readyDocker(facts), purge }),
    ...(purge && openclaw !== undefined ? purgeSteps(openclaw) : []),
    ...(isEmpty(facts) ? [] : [{ kind: "forget-journal" } as const]),
  ];
  const warnings =
    openclaw === undefined
      ? goneWarnings(facts)
      : [...unfitWarnings(openclaw, facts), ...(purge ? noMemoryWarnings(openclaw) : [])];
  return { target: openclaw?.target, steps, warnings, unmet: [], questions: [], kept: [] };
}

function goneWarnings({ journal }: Facts): readonly string[] {
  if (!journal.installedPlugin && !hasSet(journal)) return [];
  return ["OpenClaw was not found, so its configuration was not restored."];
}

/** A configuration that OpenClaw rejects must be fixed first, because the journal's original state must not be lost. */
function uninstallPrerequisites(facts: Facts): readonly UnmetPrerequisite[] {
  const { openclaw } = facts;
  if (openclaw.state === "ambiguous" || isOtherTarget(facts)) return [targetPrerequisite(facts)];
  if (openclaw.state === "broken")
    return [{ what: "openclaw", message: openclaw.reason, remedy: "openclaw doctor" }];
  if (openclaw.state !== "ready" || openclaw.installed === "absent") return [];
  return [gatewayAccessPrerequisite(openclaw)].filter((unmet) => unmet !== undefined);
}

function hasSet({ search, facts, ...answered }: Facts["journal"]): boolean {
  const { auditTools, speakUp, keepAYear } = answered;
  const isSet = [auditTools, speakUp, keepAYear].some((one) => one?.isSet === true);
  return search !== undefined || facts !== undefined || isSet;
}

function purgeSteps({ target, memory }: OpenClawReady): readonly Step[] {
  if (target.kind === "container") return [{ kind: "delete-memory-in-container", container: target.name }];
  if (memory?.isThere !== true) return [];
  const { databasePath, keyPath, facts } = memory;
  return [{ kind: "delete-memory", databasePath, keyPath, ...defined({ facts }) }];
}

function noMemoryWarnings({ memory }: OpenClawReady): readonly string[] {
  if (memory === undefined || memory.isThere) return [];
  return [
    `There is no memory to delete: neither ${memory.databasePath} nor its key ${memory.keyPath} exists.`,
  ];
}

function isEmpty({ journal }: Facts): boolean {
  const { target, hasConfigCopy, startedSidecar, madeNetwork, attached, hasChoices } = journal;
  const isRecorded = target !== undefined || attached !== undefined || hasSet(journal) || journal.indexDue;
  return !isRecorded && !hasChoices && !hasConfigCopy && !startedSidecar && !madeNetwork;
}

function isOtherTarget({ openclaw, journal }: Facts): boolean {
  if (openclaw.state !== "ready" || journal.target === undefined) return false;
  return targetName(openclaw.target) !== targetName(journal.target);
}

function targetPrerequisite({ openclaw, journal }: Facts): UnmetPrerequisite {
  const was = journal.target && targetName(journal.target);
  const choices = openclaw.state === "ambiguous" ? openclaw.choices : ["another OpenClaw"];
  return {
    what: "openclaw",
    message: `Found ${choices.join(", ")}${was === undefined ? "" : `, but the installation is in ${was}`}.`,
    remedy: `Choose one: --openclaw ${was ?? choices[0]}`,
  };
}
