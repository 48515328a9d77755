/** Plans the embedding service for helmdeck's own facts. Asks before it replaces an operator's setting. */
import {
  type Facts,
  type FactsEmbedder,
  type FactsService,
  isSameModel,
  type OpenClawReady,
} from "../installation-facts.ts";
import { at, type JsonObject } from "../openclaw-json.ts";
import type { Options } from "../options.ts";
import type { Question } from "./plan.ts";
import type { SearchPlan } from "./plan-search.ts";

export interface FactsPlan extends Pick<SearchPlan, "steps" | "warnings" | "questions"> {
  /** The service after the plan; undefined if the operator's setting stays. */
  readonly embeds: FactsService | undefined;
}

export function planFacts(
  { configPath, facts }: OpenClawReady,
  { journal }: Facts,
  { model, replaces }: Options,
  url: string | undefined,
): FactsPlan {
  if (url === undefined) {
    const steps = journal.facts === undefined ? [] : [{ kind: "restore-facts", configPath } as const];
    return { ...NOTHING, steps };
  }
  const service = { provider: "ollama", model, url } as const;
  if (isRight(facts, service)) return { ...NOTHING, embeds: service };
  const isTheirs = facts.provider !== "unset" && !isOurs(facts, journal.facts);
  if (isTheirs && !replaces.includes("facts")) {
    const warnings = [
      `helmdeck's facts stay with ${nameOf(facts)}: you set it, and nobody said to replace it.`,
    ];
    return { ...NOTHING, warnings, questions: [questionAbout(facts, service)] };
  }
  const former = isTheirs ? nameOf(facts) : undefined;
  return {
    ...NOTHING,
    steps: [{ kind: "point-facts", configPath, ...service, replaces: former }],
    embeds: service,
  };
}

const NOTHING: FactsPlan = { steps: [], warnings: [], questions: [], embeds: undefined };

function isRight(facts: FactsEmbedder, { provider, model, url }: FactsService): boolean {
  return facts.provider === provider && facts.url === url && isSameModel(facts.model, model);
}

function isOurs(facts: FactsEmbedder, set: JsonObject | undefined): boolean {
  return facts.provider === "ollama" && facts.url === at(set, "embeddings", "url");
}

function nameOf(facts: FactsEmbedder): string {
  if (facts.provider === "none") return "keyword search (provider none)";
  return "url" in facts ? `${facts.provider} at ${facts.url}` : "an unusable service";
}

function questionAbout(facts: FactsEmbedder, { url }: FactsService): Question {
  return {
    about: "facts",
    text: `helmdeck's facts are set to ${nameOf(facts)}. Embed them with ${url} instead (--uninstall restores yours)?`,
  };
}
