/** Sets the plugin's `source` to an engine, and restores the former one. */
import { changeOf, patchAt, patchBetween, restored, SOURCE } from "../config-section.ts";
import type { EngineChoice } from "../installation-facts.ts";
import { at, isEqual, type JsonObject } from "../openclaw-json.ts";
import { isConfigAsLeft, patchConfig, settingPatch } from "./config-changes.ts";
import { EXIT, requireOpenClaw, type StepDefinition } from "./step-definition.ts";

interface PointSource extends EngineChoice {
  readonly kind: "point-source";
  readonly configPath: string;
}
interface RestoreSource {
  readonly kind: "restore-source";
  readonly configPath: string;
}

export const pointSource: StepDefinition<PointSource, RestoreSource> = {
  kind: "point-source",
  title: ({ url, tokens }) => {
    const whose = Object.keys(tokens).join(", ");
    return `let the engine at ${url} keep the memory of ${whose}, each with the token in its file`;
  },
  detail: () => "The memory on this machine stays, but is not searched.",
  exitCode: EXIT.openclaw,
  record: async (step, context) => {
    const openclaw = requireOpenClaw(context);
    const now = at(await openclaw.authoredConfig(step.configPath), ...SOURCE.path);
    const { source: earlier } = context.environment.journal.entries;
    return { target: openclaw.target, source: changeOf(SOURCE, earlier, now, sourceSetting(step)) };
  },
  run: async (step, context) => {
    const config = await requireOpenClaw(context).authoredConfig(step.configPath);
    await patchConfig(step.configPath, context, settingPatch(SOURCE, config, sourceSetting(step)));
  },
  undo: {
    kind: "restore-source",
    title: ({ configPath }) => `restore the memory's source in ${configPath}`,
    exitCode: EXIT.openclaw,
    plan: ({ journal, openclaw }) =>
      openclaw !== undefined && journal.source !== undefined && !isConfigAsLeft(journal)
        ? { kind: "restore-source", configPath: openclaw.configPath }
        : undefined,
    run: async ({ configPath }, context) => {
      const { source } = context.environment.journal.entries;
      if (source === undefined) return;
      const now = at(await requireOpenClaw(context).authoredConfig(configPath), ...SOURCE.path);
      const former = restored(SOURCE, source, now);
      await patchConfig(configPath, context, patchAt(SOURCE.path, patchBetween(now, former)));
      if (!isEqual(at(former, "source"), at(source.before, "source")))
        context.warn("The plugin's source was changed since the installation and stays.");
    },
    forgets: ["source"],
  },
};

/** Replaced completely, because a token for one engine must not reach another one. */
function sourceSetting({ url, tokens, fingerprint256 }: EngineChoice): JsonObject {
  const files = Object.entries(tokens).map(([agent, file]) => [agent, { file }] as const);
  return {
    source: {
      kind: "engine",
      url,
      tokens: Object.fromEntries(files),
      ...(fingerprint256 !== undefined && { fingerprint256 }),
    },
  };
}
