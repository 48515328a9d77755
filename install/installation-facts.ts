/** The state of the machine: plain data from inspect/, and the planner's only input besides the options. */

import type { UnfitIndex } from "./notes-index.ts";
import type { JsonObject } from "./openclaw-json.ts";

/** Where OpenClaw is running. */
export type Target = { readonly kind: "host" } | { readonly kind: "container"; readonly name: string };

/** In the form of `--openclaw`. */
export function targetName(target: Target): string {
  return target.kind === "host" ? "host" : `container:${target.name}`;
}

export interface Facts {
  readonly machine: MachineFacts;
  readonly docker: DockerFacts;
  /** The address of an Ollama on this machine. Searched only if the sidecar is wanted and Docker is unusable. */
  readonly ollama: string | undefined;
  readonly openclaw: OpenClawFacts;
  /** The embedding service to use; undefined if none is wanted. */
  readonly service: ServiceFacts | undefined;
  readonly plugin: PluginPackage;
  /** The plugin for OpenClaw's own notes. */
  readonly notesPlugin: PluginPackage;
  /** Changes of an earlier run that have not been undone. */
  readonly journal: JournalFacts;
}

export interface MachineFacts {
  readonly freeDiskBytes: number;
  readonly memoryBytes: number;
}

export type DockerFacts =
  | { readonly state: "missing" }
  | { readonly state: "unreachable" }
  | { readonly state: "no_compose"; readonly engine: string }
  | {
      readonly state: "ready";
      readonly engine: string;
      readonly compose: ComposeFlavour;
      readonly hasNetwork: boolean;
      /** Of the sidecar. */
      readonly image: string;
      /** The image is already on the machine. */
      readonly hasImage: boolean;
      readonly sidecar: SidecarFacts;
    };

export type DockerReady = Extract<DockerFacts, { state: "ready" }>;

/** Undefined: Docker is unusable. */
export function readyDocker({ docker }: Pick<Facts, "docker">): DockerReady | undefined {
  return docker.state === "ready" ? docker : undefined;
}

/** `docker compose`, or the older separate program. */
export type ComposeFlavour = "docker compose" | "docker-compose";

export interface SidecarFacts {
  readonly state: "absent" | "stopped" | "running";
  /** Its model embeds. */
  readonly isHealthy: boolean;
  /** False if it was created from other files or variables than this run would use. */
  readonly isAsWanted: boolean;
  /** The loopback port: already published, or free. */
  readonly port: number;
}

export type OpenClawFacts =
  | { readonly state: "missing" }
  | { readonly state: "ambiguous"; readonly choices: readonly string[] }
  | { readonly state: "no_such_container"; readonly name: string }
  | { readonly state: "broken"; readonly target: Target; readonly reason: string }
  | OpenClawReady;

export interface OpenClawReady {
  readonly state: "ready";
  readonly target: Target;
  readonly version: string;
  readonly configPath: string;
  readonly hasConfigFile: boolean;
  readonly gateway: GatewayFacts;
  /** The embedding settings of `memory.search`, as OpenClaw reads them, without secrets. */
  readonly search: SearchFacts;
  /** The plugin's `embeddings`, as the plugin reads them, without the key. */
  readonly facts: FactsEmbedder;
  /** The engine that keeps memory, from the plugin's configuration; undefined: this host. */
  readonly engine: EngineChoice | undefined;
  /** The built-in model is in OpenClaw's state folder, unchanged. */
  readonly hasModel: boolean;
  /** From the plugin's configuration, if set. */
  readonly auditTools: AuditTools | undefined;
  /** Whether recall unasked and kept requests are on, from the plugin's configuration; undefined: neither is set. */
  readonly speakUp: YesNo | undefined;
  /** Whether a year is the default life of facts, from the plugin's configuration; undefined: none is set. */
  readonly keepAYear: YesNo | undefined;
  /** The plugin may see conversations (`allowConversationAccess`). */
  readonly seesConversations: boolean;
  /** `plugins.allow`, if set. */
  readonly allowedPlugins: readonly string[] | undefined;
  /** Plugins that are disabled by name. */
  readonly disabledPlugins: readonly string[];
  /** OpenClaw's note indexes that do not match the current provider; undefined if not inspected or unknown. */
  readonly unfitIndexes: readonly UnfitIndex[] | undefined;
  /** Ids of agents with their own provider. */
  readonly agentsWithProvider: readonly string[];
  readonly installed: InstalledPlugin;
  /** The plugin for OpenClaw's own notes. */
  readonly installedNotes: InstalledPlugin;
  /** Present if it runs in a container. */
  readonly attachment: AttachmentFacts | undefined;
  /** The storage location, if OpenClaw runs on the machine itself. */
  readonly memory: MemoryFacts | undefined;
}

