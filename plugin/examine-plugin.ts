/** Doctor's findings about the host: whether OpenClaw is set up to find memory, and who can find it. */
import type { Finding } from "../app/memory.ts";
import type { ModelCheck } from "../model/artefact.ts";
import type { PluginConfig } from "./config.ts";
import { NOTES_PLUGIN_ID, NOTES_PROVIDER } from "./notes/notes-names.ts";
import type { HostConfig } from "./openclaw-api.ts";
import { canSpeak, SPEAKS_FROM } from "./persons-turn.ts";
import { fieldsOf } from "./unchecked.ts";

export const PLUGIN_ID = "helmdeck-memory";
/** The oldest and newest hosts that the tests run. The manifest accepts no older one. */
export const TESTED_HOSTS = { oldest: "2026.8.1", newest: "2026.9.6" } as const;
const OLLAMA = "ollama";
const RUNS = "sub-agents and scheduled runs";
const ORIGINS_UNTOLD =
  "find and store nothing, because this OpenClaw does not tell plugins which session they come from";
const BACK_TO_KEYWORDS =
  "Or go back to keyword search: openclaw config set memory.search.provider none, " +
  "then openclaw memory index --force (required, or no note is found)";
/** An embedding service that does not answer a plain request within this time counts as down. */
const PROBE_DEADLINE_MS = 2_000;

export interface HostFacts {
  readonly config: HostConfig;
  readonly version: string;
  readonly plugin: PluginConfig;
  /** False if the host does not tell plugins where a session comes from. */
  readonly tellsOrigins: boolean;
  /** Whether something answers at this address in time. */
  readonly answers: (url: string) => Promise<boolean>;
  /** Whether the built-in model is there. */
  readonly findModel: () => Promise<ModelCheck>;
}

/** One finding per check, including those that pass. */
export async function hostFindings(facts: HostFacts): Promise<readonly Finding[]> {
  return [
    versionFinding(facts.version),
    enabledFinding(facts.config),
    allowFinding(facts.config),
    searchFinding(facts.plugin),
    ...idleSettings(facts.config, facts.plugin),
    ...sharingFindings(facts.config, facts.plugin),
    originFinding(facts.tellsOrigins),
    recordedFinding(facts.plugin),
    unaskedFinding(facts),
    wikiFinding(facts.config),
    await embeddingsFinding(facts),
  ];
}

/** Warnings about the host for status: only those that keep memory from somebody. */
export function hostWarnings(tellsOrigins: boolean): readonly string[] {
  return tellsOrigins ? [] : [`${RUNS} ${ORIGINS_UNTOLD}`];
}

/** Whether memory may speak up as configured: it needs a host that tells enough, and the operator's consent. */
function unaskedFinding(facts: Pick<HostFacts, "plugin" | "config" | "version">): Finding {
  const check = "recall unasked, kept requests";
  const { autoRecall, captureRequests } = facts.plugin;
  const obstacle = unaskedObstacle(facts);
  if (obstacle !== undefined) return { level: "warning", check, ...obstacle };
  return {
    level: "ok",
    check,
    message: `autoRecall is ${autoRecall}, captureRequests is ${captureRequests}`,
  };
}

/** For status: what keeps memory from speaking up, with the remedy. */
export function unaskedWarnings(facts: Pick<HostFacts, "plugin" | "config" | "version">): readonly string[] {
  const obstacle = unaskedObstacle(facts);
  return obstacle === undefined ? [] : [`${obstacle.message}: ${obstacle.remedy}`];
}

