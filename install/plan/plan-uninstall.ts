/** The plan that takes everything back: what the journal says was changed, and nothing else. */

import { COMPOSE_FILE, NETWORK, PLUGIN_ID } from "../install-names.ts";
import { type Facts, type OpenClawReady, targetName } from "../installation-facts.ts";
import type { Options } from "../options.ts";
import type { Missing, Plan, Step } from "../steps/step-kinds.ts";
import { gatewayClosed } from "./gateway.ts";
import { takenBackIndexSteps, unfitWarnings } from "./notes.ts";

export function uninstallPlan(facts: Facts, options: Options): Plan {
  const { openclaw } = facts;
  const ready = openclaw.state === "ready" ? openclaw : undefined;
  const missing = standsInTheWay(facts);
  if (missing.length > 0) return { target: undefined, steps: [], warnings: [], missing, questions: [] };
  const steps = [
    ...(ready === undefined ? [] : openclawSteps(ready, facts)),
    ...detachSteps(facts),
    ...sidecarSteps(facts, options),
    ...(options.purge && ready !== undefined ? purgeSteps(ready) : []),
    ...(isEmpty(facts) ? [] : [{ kind: "forget-journal" } as const]),
  ];
  const warnings = ready === undefined ? goneWarnings(facts) : unfitWarnings(ready, facts);
  return { target: ready?.target, steps, warnings, missing: [], questions: [] };
}

function goneWarnings({ journal }: Facts): readonly string[] {
  if (!journal.installedPlugin && !hasSet(journal)) return [];
  return ["OpenClaw is not found any more: what was changed in its configuration stays as it is."];
}

/** A configuration that OpenClaw does not accept is mended first: how it was before us must not be forgotten over it. */
function standsInTheWay(facts: Facts): readonly Missing[] {
  const { openclaw } = facts;
  if (openclaw.state === "ambiguous" || isOtherTarget(facts)) return [whichOne(facts)];
  if (openclaw.state === "broken")
    return [{ what: "openclaw", message: openclaw.reason, remedy: "openclaw doctor" }];
  if (openclaw.state !== "ready" || openclaw.installed === "absent") return [];
  return [gatewayClosed(openclaw)].filter((missing) => missing !== undefined);
}

function openclawSteps(openclaw: OpenClawReady, facts: Facts): readonly Step[] {
  const { journal } = facts;
  const { configPath, installed } = openclaw;
  const wasBefore = !journal.installedPlugin && journal.hasConfigCopy;
  const isThere = installed !== "absent";
  // A run that was killed may have uninstalled it, and not tidied up behind it.
  const isOurs = journal.installedPlugin || (isThere && !wasBefore);
  const plugin: readonly Step[] = isOurs
    ? [{ kind: "uninstall-plugin", plugin: PLUGIN_ID, configPath, isThere }]
    : [];
  const isWhole = journal.hasConfigCopy && journal.configIsAsLeft;
  const settings: readonly Step[] = [
    ...(journal.facts === undefined ? [] : [{ kind: "restore-facts", configPath } as const]),
    ...(journal.search === undefined ? [] : [{ kind: "restore-search", configPath } as const]),
  ];
  return [
    ...(isWhole ? [] : settings),
    ...plugin,
    ...(isWhole ? [{ kind: "restore-config-copy", configPath } as const] : []),
    ...takenBackIndexSteps(openclaw, facts),
  ];
}

function hasSet({ search, facts }: Facts["journal"]): boolean {
  return search !== undefined || facts !== undefined;
}

function detachSteps({ journal, docker }: Facts): readonly Step[] {
  if (journal.attached === undefined || docker.state !== "ready") return [];
  return [{ kind: "detach-container", container: journal.attached, network: NETWORK }];
}

function sidecarSteps({ docker, journal }: Facts, { purge }: Options): readonly Step[] {
  if (docker.state !== "ready" || !journal.startedSidecar) return [];
  const { compose } = docker;
  return [
    { kind: "stop-sidecar", compose, files: [COMPOSE_FILE], deletesModels: purge },
    ...(journal.madeNetwork ? [{ kind: "remove-network", network: NETWORK } as const] : []),
  ];
}

function purgeSteps({ target, memory }: OpenClawReady): readonly Step[] {
  if (target.kind === "container") return [{ kind: "delete-memory-in-container", container: target.name }];
  if (memory === undefined) return [];
  const { databasePath, keyPath } = memory;
  return [{ kind: "delete-memory", databasePath, keyPath }];
}

function isEmpty({ journal }: Facts): boolean {
  const { target, hasConfigCopy, startedSidecar, madeNetwork, attached } = journal;
  const isRecorded = target !== undefined || attached !== undefined || hasSet(journal) || journal.indexDue;
  return !isRecorded && !hasConfigCopy && !startedSidecar && !madeNetwork;
}

function isOtherTarget({ openclaw, journal }: Facts): boolean {
  if (openclaw.state !== "ready" || journal.target === undefined) return false;
  return targetName(openclaw.target) !== targetName(journal.target);
}

function whichOne({ openclaw, journal }: Facts): Missing {
  const was = journal.target && targetName(journal.target);
  const choices = openclaw.state === "ambiguous" ? openclaw.choices : ["another OpenClaw"];
  return {
    what: "openclaw",
    message: `This found ${choices.join(", ")}${was === undefined ? "" : `, and what was installed is in ${was}`}.`,
    remedy: `Say which one: --openclaw ${was ?? choices[0]}`,
  };
}
