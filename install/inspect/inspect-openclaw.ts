/** Finds OpenClaw, on this machine or in a container, and reads its setup without any secrets. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { embeddingSettingsOf } from "../../app/embedding/embedding-settings.ts";
import { findStorage } from "../../app/storage-location.ts";
import { defined } from "../../engine/defined.ts";
import { checkModel, modelFolderIn } from "../../model/artefact.ts";
import type { Environment } from "../environment.ts";
import { NOTES_PLUGIN_ID, PLUGIN_FOLDERS, PLUGIN_ID, type PluginId } from "../install-names.ts";
import {
  type AuditTools,
  type EngineChoice,
  type FactsEmbedder,
  type GatewayFacts,
  type GatewayLock,
  type InstalledPlugin,
  type OpenClawFacts,
  type OpenClawReady,
  type SearchFacts,
  type Target,
  targetName,
} from "../installation-facts.ts";
import { unfitIndexes } from "../notes-index.ts";
import { at, isObject, type Json } from "../openclaw-json.ts";
import { OpenClaw } from "../run-openclaw.ts";
import { memoryFiles } from "../steps/delete-memory.ts";
import { inspectAttachment } from "./inspect-docker.ts";

export interface FoundOpenClaw {
  readonly facts: OpenClawFacts;
  readonly openclaw: OpenClaw | undefined;
}

/** Asking OpenClaw for the state of its notes takes seconds. `if-we-were-here`: only if an earlier run may have changed it. */
export type AskForNotes = "always" | "if-we-were-here" | "never";

interface InspectOptions {
  readonly notes: AskForNotes;
}

/** `wanted`: the target that the operator named, or that of an earlier run. */
export async function inspectOpenClaw(
  environment: Environment,
  wanted: Target | undefined,
  options: InspectOptions,
): Promise<FoundOpenClaw> {
  const targets = wanted === undefined ? await possibleTargets(environment) : [wanted];
  const found = await Promise.all(targets.map((target) => OpenClaw.find(target, environment)));
  const there = found.filter((openclaw) => openclaw !== undefined);
  const [openclaw] = there;
  if (there.length > 1) {
    return {
      facts: { state: "ambiguous", choices: there.map(({ target }) => targetName(target)) },
      openclaw: undefined,
    };
  }
  if (openclaw !== undefined) return { openclaw, facts: await inspectFound(environment, openclaw, options) };
  const facts: OpenClawFacts =
    wanted?.kind === "container" ? { state: "no_such_container", name: wanted.name } : { state: "missing" };
  return { facts, openclaw: undefined };
}

/** This machine, and every running container whose image or name suggests OpenClaw. */
async function possibleTargets({ docker }: Environment): Promise<readonly Target[]> {
  const containers = await Promise.all((await docker.runningNames()).map((name) => docker.container(name)));
  const names = containers.flatMap((container) => {
    const { NetworkMode = "" } = container?.HostConfig ?? {};
    const isOne = /openclaw/i.test(`${container?.Config.Image} ${container?.Name}`);
    // A container that shares another's network is only its command line.
    return container !== undefined && isOne && !NetworkMode.startsWith("container:")
      ? [container.Name.slice(1)]
      : [];
  });
  return [{ kind: "host" }, ...names.map((name) => ({ kind: "container" as const, name }))];
}