/** Undefined if nothing is in the way, or nothing is turned on. */
function unaskedObstacle({
  plugin,
  config,
  version,
}: Pick<HostFacts, "plugin" | "config" | "version">):
  | Required<Pick<Finding, "message" | "remedy">>
  | undefined {
  if (!speaksUp(plugin)) return undefined;
  if (!canSpeak(version))
    return {
      message: `autoRecall and captureRequests do nothing on OpenClaw ${version}, because it does not tell whose words begin a turn`,
      remedy: `Update OpenClaw to ${SPEAKS_FROM} or later.`,
    };
  const hooks = fieldsOf(config.plugins?.entries?.[PLUGIN_ID]?.hooks);
  if (hooks.allowConversationAccess !== true)
    return {
      message: "autoRecall and captureRequests do nothing, because the plugin may not see conversations",
      remedy: CONSENT_COMMAND,
    };
  if (hooks.allowPromptInjection === false)
    return {
      message: "autoRecall and captureRequests do nothing, because the plugin may not add to prompts",
      remedy: `openclaw config unset plugins.entries.${PLUGIN_ID}.hooks.allowPromptInjection`,
    };
  return undefined;
}

/** The operator's consent that OpenClaw asks of every plugin that sees messages. */
const CONSENT_COMMAND = `openclaw config set plugins.entries.${PLUGIN_ID}.hooks.allowConversationAccess true`;

/** Whether the operator turned on something that needs the hooks. */
export function speaksUp({ autoRecall, captureRequests }: PluginConfig): boolean {
  return autoRecall !== "off" || captureRequests !== "off";
}

/** Sends a plain request. Any answer counts, even an error. */
export async function answersInTime(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_DEADLINE_MS), redirect: "manual" });
    await response.body?.cancel();
    return true;
  } catch {
    return false;
  }
}

/** Features that an older host lacks are detected separately and have their own findings. */
function versionFinding(version: string): Finding {
  const { oldest, newest } = TESTED_HOSTS;
  return {
    level: "ok",
    check: "OpenClaw version",
    message: `${version}; the tests run with ${oldest} and ${newest}`,
  };
}

function enabledFinding(config: HostConfig): Finding {
  const check = "plugin enabled";
  const isOff = config.plugins?.enabled === false || config.plugins?.entries?.[PLUGIN_ID]?.enabled === false;
  if (!isOff) return { level: "ok", check, message: "yes" };
  return {
    level: "error",
    check,
    message: "the plugin is switched off in OpenClaw's configuration",
    remedy: `openclaw plugins enable ${PLUGIN_ID}`,
  };
}

function allowFinding(config: HostConfig): Finding {
  const check = "plugins.allow";
  const { allow } = config.plugins ?? {};
  if (allow === undefined) return { level: "ok", check, message: "not set; every enabled plugin loads" };
  if (allow.includes(PLUGIN_ID)) return { level: "ok", check, message: `lists ${PLUGIN_ID}` };
  return {
    level: "error",
    check,
    message: `does not list ${PLUGIN_ID}, so the gateway will not load it`,
    remedy: `Add ${PLUGIN_ID} to plugins.allow.`,
  };
}

function searchFinding(plugin: PluginConfig): Finding {
  const check = "searches without a corpus";
  if (plugin.searchByDefault) return { level: "ok", check, message: "ask helmdeck too" };
  return {
    level: "warning",
    check,
    message: 'do not ask helmdeck: only corpus "all" or "wiki" does, and models seldom name one',
    remedy: `openclaw config set plugins.entries.${PLUGIN_ID}.config.searchByDefault true`,
  };
}

/** helmdeck records the runs of its packs itself, and accepts no other records. */
const OF_RECORDS = ["auditServers", "auditTools", "auditDeny", "auditInputs", "renewOnUse"] as const;
const OF_A_MEMORY_HERE = ["subjects", "embeddings", "databasePath", "encryptionKey"] as const;

/** Settings for a memory on this host that have no effect because another system keeps it. `subjects` among them is a warning. */
function idleSettings(config: HostConfig, { source }: PluginConfig): readonly Finding[] {
  if (source.kind === "embedded") return [];
  const given = fieldsOf(config.plugins?.entries?.[PLUGIN_ID]?.config);
  const names = source.kind === "helmdeck" ? [...OF_A_MEMORY_HERE, ...OF_RECORDS] : OF_A_MEMORY_HERE;
  const idle = names.filter((name) => given[name] !== undefined && given[name] !== null);
  if (idle.length === 0) return [];
  const unset = idle.map((name) => `openclaw config unset plugins.entries.${PLUGIN_ID}.config.${name}`);
  return [
    {
      level: given.subjects !== undefined && given.subjects !== null ? "warning" : "ok",
      check: "settings without effect",
      message: `${idle.join(", ")}: ${source.kind === "helmdeck" ? "a running helmdeck" : "an engine"} keeps memory; owner, location, key and ${source.kind === "helmdeck" ? "records" : "embedding service"} are configured there`,
      remedy: `Keep them if this host should keep memory again; its old data needs its own key. Otherwise: ${unset.join(" && ")}`,
    },
  ];
}

