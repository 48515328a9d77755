/** The part of a plan that decides who embeds helmdeck's own facts; what an operator set there is asked about first. */
import type { Facts, FactsEmbedder, FactsService, OpenClawReady } from "../installation-facts.ts";
import { at, type JsonObject } from "../openclaw-json.ts";
import type { Options } from "../options.ts";
import type { Question } from "../steps/step-kinds.ts";
import type { SearchPart } from "./plan-search.ts";

export interface FactsPart extends Pick<SearchPart, "steps" | "warnings" | "questions"> {
  /** The service that embeds them when the plan is done; undefined when that is not ours to say. */
  readonly embeds: FactsService | undefined;
}

export function factsFor(
  { configPath, facts }: OpenClawReady,
  { journal }: Facts,
  { model, replaces }: Options,
  url: string | undefined,
): FactsPart {
  if (url === undefined) {
    const steps = journal.facts === undefined ? [] : [{ kind: "restore-facts", configPath } as const];
    return { ...NOTHING, steps };
  }
  const service = { provider: "ollama", model, url } as const;
  if (isRight(facts, service)) return { ...NOTHING, embeds: service };
  const isTheirs = facts.provider !== "unset" && !isOurs(facts, journal.facts);
  if (isTheirs && !replaces.includes("facts")) {
    const warnings = [
      `helmdeck's facts stay with ${nameOf(facts)}: it is set so, and nobody said otherwise.`,
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

/** What the plugin's configuration is set to, as a whole: a key for the former service must not reach another one. */
export function factsSetting({ provider, model, url }: FactsService): JsonObject {
  return { embeddings: { provider, url, model } };
}

/** For helmdeck `nomic-embed-text` is `nomic-embed-text:latest`; for OpenClaw they are two. */
export function isSameModel(left: string, right: string): boolean {
  const [one, other] = [left, right].map((name) => (name.includes(":") ? name : `${name}:latest`));
  return one === other;
}

const NOTHING: FactsPart = { steps: [], warnings: [], questions: [], embeds: undefined };

function isRight(facts: FactsEmbedder, { provider, model, url }: FactsService): boolean {
  return facts.provider === provider && facts.url === url && isSameModel(facts.model, model);
}

function isOurs(facts: FactsEmbedder, set: JsonObject | undefined): boolean {
  return facts.provider === "ollama" && facts.url === at(set, "embeddings", "url");
}

function nameOf(facts: FactsEmbedder): string {
  if (facts.provider === "none") return "search by words (provider none)";
  return "url" in facts ? `${facts.provider} at ${facts.url}` : "a service that cannot be used";
}

function questionAbout(facts: FactsEmbedder, { url }: FactsService): Question {
  return {
    about: "facts",
    text: `helmdeck's facts are set to ${nameOf(facts)}. Embed them with ${url} instead (it is put back by --uninstall)?`,
  };
}
