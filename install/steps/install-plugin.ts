/** Packs and installs the plugin; uninstalls it without leaving traces in the configuration. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { patchAt, patchBetween } from "../config-section.ts";
import type { Environment } from "../environment.ts";
import { NOTES_PLUGIN_ID, PLUGIN_FOLDERS, PLUGIN_ID, type PluginId } from "../install-names.ts";
import type { OpenClawReady } from "../installation-facts.ts";
import type { JournalChanges } from "../journal.ts";
import { at, isObject, type Json, type JsonObject, objectOf, own, parseJson5 } from "../openclaw-json.ts";
import type { OpenClaw } from "../run-openclaw.ts";
import { writeConfig } from "./config-changes.ts";
import {
  EXIT,
  requireOpenClaw,
  type StepContext,
  type StepDefinition,
  type UninstallFacts,
} from "./step-definition.ts";

interface InstallPlugin<Name extends string> {
  readonly kind: `install-${Name}`;
  readonly plugin: PluginId;
  readonly version: string;
  readonly configPath: string;
  readonly capabilities: readonly string[];
}
interface UninstallPlugin<Name extends string> {
  readonly kind: `uninstall-${Name}`;
  readonly plugin: PluginId;
  readonly configPath: string;
  /** False after a killed run: then only its traces in the configuration are removed. */
  readonly isThere: boolean;
}

/** A plugin from before our installation stays. A plugin without a record, or its rest, counts as ours. */
export const installPlugin = pluginSteps("plugin", {
  plugin: PLUGIN_ID,
  record: { installedPlugin: true },
  isThere: ({ installed }) => installed !== "absent",
  isOurs: ({ journal }, isThere) => journal.installedPlugin || (isThere && !journal.hasConfigCopy),
});

export const installNotesPlugin = pluginSteps("notes-plugin", {
  plugin: NOTES_PLUGIN_ID,
  record: { installedNotes: true },
  isThere: ({ installedNotes }) => installedNotes !== "absent",
  isOurs: ({ journal }) => journal.installedNotes,
});

interface OnePlugin {
  readonly plugin: PluginId;
  readonly record: Pick<JournalChanges, "installedPlugin" | "installedNotes">;
  readonly isThere: (openclaw: OpenClawReady) => boolean;
  readonly isOurs: (facts: UninstallFacts, isThere: boolean) => boolean;
}