/** Who shares a memory, perhaps without knowing. */
function sharingFindings(config: HostConfig, plugin: PluginConfig): readonly Finding[] {
  const { dmScope = "main", groupScope, scope } = config.session ?? {};
  const findings: Finding[] = [
    {
      level: admitsSeveral(config.channels) ? "warning" : "ok",
      check: "direct chats",
      message:
        `everyone who may write to an agent directly shares that agent's memory` +
        (dmScope === "main" ? " and its conversation (session.dmScope is main)" : ""),
      remedy:
        "To separate people, give each person their own agent. Allow only yourself to write to the other agents.",
    },
  ];
  if (groupScope === "main") {
    findings.push({
      level: "warning",
      check: "groups",
      message:
        "session.groupScope is main: groups look like the agent's own session, so they can read its memory",
      remedy: "openclaw config unset session.groupScope",
    });
  }
  if (scope === "global" && !plugin.allow.has("groups")) {
    findings.push({
      level: "warning",
      check: "global session",
      message:
        "session.scope is global: direct chats and groups cannot be told apart, so memory is closed to all of them",
      remedy: 'Set session.scope to per-sender, or open memory to groups (allow: ["groups"]).',
    });
  }
  return findings;
}

/** Sub-agents find nothing on a host that does not report their origin. */
function originFinding(tellsOrigins: boolean): Finding {
  const check = RUNS;
  if (tellsOrigins) return { level: "ok", check, message: "reach what the session they come from may reach" };
  return { level: "warning", check, message: ORIGINS_UNTOLD, remedy: "Update OpenClaw." };
}

/** Which tool calls are recorded. */
function recordedFinding({
  source,
  auditServers,
  auditTools,
  auditDeny,
  auditInputs,
}: PluginConfig): Finding {
  const check = "recorded tool calls";
  if (source.kind === "helmdeck")
    return {
      level: "ok",
      check,
      message: "none from this plugin; helmdeck records the runs of its packs itself",
    };
  const except = auditDeny.length === 0 ? "" : `, but for ${auditDeny.join(", ")}`;
  if (auditTools !== "all") {
    const servers = auditServers.length === 0 ? "none" : `those of MCP server ${auditServers.join(", ")}`;
    return { level: "ok", check, message: `${servers}${except}; auditTools "all" records every tool` };
  }
  const inputs = [...auditInputs].flatMap(([tool, names]) => names.map((name) => `${name} of ${tool}`));
  const kept = inputs.length === 0 ? "no inputs" : `of inputs only ${inputs.join(", ")}`;
  return {
    level: "ok",
    check,
    message: `those of every tool${except}: name, time, outcome, ${kept}; none in groups, hooks and sandboxed runs`,
  };
}

function wikiFinding(config: HostConfig): Finding {
  const check = "memory-wiki";
  const isOn = config.plugins?.entries?.["memory-wiki"]?.enabled === true;
  if (!isOn) return { level: "ok", check, message: "not enabled" };
  return {
    level: "warning",
    check,
    message:
      "is enabled; its scores are whole numbers and sort before helmdeck's, so a search may show wiki pages only",
    remedy: "Ask for more results, or: openclaw plugins disable memory-wiki",
  };
}

