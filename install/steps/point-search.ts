/** Sets the provider of OpenClaw's `memory.search` and allows its plugin, and restores the former state. */
import { changeOf, patchAt, patchBetween, restored, SEARCH } from "../config-section.ts";
import type { NOTES_PROVIDER } from "../install-names.ts";
import { at, isEqual, isObject, type Json, type JsonObject } from "../openclaw-json.ts";
import { isConfigAsLeft, patchConfig, settingPatch } from "./config-changes.ts";
import { EXIT, requireOpenClaw, type StepDefinition } from "./step-definition.ts";

/** What is to embed OpenClaw's notes. */
export type SearchWanted =
  | { readonly provider: "ollama"; readonly model: string; readonly baseUrl: string }
  | { readonly provider: typeof NOTES_PROVIDER };

type PointSearch = SearchWanted & {
  readonly kind: "point-search";
  readonly configPath: string;
  /** The operator's own provider that is replaced. */
  readonly replaces: string | undefined;
  /** Plugins to add to `plugins.allow`; otherwise the gateway does not load the provider. */
  readonly allow: readonly string[];
};
interface RestoreSearch {
  readonly kind: "restore-search";
  readonly configPath: string;
}
type Maybe = Json | undefined;

export const pointSearch: StepDefinition<PointSearch, RestoreSearch> = {
  kind: "point-search",
  title: ({ replaces, allow, ...wanted }) => {
    const insteadOf = replaces === undefined ? "" : `, instead of ${replaces}`;
    const allowed = allow.length === 0 ? "" : `, and allow the plugin ${allow.join(", ")}`;
    return `point OpenClaw's memory.search at ${nameOfWanted(wanted)}${insteadOf}${allowed}`;
  },
  exitCode: EXIT.openclaw,
  record: async (step, context) => {
    const openclaw = requireOpenClaw(context);
    const now = at(await openclaw.authoredConfig(step.configPath), ...SEARCH.path);
    const { search: earlier } = context.environment.journal.entries;
    const allowed = [...new Set([...(earlier?.allowed ?? []), ...step.allow])];
    const search = { ...changeOf(SEARCH, earlier, now, searchSetting(step)), allowed };
    return { target: openclaw.target, search, indexDue: true };
  },
  run: async (step, context) => {
    const config = await requireOpenClaw(context).authoredConfig(step.configPath);
    const search = settingPatch(SEARCH, config, searchSetting(step));
    await patchConfig(step.configPath, context, { ...search, ...allowPatch(config, step.allow) });
  },
  undo: {
    kind: "restore-search",
    title: ({ configPath }) => `restore the provider of OpenClaw's memory.search in ${configPath}`,
    exitCode: EXIT.openclaw,
    plan: ({ journal, openclaw }) =>
      openclaw !== undefined && journal.search !== undefined && !isConfigAsLeft(journal)
        ? { kind: "restore-search", configPath: openclaw.configPath }
        : undefined,
    record: (_, { environment: { journal } }) =>
      journal.entries.search === undefined ? {} : { indexDue: true },
    run: async ({ configPath }, context) => {
      const { search } = context.environment.journal.entries;
      if (search === undefined) return;
      const config = await requireOpenClaw(context).authoredConfig(configPath);
      const now = at(config, ...SEARCH.path);
      const former = restored(SEARCH, search, now);
      const back = patchAt(SEARCH.path, patchBetween(now, former));
      await patchConfig(configPath, context, { ...back, ...disallowPatch(config, search.allowed) });
      if (!isEqual(former, search.before))
        context.warn("memory.search was changed since the installation; those changes stay.");
    },
    forgets: ["search"],
  },
};

export function nameOfWanted(wanted: SearchWanted): string {
  return wanted.provider === "ollama" ? `${wanted.model} on ${wanted.baseUrl}` : "the built-in model";
}

/** `remote` is replaced completely, because a key for the former provider must not reach another service. */
export function searchSetting(wanted: SearchWanted): JsonObject {
  const { provider } = wanted;
  if (wanted.provider !== "ollama") return { search: { provider } };
  return { search: { provider, model: wanted.model, remote: { baseUrl: wanted.baseUrl } } };
}

function allowPatch(config: Maybe, ids: readonly string[]): JsonObject {
  const allow = at(config, "plugins", "allow");
  return ids.length > 0 && Array.isArray(allow) ? { plugins: { allow: [...allow, ...ids] } } : {};
}

function disallowPatch(config: Maybe, ids: readonly string[]): JsonObject {
  const plugins = at(config, "plugins");
  const allow = at(plugins, "allow");
  if (!isObject(plugins) || !Array.isArray(allow)) return {};
  const left = allow.filter((id) => typeof id !== "string" || !ids.includes(id));
  return patchAt(["plugins"], patchBetween(plugins, { ...plugins, allow: left }));
}
