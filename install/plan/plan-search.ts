/** Plans the embedding provider of OpenClaw's own search. Asks before it replaces an operator's provider. */
import { INSTALLER, NOTES_PLUGIN_ID, OLDEST_FOR_NOTES, OLLAMA_PLUGIN_ID } from "../install-names.ts";
import type { Facts, OpenClawReady, SearchFacts } from "../installation-facts.ts";
import { at, type JsonObject } from "../openclaw-json.ts";
import type { Options } from "../options.ts";
import { isOlder } from "../run-openclaw.ts";
import { indexNotesStep, isDueOnceTakenBack, isStuck, searchesInGateway } from "../steps/index-notes.ts";
import { nameOfWanted, type SearchWanted } from "../steps/point-search.ts";
import type { Step } from "../steps/registry.ts";
import type { Question } from "./plan.ts";

export interface SearchPlan {
  readonly steps: readonly Step[];
  readonly warnings: readonly string[];
  readonly questions: readonly Question[];
  /** What OpenClaw embeds its notes with after the plan, if it is ours. */
  readonly embeds: SearchWanted["provider"] | undefined;
}

export function planSearch(
  openclaw: OpenClawReady,
  { journal }: Facts,
  options: Options,
  wanted: SearchWanted | undefined,
): SearchPlan {
  if (wanted === undefined) return withoutService(openclaw, journal.search, options);
  const { search, disabledPlugins } = openclaw;
  const warnings = agentWarnings(openclaw);
  if (!search.enabled)
    return kept([
      ...warnings,
      "OpenClaw's memory.search is switched off (memory.search.enabled); it stays off.",
    ]);
  const plugin = wanted.provider === "ollama" ? OLLAMA_PLUGIN_ID : NOTES_PLUGIN_ID;
  const isThere = wanted.provider === "ollama" || openclaw.installedNotes !== "absent";
  if (isThere && disabledPlugins.includes(plugin))
    return kept([
      ...warnings,
      `OpenClaw's plugin ${plugin} is disabled, so its search is not changed. To enable it: openclaw plugins enable ${plugin}, then run this again.`,
    ]);
  const { provider: embeds } = wanted;
  const down = embeds === "ollama" ? DOWN_WARNING : NOTES_WARNING;
  if (isRight(search, wanted) && pluginsToAllow(openclaw, wanted).length === 0)
    return { ...kept([...warnings, down]), embeds };
  const own = ownProvider(search, journal.search);
  if (own !== undefined && !options.replaces.includes("search"))
    return {
      ...kept([
        ...warnings,
        `OpenClaw's own search keeps its provider ${own}: you chose it, and nobody said to replace it.`,
      ]),
      questions: [questionAbout(own, wanted)],
    };
  const allow = pluginsToAllow(openclaw, wanted);
  const { configPath } = openclaw;
  return {
    steps: [{ kind: "point-search", configPath, ...wanted, replaces: own, allow }],
    warnings: [...warnings, down],
    questions: [],
    embeds,
  };
}

const DOWN_WARNING =
  "After that, OpenClaw's own search needs the embedding service. While the service is down, OpenClaw finds none of its own notes " +
  `(keyword search still finds helmdeck's facts). To go back: ${INSTALLER} --no-embeddings; or openclaw config set memory.search.provider none, ` +
  "then openclaw memory index --force.";

const NOTES_WARNING =
  `After that, OpenClaw's search of its own notes needs the plugin ${NOTES_PLUGIN_ID}. While it is disabled, or if it is removed by anything but this ` +
  `installer, OpenClaw finds none of its own notes. To go back: ${INSTALLER} --notes none`;

function withoutService(openclaw: OpenClawReady, set: JsonObject | undefined, options: Options): SearchPlan {
  const { configPath } = openclaw;
  const steps: readonly Step[] = set === undefined ? [] : [{ kind: "restore-search", configPath }];
  const isOpen = options.notes === undefined && options.embeddings.kind === "builtin";
  return { ...kept([]), steps, questions: isOpen && mayAsk(openclaw, set) ? [NOTES_QUESTION] : [] };
}

const NOTES_QUESTION: Question = {
  about: "notes",
  text:
    `Shall OpenClaw search its own notes by meaning, too? This installs our plugin ${NOTES_PLUGIN_ID}. While that is disabled or removed by hand, ` +
    "OpenClaw finds none of its notes.",
};

/** Whoever chose a provider has decided already. */
function mayAsk({ search, version }: OpenClawReady, set: JsonObject | undefined): boolean {
  return search.enabled && ownProvider(search, set) === undefined && !isOlder(version, OLDEST_FOR_NOTES);
}

function kept(warnings: readonly string[]): SearchPlan {
  return { steps: [], warnings, questions: [], embeds: undefined };
}

function questionAbout(own: string, wanted: SearchWanted): Question {
  return {
    about: "search",
    text: `OpenClaw embeds with your own provider ${own}. Use ${nameOfWanted(wanted)} instead (--uninstall restores yours)?`,
  };
}

function isRight({ provider, model, baseUrl }: SearchFacts, wanted: SearchWanted): boolean {
  if (wanted.provider !== "ollama") return provider === wanted.provider;
  return provider === wanted.provider && model === wanted.model && baseUrl === wanted.baseUrl;
}

/** A provider that a person chose: not the host's default, not "none", and not our own earlier setting. */
function ownProvider({ provider, baseUrl }: SearchFacts, set: JsonObject | undefined): string | undefined {
  if (provider === undefined || provider === "auto" || provider === "none") return undefined;
  const isOurs =
    provider === at(set, "search", "provider") && baseUrl === at(set, "search", "remote", "baseUrl");
  return isOurs ? undefined : provider;
}

/** Our own plugin is allowed by its installation. */
function pluginsToAllow({ allowedPlugins }: OpenClawReady, { provider }: SearchWanted): readonly string[] {
  if (provider !== "ollama") return [];
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
  return isDue ? [indexNotesStep(openclaw, search.embeds !== undefined)] : [];
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
