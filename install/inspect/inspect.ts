/** Inspects the machine without changing it: Docker, the sidecar, OpenClaw, and traces of an earlier run. */
import { readFile, statfs } from "node:fs/promises";
import { totalmem } from "node:os";
import { join } from "node:path";
import { defined } from "../../engine/defined.ts";
import { embedsElsewhere } from "../earlier-choices.ts";
import type { Environment } from "../environment.ts";
import { NOTES_PLUGIN_ID, PLUGIN_FOLDERS, PLUGIN_ID, type PluginId } from "../install-names.ts";
import type {
  DockerFacts,
  Facts,
  JournalFacts,
  MachineFacts,
  OpenClawFacts,
  PluginPackage,
  ServiceFacts,
} from "../installation-facts.ts";
import { fingerprint, type Journal } from "../journal.ts";
import { at, type Json } from "../openclaw-json.ts";
import type { Options } from "../options.ts";
import { countFacts } from "../steps/delete-memory.ts";
import { findOllama, inspectDocker, sidecarAddress } from "./inspect-docker.ts";
import { type AskForNotes, type FoundOpenClaw, inspectOpenClaw } from "./inspect-openclaw.ts";

export interface Inspected {
  readonly facts: Facts;
  /** The handle of the inspected OpenClaw, if it is ready. */
  readonly openclaw: FoundOpenClaw["openclaw"];
}

export async function inspect(environment: Environment, options: Options): Promise<Inspected> {
  const [machine, plugin, notesPlugin, found] = await Promise.all([
    inspectMachine(environment),
    inspectPlugin(environment, PLUGIN_ID),
    inspectPlugin(environment, NOTES_PLUGIN_ID),
    inspectOpenClaw(environment, options.openclaw ?? environment.journal.entries.target, {
      notes: askForNotes(environment, options),
    }),
  ]);
  const docker = await inspectDocker(environment, options, found.facts);
  const isOllamaWanted =
    options.mode === "install" && options.embeddings.kind === "sidecar" && docker.state !== "ready";
  const ollama = isOllamaWanted ? await findOllama(environment) : undefined;
  const service = await inspectService(environment, options, docker, found.facts);
  const journal = await inspectJournal(environment.journal, found);
  const openclaw = options.purge ? await withFactCount(found.facts, environment) : found.facts;
  return {
    facts: { machine, plugin, notesPlugin, docker, ollama, service, journal, openclaw },
    openclaw: found.openclaw,
  };
}

async function withFactCount(openclaw: OpenClawFacts, { env }: Environment): Promise<OpenClawFacts> {
  if (openclaw.state !== "ready" || openclaw.memory?.isThere !== true) return openclaw;
  const facts = await countFacts(openclaw.memory, env);
  return { ...openclaw, memory: { ...openclaw.memory, ...defined({ facts }) } };
}

/** If our service is removed, an earlier version may have left an index that OpenClaw cannot use. */
function askForNotes({ journal }: Environment, { mode, embeddings, isEmbeddingOpen }: Options): AskForNotes {
  if (mode === "repair") return "always";
  const mayGo = isEmbeddingOpen || !embedsElsewhere(embeddings);
  const goes = mode === "uninstall" || (mode === "install" && mayGo);
  return goes && journal.entries.search === undefined ? "if-we-were-here" : "never";
}

async function inspectMachine({ homeDir }: Environment): Promise<MachineFacts> {
  const { bavail, bsize } = await statfs(homeDir);
  return { freeDiskBytes: bavail * bsize, memoryBytes: totalmem() };
}

async function inspectPlugin({ root }: Environment, id: PluginId): Promise<PluginPackage> {
  const manifest = JSON.parse(
    await readFile(join(root, "dist", PLUGIN_FOLDERS[id], "openclaw.plugin.json"), "utf8"),
  ) as Json; // written by our own build
  const version = at(manifest, "version");
  const tools = strings(at(manifest, "contracts", "tools"));
  const commands = names(at(manifest, "cliCommands")).map((name) => `openclaw ${name}`);
  const providers = strings(at(manifest, "contracts", "embeddingProviders")).map(
    (name) => `the embedding provider ${name}`,
  );
  const slashes = names(at(manifest, "commandAliases")).map((name) => `/${name}`);
  return {
    version: typeof version === "string" ? version : "unknown",
    capabilities: [...tools, ...commands, ...slashes, ...providers],
  };
}

async function inspectService(
  { sidecarAt, docker: client }: Environment,
  { embeddings, model }: Options,
  docker: DockerFacts,
  openclaw: OpenClawFacts,
): Promise<ServiceFacts | undefined> {
  if (!embedsElsewhere(embeddings)) return undefined;
  const url = embeddings.kind === "url" ? embeddings.url : await sidecarAddress(client, docker, openclaw);
  if (url === undefined) return { url, health: { reason: "it does not run yet" }, hasModel: false };
  const service = sidecarAt(url);
  const health = await service.health();
  if (!health.ok) return { url, health: { reason: health.reason }, hasModel: false };
  const hasModel = await service.hasModel(model).catch(() => false); // the step then asks again and reports the reason
  return { url, health: "ok", hasModel };
}

async function inspectJournal(journal: Journal, { facts, openclaw }: FoundOpenClaw): Promise<JournalFacts> {
  const { entries } = journal;
  const { config, leftAs } = entries;
  const now =
    openclaw === undefined || facts.state !== "ready"
      ? undefined
      : await openclaw.readConfigFile(facts.configPath);
  return {
    hasChoices: entries.choices !== undefined,
    target: entries.target,
    search: entries.search?.sets.at(-1),
    facts: entries.facts?.sets.at(-1),
    source: entries.source?.sets.at(-1),
    auditTools: entries.auditTools,
    speakUp: entries.speakUp,
    keepAYear: entries.keepAYear,
    indexDue: entries.indexDue === true,
    hasConfigCopy: config !== undefined,
    configIsAsLeft: config?.existed === true && now !== undefined && leftAs === fingerprint(now),
    madeNetwork: entries.madeNetwork === true,
    installedPlugin: entries.installedPlugin === true,
    installedNotes: entries.installedNotes === true,
    installedModel: entries.installedModel === true,
    attached: entries.attached?.container,
    startedSidecar: entries.startedSidecar === true,
  };
}

function strings(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function names(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? strings(value.map((item) => at(item, "name") ?? null)) : [];
}
