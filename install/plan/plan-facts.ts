/** Plans what embeds helmdeck's own facts. Asks before it replaces an operator's setting. */

import { isDeepStrictEqual } from "node:util";
import {
  type EmbedsFacts,
  type EngineChoice,
  type Facts,
  type FactsEmbedder,
  type FactsWanted,
  isSameModel,
  type OpenClawReady,
} from "../installation-facts.ts";
import { at, type JsonObject } from "../openclaw-json.ts";
import type { Options } from "../options.ts";
import type { Step } from "../steps/registry.ts";
import type { Question } from "./plan.ts";
import type { SearchPlan } from "./plan-search.ts";

export interface FactsPlan extends Pick<SearchPlan, "steps" | "warnings" | "questions"> {
  /** What embeds facts after the plan; undefined if nothing does, or the operator's setting stays. */
  readonly embeds: EmbedsFacts | undefined;
}

/** `wanted`: undefined if another server keeps memory. */
export function planFacts(
  { configPath, facts }: OpenClawReady,
  { journal }: Facts,
  { replaces }: Options,
  wanted: FactsWanted | undefined,
): FactsPlan {
  if (wanted === undefined) {
    const steps = journal.facts === undefined ? [] : [{ kind: "restore-facts", configPath } as const];
    return { ...NOTHING, steps };
  }
  const embeds = wanted.provider === "none" ? undefined : wanted;
  if (isRight(facts, wanted)) return { ...NOTHING, embeds };
  const isTheirs = facts.provider !== "unset" && !isOurs(facts, journal.facts);
  if (isTheirs && !replaces.includes("facts")) {
    const warnings = [
      `helmdeck's facts stay with ${nameOf(facts)}: you set it, and nobody said to replace it.`,
    ];
    return { ...NOTHING, warnings, questions: [questionAbout(facts, wanted)] };
  }
  const former = isTheirs ? nameOf(facts) : undefined;
  return {
    ...NOTHING,
    steps: [{ kind: "point-facts", configPath, ...wanted, replaces: former }],
    embeds,
  };
}

const NOTHING: FactsPlan = { steps: [], warnings: [], questions: [], embeds: undefined };

function isRight(facts: FactsEmbedder, wanted: FactsWanted): boolean {
  if (!("url" in wanted) || !("url" in facts)) return facts.provider === wanted.provider;
  const { provider, model, url } = wanted;
  return facts.provider === provider && facts.url === url && isSameModel(facts.model, model);
}

function isOurs(facts: FactsEmbedder, set: JsonObject | undefined): boolean {
  const isSame = facts.provider === at(set, "embeddings", "provider");
  return isSame && (!("url" in facts) || facts.url === at(set, "embeddings", "url"));
}

function nameOf(facts: FactsEmbedder): string {
  if (facts.provider === "none") return "keyword search (provider none)";
  if (facts.provider === "builtin") return "the built-in model";
  return "url" in facts ? `${facts.provider} at ${facts.url}` : "an unusable service";
}

function questionAbout(facts: FactsEmbedder, wanted: FactsWanted): Question {
  const instead =
    wanted.provider === "none"
      ? "Search them by keywords"
      : `Embed them with ${"url" in wanted ? wanted.url : "the built-in model"}`;
  return {
    about: "facts",
    text: `helmdeck's facts are set to ${nameOf(facts)}. ${instead} instead (--uninstall restores yours)?`,
  };
}

export interface SourcePlan {
  readonly steps: readonly Step[];
  /** The engine that keeps memory after the plan; undefined: this host. */
  readonly engineUrl: string | undefined;
  readonly kept: readonly string[];
}

/** Plans the memory's source: this host, unless the operator names an engine or named one before. */
export function planSource(
  { configPath, engine }: OpenClawReady,
  { journal }: Facts,
  options: Options,
): SourcePlan {
  const wanted = options.engine;
  if (wanted === undefined) {
    const isOurs = engine !== undefined && journal.source !== undefined;
    return { steps: [], engineUrl: engine?.url, kept: isOurs ? optionsFor(engine) : [] };
  }
  const isRight = isDeepStrictEqual({ ...engine }, { ...wanted });
  const steps = isRight ? [] : [{ kind: "point-source", configPath, ...wanted } as const];
  return { steps, engineUrl: wanted.url, kept: [] };
}

