/** Sets what embeds helmdeck's facts in the plugin's configuration, and restores the former one. */
import { changeOf, FACTS, patchAt, patchBetween, restored } from "../config-section.ts";
import type { FactsWanted } from "../installation-facts.ts";
import { at, isEqual, type JsonObject } from "../openclaw-json.ts";
import { isConfigAsLeft, patchConfig, settingPatch } from "./config-changes.ts";
import { EXIT, requireOpenClaw, type StepDefinition } from "./step-definition.ts";

type PointFacts = FactsWanted & {
  readonly kind: "point-facts";
  readonly configPath: string;
  /** The operator's setting that is replaced. */
  readonly replaces: string | undefined;
};
interface RestoreFacts {
  readonly kind: "restore-facts";
  readonly configPath: string;
}

export const pointFacts: StepDefinition<PointFacts, RestoreFacts> = {
  kind: "point-facts",
  title: (step) => `${aim(step)}${step.replaces === undefined ? "" : `, instead of ${step.replaces}`}`,
  exitCode: EXIT.openclaw,
  record: async (step, context) => {
    const openclaw = requireOpenClaw(context);
    const now = at(await openclaw.authoredConfig(step.configPath), ...FACTS.path);
    const { facts: earlier } = context.environment.journal.entries;
    return { target: openclaw.target, facts: changeOf(FACTS, earlier, now, factsSetting(step)) };
  },
  run: async (step, context) => {
    const config = await requireOpenClaw(context).authoredConfig(step.configPath);
    await patchConfig(step.configPath, context, settingPatch(FACTS, config, factsSetting(step)));
  },
  undo: {
    kind: "restore-facts",
    title: ({ configPath }) => `restore the embedding setting of helmdeck's facts in ${configPath}`,
    exitCode: EXIT.openclaw,
    plan: ({ journal, openclaw }) =>
      openclaw !== undefined && journal.facts !== undefined && !isConfigAsLeft(journal)
        ? { kind: "restore-facts", configPath: openclaw.configPath }
        : undefined,
    run: async ({ configPath }, context) => {
      const { facts } = context.environment.journal.entries;
      if (facts === undefined) return;
      const now = at(await requireOpenClaw(context).authoredConfig(configPath), ...FACTS.path);
      const former = restored(FACTS, facts, now);
      await patchConfig(configPath, context, patchAt(FACTS.path, patchBetween(now, former)));
      if (!isEqual(at(former, "embeddings"), at(facts.before, "embeddings")))
        context.warn("The plugin's embeddings were changed since the installation; those changes stay.");
    },
    forgets: ["facts"],
  },
};

function aim(wanted: FactsWanted): string {
  if (wanted.provider === "none") return "search helmdeck's facts by keywords only";
  const what = wanted.provider === "builtin" ? "the built-in model" : `${wanted.model} on ${wanted.url}`;
  return `let ${what} find helmdeck's facts by meaning`;
}

/** Replaced completely, because a key for the former service must not reach another one. */
export function factsSetting(wanted: FactsWanted): JsonObject {
  const { provider } = wanted;
  const service = wanted.provider === "builtin" ? wanted.former : "url" in wanted ? wanted : undefined;
  return {
    embeddings: service === undefined ? { provider } : { provider, url: service.url, model: service.model },
  };
}
