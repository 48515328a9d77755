/** Plans the embedding provider of OpenClaw's own search. Asks before it replaces an operator's provider. */
import { INSTALLER, OLLAMA_PLUGIN_ID } from "../install-names.ts";
import type { Facts, OpenClawReady, SearchFacts } from "../installation-facts.ts";
import { at, type JsonObject } from "../openclaw-json.ts";
import type { Options } from "../options.ts";
import { indexNotesStep, isDueOnceTakenBack, isStuck, searchesInGateway } from "../steps/index-notes.ts";
import type { Step } from "../steps/registry.ts";
import type { Question } from "./plan.ts";

export interface SearchPlan {
  readonly steps: readonly Step[];
  readonly warnings: readonly string[];
  readonly questions: readonly Question[];
  /** Whether OpenClaw uses our service after the plan. */
  readonly embeds: boolean;
}

export function planSearch(
  openclaw: OpenClawReady,
  { journal }: Facts,
  options: Options,
  baseUrl: string | undefined,
): SearchPlan {
  if (baseUrl === undefined) return withoutService(openclaw, journal.search !== undefined);
  const { search, disabledPlugins } = openclaw;
  const warnings = agentWarnings(openclaw);
  if (!search.enabled)
    return kept([
      ...warnings,
      "OpenClaw's memory.search is switched off (memory.search.enabled); it stays off.",
    ]);
  if (disabledPlugins.includes(OLLAMA_PLUGIN_ID))
    return kept([
      ...warnings,
      `OpenClaw's plugin ${OLLAMA_PLUGIN_ID} is disabled, so its search is not changed. To enable it: openclaw plugins enable ${OLLAMA_PLUGIN_ID}, then run this again.`,
    ]);
  if (isRight(search, options.model, baseUrl) && pluginsToAllow(openclaw).length === 0)
    return { ...kept([...warnings, DOWN_WARNING]), embeds: true };
  const own = ownProvider(search, journal.search);
  if (own !== undefined && !options.replaces.includes("search"))
    return {
      ...kept([
        ...warnings,
        `OpenClaw's own search keeps its provider ${own}: you chose it, and nobody said to replace it.`,
      ]),
      questions: [questionAbout(own, baseUrl)],
    };
  return {
    steps: [pointStep(openclaw, options.model, baseUrl, own)],
    warnings: [...warnings, DOWN_WARNING],
    questions: [],
    embeds: true,
  };
}

const DOWN_WARNING =
  "From now on, OpenClaw's own search needs the embedding service. While the service is down, OpenClaw finds none of its own notes " +
  `(keyword search still finds helmdeck's facts). To go back: ${INSTALLER} --no-embeddings; or openclaw config set memory.search.provider none, ` +
  "then openclaw memory index --force.";

function pointStep(
  openclaw: OpenClawReady,
  model: string,
  baseUrl: string,
  replaces: string | undefined,
): Step {
  const { configPath } = openclaw;
  return {
    kind: "point-search",
    configPath,
    provider: "ollama",
    model,
    baseUrl,
    replaces,
    allow: pluginsToAllow(openclaw),
  };
}

function withoutService({ configPath }: OpenClawReady, wasSet: boolean): SearchPlan {
  return { ...kept([]), steps: wasSet ? [{ kind: "restore-search", configPath }] : [] };
}

function kept(warnings: readonly string[]): SearchPlan {
  return { steps: [], warnings, questions: [], embeds: false };
}

function questionAbout(own: string, baseUrl: string): Question {
  return {
    about: "search",
    text: `OpenClaw embeds with your own provider ${own}. Use ${baseUrl} instead (--uninstall restores yours)?`,
  };
}

function isRight(
  { provider, model: current, baseUrl: at }: SearchFacts,
  model: string,
  baseUrl: string,
): boolean {
  return provider === "ollama" && current === model && at === baseUrl;
}

/** A provider that a person chose: not the host's default, not "none", and not our own earlier setting. */
function ownProvider({ provider, baseUrl }: SearchFacts, set: JsonObject | undefined): string | undefined {
  if (provider === undefined || provider === "auto" || provider === "none") return undefined;
  const isOurs = provider === "ollama" && baseUrl === at(set, "search", "remote", "baseUrl");
  return isOurs ? undefined : provider;
}

function pluginsToAllow({ allowedPlugins }: OpenClawReady): readonly string[] {
  return allowedPlugins === undefined || allowedPlugins.includes(OLLAMA_PLUGIN_ID) ? [] : [OLLAMA_PLUGIN_ID];
}

function agentWarnings({ agentsWithProvider }: OpenClawReady): readonly string[] {
  if (agentsWithProvider.length === 0) return [];
  return [`These agents keep their own embedding provider: ${agentsWithProvider.join(", ")}.`];
}

/**
 * Plans to keep OpenClaw's note index in line with the embedding provider.
 *
 * Steps after an installation's own changes.
 */
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