async function embeddingsFinding({ config, answers, findModel }: HostFacts): Promise<Finding> {
  const check = "OpenClaw's own embeddings";
  const { provider, remote } = config.memory?.search ?? {};
  if (provider === undefined || provider === "auto" || provider === "none") {
    return {
      level: "ok",
      check,
      message: provider === "none" ? "off" : "no provider set; OpenClaw uses keyword search",
    };
  }
  if (provider === OLLAMA && !mayLoad(OLLAMA, config)) {
    return {
      level: "warning",
      check,
      message:
        "memory.search.provider is ollama, but its plugin may not load, so the gateway uses keyword search for OpenClaw's notes",
      remedy: `Add ${OLLAMA} to plugins.allow, or: openclaw plugins enable ${OLLAMA}`,
    };
  }
  if (provider === NOTES_PROVIDER) return { check, ...(await builtInFinding(config, findModel)) };
  const baseUrl = remote?.baseUrl;
  if (baseUrl === undefined || baseUrl === "") {
    return { level: "ok", check, message: `memory.search.provider is ${provider}; not probed` };
  }
  if (await answers(baseUrl))
    return { level: "ok", check, message: `${provider} answers at ${withoutCredentials(baseUrl)}` };
  return {
    level: "warning",
    check,
    message:
      `${provider} at ${withoutCredentials(baseUrl)} does not answer; OpenClaw's part of a search then takes up to 30 s ` +
      "and finds none of its own notes, for a minute more after the service is back (helmdeck's part is not affected)",
    remedy: `Start that service. ${BACK_TO_KEYWORDS}`,
  };
}

/** A plugin that was uninstalled cannot be seen from here if the configuration names no plugins. */
async function builtInFinding(
  config: HostConfig,
  findModel: HostFacts["findModel"],
): Promise<Omit<Finding, "check">> {
  const named = `memory.search.provider is ${NOTES_PROVIDER}`;
  if (!mayLoad(NOTES_PLUGIN_ID, config)) {
    return {
      level: "warning",
      message: `${named}, but its plugin may not load, so OpenClaw finds none of its notes`,
      remedy: `Add ${NOTES_PLUGIN_ID} to plugins.allow, or: openclaw plugins enable ${NOTES_PLUGIN_ID}. ${BACK_TO_KEYWORDS}`,
    };
  }
  const model = await findModel();
  if (model.ok) return { level: "ok", message: `${named}; the built-in model is installed` };
  return {
    level: "warning",
    message: `${named}, but the model does not load, so OpenClaw searches its notes by keywords: ${model.problem}`,
    remedy: `openclaw helmdeck model install. ${BACK_TO_KEYWORDS}`,
  };
}

/** The provider's adapter is in this plugin, which the gateway loads only if its configuration allows it. */
function mayLoad(id: string, { plugins }: HostConfig): boolean {
  const isAllowed = plugins?.allow === undefined || plugins.allow.includes(id);
  return isAllowed && plugins?.deny?.includes(id) !== true && plugins?.entries?.[id]?.enabled !== false;
}

function withoutCredentials(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "its address";
}

/** Settings beside the channels. */
const NOT_CHANNELS: ReadonlySet<string> = new Set(["defaults", "modelByChannel"]);

/**
 * Who may write to an agent directly, as OpenClaw's `channels` are set up.
 *
 * Whether several people may write: in a channel that pairs or is open, or that lists more than one sender.
 */
function admitsSeveral(channels: unknown): boolean {
  return Object.entries(fieldsOf(channels))
    .filter(([name]) => !NOT_CHANNELS.has(name))
    .flatMap(([, channel]) => accountsOf(fieldsOf(channel)))
    .some(admitsSeveralTo);
}

type Fields = ReturnType<typeof fieldsOf>;

/** Each account inherits the channel's settings. */
function accountsOf(channel: Fields): readonly Fields[] {
  const accounts = Object.values(fieldsOf(channel.accounts));
  return accounts.length === 0
    ? [channel]
    : accounts.map((account) => ({ ...channel, ...fieldsOf(account) }));
}

function admitsSeveralTo({ enabled, dm, dmPolicy, allowFrom }: Fields): boolean {
  const { policy, allowFrom: listed } = fieldsOf(dm);
  const admits = dmPolicy ?? policy;
  if (enabled === false || admits === "disabled") return false;
  if (admits !== "allowlist") return true;
  const senders = allowFrom ?? listed;
  return Array.isArray(senders) && (senders.length > 1 || senders.includes("*"));
}