async function inspectFound(
  environment: Environment,
  openclaw: OpenClaw,
  { notes }: InspectOptions,
): Promise<OpenClawFacts> {
  const { target } = openclaw;
  try {
    const asked = openclaw.config("memory.search"); // runs concurrently
    const configPath = await openclaw.configPath();
    const config = await openclaw.authoredConfig(configPath);
    const memory = target.kind === "host" ? memoryFacts(environment, config) : undefined;
    const isNotesDue = notes === "always" || (notes !== "never" && wereHere(environment, config, memory));
    const [{ value: search, complaint }, gateway, installed, indexes] = await Promise.all([
      asked,
      inspectGateway(openclaw, config),
      installedFacts(environment, openclaw, config, memory),
      isNotesDue ? openclaw.ask(["memory", "status", "--json"]) : undefined,
    ]);
    if (complaint !== undefined && config !== undefined)
      return { state: "broken", target, reason: complaint };
    return {
      state: "ready",
      target,
      version: openclaw.version,
      configPath,
      hasConfigFile: config !== undefined,
      gateway,
      search: searchFacts(search),
      facts: factsEmbedder(at(config, "plugins", "entries", PLUGIN_ID, "config", "embeddings")),
      engine: engineOf(at(config, "plugins", "entries", PLUGIN_ID, "config", "source")),
      auditTools: auditTools(at(config, "plugins", "entries", PLUGIN_ID, "config", "auditTools")),
      ...answeredFacts(at(config, "plugins", "entries", PLUGIN_ID)),
      ...pluginFacts(config),
      unfitIndexes: unfitIndexes(indexes, config),
      agentsWithProvider: agentsWithProvider(config),
      ...installed,
      attachment: await inspectAttachment(environment, target),
      memory,
    };
  } catch (error) {
    return { state: "broken", target, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Our installer has run for this account, or its plugin or memory exists. */
function wereHere(
  { journal }: Environment,
  config: Json | undefined,
  memory: OpenClawReady["memory"],
): boolean {
  const traces = [dirname(journal.folder), memory?.keyPath, memory?.databasePath];
  return (
    at(config, "plugins", "entries", PLUGIN_ID) !== undefined ||
    traces.some((path) => path !== undefined && existsSync(path))
  );
}

function searchFacts(search: Json | undefined): SearchFacts {
  const baseUrl = text(at(search, "remote", "baseUrl"));
  return {
    enabled: at(search, "enabled") !== false,
    provider: text(at(search, "provider")),
    model: text(at(search, "model")),
    baseUrl: baseUrl === undefined ? undefined : withoutSlash(baseUrl),
  };
}

/** Read like the plugin does, including defaults. A setting that it cannot use also counts as the operator's. */
function factsEmbedder(embeddings: Json | undefined): FactsEmbedder {
  const { apiKey, ...given } = objectIn(embeddings);
  const settings = embeddingSettingsOf(given, (field) => field);
  if (apiKey === undefined && Object.keys(given).length === 0) return { provider: "unset" };
  if (!("url" in settings)) return { provider: settings.provider };
  const { provider, model, url } = settings;
  if (provider === "ollama" && apiKey !== undefined) return { provider: "unusable" };
  return { provider, model, url: withoutSlash(url) };
}

/** Ignores tokens that are not files, because an installation cannot have set them. */
function engineOf(source: Json | undefined): EngineChoice | undefined {
  const url = text(at(source, "url"));
  if (at(source, "kind") !== "engine" || url === undefined) return undefined;
  const files = Object.entries(objectIn(at(source, "tokens"))).map(
    ([agent, token]) => [agent, text(at(token, "file")) ?? ""] as const,
  );
  const fingerprint256 = text(at(source, "fingerprint256"));
  return { url, tokens: Object.fromEntries(files), ...defined({ fingerprint256 }) };
}

function answeredFacts(
  entry: Json | undefined,
): Pick<OpenClawReady, "speakUp" | "keepAYear" | "seesConversations"> {
  const days = at(entry, "config", "lifetimeDays");
  const set = [at(entry, "config", "autoRecall"), at(entry, "config", "captureRequests")];
  const isOn = set.includes("sure") || set.includes("store");
  const isOpen = set.every((value) => value === undefined);
  return {
    speakUp: isOpen ? undefined : isOn ? "on" : "off",
    keepAYear: days === undefined ? undefined : days === 365 ? "on" : "off",
    seesConversations: at(entry, "hooks", "allowConversationAccess") === true,
  };
}

function auditTools(value: Json | undefined): AuditTools | undefined {
  return value === "all" || value === "helmdeck" ? value : undefined;
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}

/** "*" among the disabled plugins: all are disabled. */
function pluginFacts(config: Json | undefined): Pick<OpenClawReady, "allowedPlugins" | "disabledPlugins"> {
  const plugins = at(config, "plugins");
  const allow = at(plugins, "allow");
  const denied = at(plugins, "deny");
  const off = Object.entries(objectIn(at(plugins, "entries")))
    .filter(([, entry]) => at(entry, "enabled") === false)
    .map(([id]) => id);
  return {
    allowedPlugins: Array.isArray(allow) ? allow.filter((id) => typeof id === "string") : undefined,
    disabledPlugins: [
      ...off,
      ...(Array.isArray(denied) ? denied.filter((id) => typeof id === "string") : []),
      ...(at(plugins, "enabled") === false ? ["*"] : []),
    ],
  };
}

function agentsWithProvider(config: Json | undefined): readonly string[] {
  return Object.entries(objectIn(at(config, "agents", "entries")))
    .filter(([, agent]) => at(agent, "memory", "search", "provider") !== undefined)
    .map(([id]) => id);
}

const MODEL_STATUS = ["helmdeck", "model", "status", "--json"];

async function installedFacts(
  environment: Environment,
  openclaw: OpenClaw,
  config: Json | undefined,
  memory: OpenClawReady["memory"],
): Promise<Pick<OpenClawReady, "installed" | "installedNotes" | "hasModel">> {
  const [installed, installedNotes] = await Promise.all([
    installedPlugin(environment, openclaw, config, PLUGIN_ID),
    installedPlugin(environment, openclaw, config, NOTES_PLUGIN_ID),
  ]);
  if (memory !== undefined) {
    const { ok } = await checkModel(modelFolderIn(dirname(memory.keyPath)));
    return { installed, installedNotes, hasModel: ok };
  }
  // In a container its own plugin knows; an older one does not.
  const answer = installed === "same" ? await openclaw.ask(MODEL_STATUS) : undefined;
  return { installed, installedNotes, hasModel: at(answer, "installed") === true };
}

/** Two files of a plugin that hold its program. */
const PROGRAMS = {
  [PLUGIN_ID]: ["index.js", "worker.js"],
  [NOTES_PLUGIN_ID]: ["index.js", "model-process.js"],
} as const;

/** Compares their contents, because two builds can have the same version. */
async function installedPlugin(
  { root }: Environment,
  openclaw: OpenClaw,
  config: Json | undefined,
  id: PluginId,
): Promise<InstalledPlugin> {
  if (at(config, "plugins", "entries", id) === undefined) return "absent";
  const folder = await openclaw.pluginFolder(id);
  if (folder === undefined) return "absent";
  const dist = join(root, "dist", PLUGIN_FOLDERS[id], "dist");
  const ours = await filesHash(PROGRAMS[id], (name) => readFile(join(dist, name), "utf8"));
  const theirs = await filesHash(
    PROGRAMS[id],
    async (name) => (await openclaw.exec(["cat", `${folder}/dist/${name}`])).stdout,
  );
  return ours === theirs ? "same" : "other";
}

async function filesHash(names: readonly string[], read: (name: string) => Promise<string>): Promise<string> {
  const hash = createHash("sha256");
  for (const name of names) hash.update(await read(name));
  return hash.digest("hex");
}

function memoryFacts(
  { env, homeDir }: Environment,
  config: Json | undefined,
): NonNullable<OpenClawReady["memory"]> {
  const settings = at(config, "plugins", "entries", PLUGIN_ID, "config");
  const databasePath = text(at(settings, "databasePath"));
  const place = findStorage({ env, homeDir, ...defined({ databasePath }) });
  const isGiven =
    at(settings, "encryptionKey") !== undefined ||
    Boolean(env.HELMDECK_MEMORY_KEY ?? env.HELMDECK_MEMORY_KEY_FILE ?? env.HELMDECK_MEMORY_KEY_COMMAND);
  const isThere = memoryFiles(place).length > 0;
  if (isGiven) return { ...place, isThere, key: "given" };
  return { ...place, isThere, key: existsSync(place.keyPath) ? "file" : "none" };
}

function objectIn(value: Json | undefined) {
  return isObject(value) ? value : {};
}

function text(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

const CALL = ["gateway", "call", "health", "--timeout", "20000", "--json"];
/** OpenClaw's own timeout for a starting or busy gateway. Without credentials it answers at once. */
const HEALTH = ["health", "--timeout", "60000", "--json"];

/**
 * Inspects OpenClaw's gateway through OpenClaw's own command line.
 *
 * A gateway counts as stopped only if nothing answers at all: a second gateway would exit at once, and calls to the first one
 * would fail midway.
 *
 * `config`: the configuration as written in the file.
 */
export async function inspectGateway(
  openclaw: Pick<OpenClaw, "ask">,
  config: Json | undefined,
): Promise<GatewayFacts> {
  if (at(config, "gateway", "mode") === "remote") return "remote";
  const variable = variableFor(at(config, "gateway", "auth"));
  const answer = await openclaw.ask(CALL);
  if (at(answer, "ok") === true) return "running";
  if (isRefusal(answer)) return { variable, problem: refusal(answer) };
  if (nothingListens(answer)) return "stopped";
  // Without credentials the call is not sent; health shows whether anything is listening.
  const health = await openclaw.ask(HEALTH);
  const isLocked = errorType(answer) === "gateway_credentials_required";
  if (at(health, "ok") === true) return isLocked ? { variable, problem: "missing" } : "running";
  if (isRefusal(health)) return { variable, problem: refusal(health) };
  if (at(health, "gateway", "reachable") === true) return { variable, problem: "missing" };
  const isUnseen = errorType(health) === "gateway_credentials_required" || nothingListens(health);
  return isUnseen ? "stopped" : "silent";
}

function errorType(answer: Json | undefined): Json | undefined {
  return at(answer, "error", "type");
}

/** The gateway answered with a refusal. */
function isRefusal(answer: Json | undefined): boolean {
  return errorType(answer) === "gateway_request_error";
}

function refusal(answer: Json | undefined): GatewayLock["problem"] {
  const codes = [at(answer, "error", "code"), at(answer, "error", "details", "code")];
  return codes.includes("AUTH_RATE_LIMITED") ? "locked_out" : "refused";
}

function nothingListens(answer: Json | undefined): boolean {
  return String(at(answer, "error", "reason")).includes("ECONNREFUSED");
}

/** The variable with the gateway's password or token. */
function variableFor(auth: Json | undefined): string {
  const kind = at(auth, "mode") === "password" ? "password" : "token";
  const secret = at(auth, kind);
  const named =
    typeof secret === "string"
      ? /^\$\{(\w+)\}$/.exec(secret)?.[1]
      : at(secret, "source") === "env" && at(secret, "id");
  return typeof named === "string" ? named : `OPENCLAW_GATEWAY_${kind.toUpperCase()}`;
}