function optionsFor({ url, tokens, fingerprint256 }: EngineChoice): readonly string[] {
  const files = Object.entries(tokens).map(([agent, file]) => `--token-file ${agent}=${file}`);
  const pinned = fingerprint256 === undefined ? [] : [`--engine-fingerprint ${fingerprint256}`];
  return [`--engine ${url}`, ...files, ...pinned];
}

interface AnswerPlan {
  readonly steps: readonly Step[];
  readonly questions: readonly Question[];
  readonly kept?: readonly string[];
}

/** Plans the recording of tool calls: asks once, then applies the answer. */
export function planAuditTools(
  { configPath, auditTools }: OpenClawReady,
  { journal }: Facts,
  options: Options,
): AnswerPlan {
  const earlier = journal.auditTools;
  const answer = options.auditTools ?? (earlier?.isDue ? earlier.answer : undefined);
  if (answer === undefined) {
    const isAnswered = earlier !== undefined || auditTools !== undefined;
    const isKept = earlier?.answer === "all" && auditTools === "all";
    return {
      steps: [],
      questions: isAnswered ? [] : [QUESTION],
      kept: isKept ? ["--audit-tools all"] : [],
    };
  }
  const isDone = earlier?.answer === answer && !earlier.isDue && (auditTools ?? "helmdeck") === answer;
  return { steps: isDone ? [] : [{ kind: "audit-tools", configPath, answer }], questions: [], kept: [] };
}

const QUESTION: Question = {
  about: "tools",
  text: 'Record the calls of all tools, not only helmdeck\'s? Your agent can then answer "what did you do yesterday?". Kept for 30 days: tool, time, outcome and a few inputs; never results, and nothing from groups.',
};

/** Plans recall unasked and kept requests: asks once, then applies the answer. An earlier choice of anybody's stays. */
export function planSpeakUp(
  { configPath, speakUp }: OpenClawReady,
  { journal }: Facts,
  options: Options,
): AnswerPlan {
  const earlier = journal.speakUp;
  const answer = options.speakUp ?? (earlier?.isDue ? earlier.answer : undefined);
  if (answer !== undefined) return { steps: [{ kind: "speak-up", configPath, answer }], questions: [] };
  const isAnswered = earlier !== undefined || speakUp !== undefined;
  return { steps: [], questions: isAnswered ? [] : [SPEAK_UP_QUESTION] };
}

/**
 * Whether this run makes a year the default life of facts: by the person's answer, asked once, and yes where nobody can be asked.
 * Undefined: it stays as somebody set it or said before, or an engine decides.
 */
export function yearAnswer({ keepAYear, engine }: OpenClawReady, { journal }: Facts, options: Options) {
  const earlier = journal.keepAYear;
  const answer = options.keepAYear ?? (earlier?.isDue ? earlier.answer : undefined);
  const isOpen = (earlier ?? keepAYear ?? engine ?? options.engine) === undefined;
  return answer ?? (isOpen ? "on" : undefined);
}

export function planKeepAYear(openclaw: OpenClawReady, facts: Facts, options: Options): AnswerPlan {
  const answer = yearAnswer(openclaw, facts, options);
  if (answer === undefined) return { steps: [], questions: [] };
  const isAnswered = (options.keepAYear ?? facts.journal.keepAYear) !== undefined;
  const { configPath } = openclaw;
  return {
    steps: [{ kind: "keep-a-year", configPath, answer }],
    questions: isAnswered ? [] : [KEEP_A_YEAR_QUESTION],
  };
}

const KEEP_A_YEAR_QUESTION: Question = {
  about: "keepAYear",
  text: "Keep facts for a year? Otherwise a fact ends 90 days after it was stored. You are told two weeks before, and renew what still holds.",
};

const SPEAK_UP_QUESTION: Question = {
  about: "speakUp",
  text: 'Let memory speak up in your own direct chats, so that facts that are sure for your message come with it, and "Remember that …" is kept even if the agent forgets to, until you turn it off (openclaw config set plugins.entries.helmdeck-memory.config.autoRecall off; the same for captureRequests)?',
};