/** `other`: from another build. */
export type InstalledPlugin = "absent" | "same" | "other";

/** An engine on another server that keeps memory. */
export interface EngineChoice {
  readonly url: string;
  /** Token files by agent. */
  readonly tokens: Readonly<Record<string, string>>;
  readonly fingerprint256?: string;
}

interface MemoryFacts extends MemoryLocation {
  readonly key: "file" | "given" | "none";
  /** The database, a key, or what lies beside them. */
  readonly isThere: boolean;
  /** How many facts there are, of all callers, before they are deleted; absent if that is not known. */
  readonly facts?: number;
}

export interface MemoryLocation {
  readonly databasePath: string;
  readonly keyPath: string;
}

/** `silent`: it does not answer in time, but may not be stopped either. */
export type GatewayFacts = "running" | "stopped" | "remote" | "silent" | GatewayLock;

/** The gateway runs, but refuses this shell's credentials. */
export interface GatewayLock {
  /** The environment variable with its token or password. */
  readonly variable: string;
  readonly problem: "missing" | "refused" | "locked_out";
}

export interface SearchFacts {
  readonly enabled: boolean;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
}

/** Which tool calls are recorded: all, or only helmdeck's own. */
export type AuditTools = "all" | "helmdeck";

export type YesNo = "on" | "off";

/** `none` was chosen by somebody; `unset` was not. */
export type FactsEmbedder = EmbedsFacts | { readonly provider: "unset" | "none" | "unusable" };

/** What makes vectors of helmdeck's facts: the model that comes with it, or a service. */
export type EmbedsFacts = BuiltIn | FactsService;

/** What is to embed facts. */
export type FactsWanted = EmbedsFacts | { readonly provider: "none" };

interface BuiltIn {
  readonly provider: "builtin";
  /** The Ollama of before, whose vectors serve until the model has made its own. */
  readonly former?: Pick<FactsService, "url" | "model">;
}

/** A service in the plugin's configuration; `url` as seen from OpenClaw. */
export interface FactsService {
  readonly provider: "ollama" | "openai-compatible";
  readonly model: string;
  readonly url: string;
}

/** helmdeck treats `nomic-embed-text` and `nomic-embed-text:latest` as equal; OpenClaw does not. */
export function isSameModel(left: string, right: string): boolean {
  const [one, other] = [left, right].map((name) => (name.includes(":") ? name : `${name}:latest`));
  return one === other;
}

export interface AttachmentFacts {
  readonly isAttached: boolean;
  /** Undefined if compose does not manage the container. */
  readonly compose: ComposeMembership | undefined;
}

/** The container's own compose project. */
export interface ComposeMembership {
  readonly service: string;
  /** The override file that compose reads by default. */
  readonly overrideFile: string;
  readonly override: "absent" | "ours" | "theirs";
  /** False if the project was started with explicit files: then compose does not read the override by default. */
  readonly readsOverride: boolean;
  /** The service's current networks of its project, by their names in the file. */
  readonly ownNetworks: readonly string[];
}

export interface ServiceFacts {
  /** The address from this process; undefined if it is known only when the service runs. */
  readonly url: string | undefined;
  /** Undefined: the service was not reached. */
  readonly health: "ok" | { readonly reason: string };
  readonly hasModel: boolean;
}

export interface PluginPackage {
  readonly version: string;
  /** The capabilities in the plugin's manifest, which OpenClaw asks to approve. */
  readonly capabilities: readonly string[];
}

interface AnsweredFacts {
  readonly answer: YesNo;
  readonly isSet: boolean;
  readonly isDue: boolean;
}

export interface JournalFacts {
  /** A run began, even if it was killed before its first change. */
  readonly hasChoices: boolean;
  readonly target: Target | undefined;
  /** Our last setting in `memory`. */
  readonly search: JsonObject | undefined;
  /** Our last setting in the plugin's configuration. */
  readonly facts: JsonObject | undefined;
  /** An earlier run set the memory's source. */
  readonly source: JsonObject | undefined;
  /** The person's answer, whether it was applied, and whether a run was killed in between. */
  readonly auditTools:
    | { readonly answer: AuditTools; readonly isSet: boolean; readonly isDue: boolean }
    | undefined;
  readonly speakUp: AnsweredFacts | undefined;
  readonly keepAYear: AnsweredFacts | undefined;
  /** OpenClaw's note index may belong to a different provider than the configured one. */
  readonly indexDue: boolean;
  readonly hasConfigCopy: boolean;
  /** The configuration is byte for byte as this program wrote it. */
  readonly configIsAsLeft: boolean;
  readonly madeNetwork: boolean;
  readonly installedPlugin: boolean;
  readonly installedNotes: boolean;
  readonly installedModel: boolean;
  readonly attached: string | undefined;
  readonly startedSidecar: boolean;
}
