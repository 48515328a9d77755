/** The part of a plan that decides who embeds for OpenClaw's own search; an operator's own provider is asked about first. */
import type { Facts, OpenClawReady, SearchFacts } from "../facts.ts";
import { at, type JsonObject } from "../json.ts";
import { OLLAMA_PLUGIN_ID } from "../names.ts";
import type { Options } from "../options.ts";
import type { Step } from "../steps.ts";

export interface SearchPart {
  readonly steps: readonly Step[];
  readonly warnings: readonly string[];
  readonly asksToReplace: string | undefined;
  /** OpenClaw embeds with our service when the plan is done. */
  readonly embeds: boolean;
}

export function searchFor(
  openclaw: OpenClawReady,
  { journal }: Facts,
  options: Options,
  baseUrl: string | undefined,
): SearchPart {
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
      `OpenClaw's plugin ${OLLAMA_PLUGIN_ID} is switched off, so its search is left as it is: openclaw plugins enable ${OLLAMA_PLUGIN_ID}, then run this again.`,
    ]);
  if (isRight(search, options.model, baseUrl) && allowsMissing(openclaw).length === 0)
    return { ...kept(warnings), embeds: true };
  const own = ownProvider(search, journal.search);
  if (own !== undefined && !options.replaceProvider)
    return {
      ...kept([
        ...warnings,
        `OpenClaw's own search keeps its provider ${own}: it is yours, and nobody said that it may go.`,
      ]),
      asksToReplace: own,
    };
  return {
    steps: [pointStep(openclaw, options.model, baseUrl, own)],
    warnings,
    asksToReplace: undefined,
    embeds: true,
  };
}

/** What `memory` is set to. `remote` is set as a whole: a key for the former provider must not reach another service. */
export function searchSetting(model: string, baseUrl: string): JsonObject {
  return { search: { provider: "ollama", model, remote: { baseUrl } } };
}

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
    allow: allowsMissing(openclaw),
  };
}

function withoutService({ configPath }: OpenClawReady, wasSet: boolean): SearchPart {
  return { ...kept([]), steps: wasSet ? [{ kind: "restore-search", configPath }] : [] };
}

function kept(warnings: readonly string[]): SearchPart {
  return { steps: [], warnings, asksToReplace: undefined, embeds: false };
}

function isRight(
  { provider, model: current, baseUrl: at }: SearchFacts,
  model: string,
  baseUrl: string,
): boolean {
  return provider === "ollama" && current === model && at === baseUrl;
}

/** A provider that a person chose; not the host's own default, not "none", and not what we set before. */
function ownProvider({ provider, baseUrl }: SearchFacts, set: JsonObject | undefined): string | undefined {
  if (provider === undefined || provider === "auto" || provider === "none") return undefined;
  const isOurs = provider === "ollama" && baseUrl === at(set, "search", "remote", "baseUrl");
  return isOurs ? undefined : provider;
}

function allowsMissing({ allowedPlugins }: OpenClawReady): readonly string[] {
  return allowedPlugins === undefined || allowedPlugins.includes(OLLAMA_PLUGIN_ID) ? [] : [OLLAMA_PLUGIN_ID];
}

function agentWarnings({ agentsWithProvider }: OpenClawReady): readonly string[] {
  if (agentsWithProvider.length === 0) return [];
  return [
    `These agents have an embedding provider of their own, which stays: ${agentsWithProvider.join(", ")}.`,
  ];
}