function pluginSteps<const Name extends string>(
  name: Name,
  { plugin, record, isThere, isOurs }: OnePlugin,
): StepDefinition<InstallPlugin<Name>, UninstallPlugin<Name>> {
  return {
    kind: `install-${name}`,
    title: ({ plugin, version }) => `install the plugin ${plugin} ${version} into OpenClaw`,
    detail: ({ capabilities }) => `it brings: ${capabilities.join(", ")}`,
    exitCode: EXIT.openclaw,
    record: (_, context) => ({ target: requireOpenClaw(context).target, ...record }),
    run: async ({ plugin, configPath }, context) => {
      const openclaw = requireOpenClaw(context);
      const folder = await mkdtemp(join(tmpdir(), "helmdeck-plugin-"));
      try {
        const tarball = await packPlugin(plugin, folder, context.environment);
        await writeConfig(configPath, context, async () => {
          const wasThere = (await openclaw.pluginFolder(plugin)) !== undefined;
          await withFileThere(openclaw, tarball, (path) => openclaw.installPlugin(path));
          if (!wasThere) await enable(plugin, configPath, openclaw);
        });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    undo: {
      kind: `uninstall-${name}`,
      title: ({ plugin, isThere }) => `${isThere ? "uninstall" : "remove the rest of"} the plugin ${plugin}`,
      exitCode: EXIT.openclaw,
      plan: (facts) => {
        const { openclaw } = facts;
        const isStill = openclaw !== undefined && isThere(openclaw);
        if (openclaw === undefined || !isOurs(facts, isStill)) return undefined;
        const { configPath } = openclaw;
        return { kind: `uninstall-${name}`, plugin, configPath, isThere: isStill };
      },
      run: (step, context) =>
        writeConfig(step.configPath, context, async () => {
          const openclaw = requireOpenClaw(context);
          const plugins = async () => at(await openclaw.authoredConfig(step.configPath), "plugins");
          const [before, last] = [at(await configBefore(context), "plugins"), await plugins()];
          if (step.isThere) await openclaw.uninstallPlugin(step.plugin);
          // A running gateway leaves a disabled entry, without the operator's settings.
          const now = await plugins();
          const { search } = context.environment.journal.entries;
          // Those stay as long as memory does.
          const allowed = plugin === PLUGIN_ID ? (search?.allowed ?? []) : [];
          const patch = patchBetween(now, withoutPlugin({ before, last, now }, step.plugin, allowed));
          if (patch !== undefined) await openclaw.patchConfig(patchAt(["plugins"], patch));
        }),
      forgets: Object.keys(record) as (keyof typeof record)[], // keys of the journal
    },
  };
}

/** OpenClaw's own uninstallation leaves a disabled entry, which a new installation does not enable. */
async function enable(plugin: PluginId, configPath: string, openclaw: OpenClaw): Promise<void> {
  const path = ["plugins", "entries", plugin, "enabled"];
  const isOff = at(await openclaw.authoredConfig(configPath), ...path) === false;
  if (isOff) await openclaw.patchConfig(patchAt(path, true));
}

async function packPlugin(id: PluginId, folder: string, { run, root }: Environment): Promise<string> {
  const plugin = join(root, "dist", PLUGIN_FOLDERS[id]);
  const packed = await run("npm", ["pack", "--silent", "--pack-destination", folder, plugin]);
  const name = packed.stdout.trim().split("\n").at(-1);
  if (packed.exitCode !== 0 || !name)
    throw new HelmdeckError(
      "upstream_failed",
      "npm pack failed; npm is part of Node, and OpenClaw needs it too.",
    );
  return join(folder, name);
}

/** The file at OpenClaw's location; in a container, a temporary copy. */
async function withFileThere(
  openclaw: Pick<OpenClaw, "target" | "exec">,
  file: string,
  use: (path: string) => Promise<void>,
): Promise<void> {
  if (openclaw.target.kind === "host") return use(file);
  const copy = `/tmp/helmdeck-plugin-${process.pid}.tgz`;
  const ran = await openclaw.exec(["sh", "-c", 'cat > "$1"', "sh", copy], { input: await readFile(file) });
  if (ran.exitCode !== 0)
    throw new HelmdeckError("upstream_failed", "The container's /tmp is not writable; make it writable.");
  try {
    await use(copy);
  } finally {
    await openclaw.exec(["rm", "-f", copy]);
  }
}

async function configBefore({ environment }: StepContext): Promise<Json | undefined> {
  const copy = await environment.journal.readCopy();
  return copy === undefined ? undefined : parseJson5(copy.toString("utf8"));
}

type Maybe = Json | undefined;

/** The `plugins` section before our installation, before the plugin's uninstallation, and now. */
interface PluginsThen {
  readonly before: Maybe;
  readonly last: Maybe;
  readonly now: Maybe;
}

/**
 * OpenClaw's `plugins` section without our plugin: pure functions on JSON.
 *
 * `plugins` without our additions: our place in `allow`, the plugins that we allowed, and our entry. If an operator has settings
 * in our entry, it is kept with them, because the host's uninstallation drops it.
 */
export function withoutPlugin(
  { before, last, now }: PluginsThen,
  id: string,
  allowed: readonly string[],
): Maybe {
  const was = { entry: at(before, "entries", id), allow: at(before, "allow") };
  const plugins = isObject(now) ? now : {};
  const [entries, allow] = [own(plugins, "entries"), own(plugins, "allow")];
  const ids = [id, ...allowed].filter((name) => !(Array.isArray(was.allow) && was.allow.includes(name)));
  const left = {
    ...plugins,
    entries: {
      ...(isObject(entries) ? without(entries, id) : {}),
      ...(was.entry === undefined ? {} : { [id]: entryOf(was.entry, at(last, "entries", id)) }),
    },
    ...(Array.isArray(allow)
      ? { allow: allow.filter((name) => typeof name !== "string" || !ids.includes(name)) }
      : {}),
  };
  const kept = Object.entries(left).filter(
    ([key, value]) => !isEmpty(value) || at(before, key) !== undefined,
  );
  return kept.length === 0 && before === undefined ? undefined : objectOf(kept);
}

/** Keeps the operator's latest settings, and the enabled state from before us. */
function entryOf(was: Json, last: Maybe): Json {
  if (!isObject(was) || !isObject(last)) return was;
  const hasMore = Object.keys(last).some((key) => key !== "enabled");
  const enabled = own(was, "enabled");
  return { ...without(hasMore ? last : was, "enabled"), ...defined({ enabled }) };
}

function without(object: JsonObject, key: string): JsonObject {
  return objectOf(Object.entries(object).filter(([name]) => name !== key));
}

function isEmpty(value: Json): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}
