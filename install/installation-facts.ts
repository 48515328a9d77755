/** What the installer found on the machine: plain data, gathered by inspect/, and all that the planner knows. */

import type { UnfitIndex } from "./notes-index.ts";
import type { JsonObject } from "./openclaw-json.ts";

/** Where OpenClaw runs. */
export type Target = { readonly kind: "host" } | { readonly kind: "container"; readonly name: string };

/** As `--openclaw` takes it. */
export function targetName(target: Target): string {
  return target.kind === "host" ? "host" : `container:${target.name}`;
}

export interface Facts {
  readonly machine: MachineFacts;
  readonly docker: DockerFacts;
  /** Address of an Ollama on this machine, looked for where the sidecar is wanted and Docker cannot be used. */
  readonly ollama: string | undefined;
  readonly openclaw: OpenClawFacts;
  /** Of the embedding service that is to be used; undefined when none is asked for. */
  readonly service: ServiceFacts | undefined;
  readonly plugin: PluginPackage;
  /** What an earlier run changed and has not taken back. */
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
      /** It is already on the machine. */
      readonly hasImage: boolean;
      readonly sidecar: SidecarFacts;
    };

export type DockerReady = Extract<DockerFacts, { state: "ready" }>;

/** Undefined: it cannot be asked. */
export function readyDocker({ docker }: Pick<Facts, "docker">): DockerReady | undefined {
  return docker.state === "ready" ? docker : undefined;
}

/** `docker compose`, or the older program of its own. */
export type ComposeFlavour = "docker compose" | "docker-compose";

export interface SidecarFacts {
  readonly state: "absent" | "stopped" | "running";
  readonly isHealthy: boolean;
  /** False when it was made from other files or variables than this run would use. */
  readonly isAsWanted: boolean;
  /** On loopback: published already, or free for it. */
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
  /** The part of `memory.search` that decides who embeds, as OpenClaw reads it; no secrets in it. */
  readonly search: SearchFacts;
  /** Who embeds helmdeck's facts: the plugin's `embeddings` as the plugin reads them, without the key. */
  readonly facts: FactsEmbedder;
  /** Who keeps memory, as the plugin's configuration says; undefined: this host. */
  readonly engine: EngineChoice | undefined;
  /** Of the plugin's configuration, when it is set. */
  readonly auditTools: AuditTools | undefined;
  /** `plugins.allow`, when it is set. */
  readonly allowedPlugins: readonly string[] | undefined;
  /** Plugins that are switched off by name. */
  readonly disabledPlugins: readonly string[];
  /** OpenClaw's indexes of its own notes that do not fit who embeds now; undefined when nobody looked, or it cannot be told. */
  readonly unfitIndexes: readonly UnfitIndex[] | undefined;
  /** Ids of agents with a provider of their own. */
  readonly agentsWithProvider: readonly string[];
  readonly installed: "absent" | "same" | "other";
  /** Where it runs in a container. */
  readonly attachment: AttachmentFacts | undefined;
  /** On the machine itself: where memory lies. */
  readonly memory: (MemoryLocation & { readonly key: "file" | "given" | "none" }) | undefined;
}

/** A served engine that keeps memory. */
export interface EngineChoice {
  readonly url: string;
  /** Files, by agent. */
  readonly tokens: Readonly<Record<string, string>>;
  readonly fingerprint256?: string;
}

export interface MemoryLocation {
  readonly databasePath: string;
  readonly keyPath: string;
}

/** `silent`: it does not answer in time, and cannot be taken for stopped either. */
export type GatewayFacts = "running" | "stopped" | "remote" | "silent" | GatewayLock;

/** It runs, and does not let this shell in. */
export interface GatewayLock {
  /** Of the environment, where its token or password is looked for. */
  readonly variable: string;
  readonly problem: "missing" | "refused" | "locked_out";
}

export interface SearchFacts {
  readonly enabled: boolean;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
}

/** Whose calls are recorded: of every tool, or of helmdeck's own. */
export type AuditTools = "all" | "helmdeck";

/** `none` is somebody's wish, `unset` nobody's. */
export type FactsEmbedder = FactsService | { readonly provider: "unset" | "none" | "unusable" };

/** A service as the plugin's configuration names it; `url` as seen from where OpenClaw runs. */
export interface FactsService {
  readonly provider: "ollama" | "openai-compatible";
  readonly model: string;
  readonly url: string;
}

/** For helmdeck `nomic-embed-text` is `nomic-embed-text:latest`; for OpenClaw they are two. */
export function isSameModel(left: string, right: string): boolean {
  const [one, other] = [left, right].map((name) => (name.includes(":") ? name : `${name}:latest`));
  return one === other;
}

export interface AttachmentFacts {
  readonly isAttached: boolean;
  /** Undefined for a container that compose does not manage. */
  readonly compose: ComposeMembership | undefined;
}

/** How the container's own compose project can be told about the network. */
export interface ComposeMembership {
  readonly service: string;
  /** The file that compose reads beside the project's own without being told to. */
  readonly overrideFile: string;
  readonly override: "absent" | "ours" | "theirs";
  /** False when the project was started with files named by hand: then compose does not read the override by itself. */
  readonly readsOverride: boolean;
  /** The networks of its project that the service is on now, by the names that its file gives them. */
  readonly ownNetworks: readonly string[];
}

export interface ServiceFacts {
  /** As this process reaches it; undefined when that is known only when it runs. */
  readonly url: string | undefined;
  /** Undefined: it was not reached. */
  readonly health: "ok" | { readonly reason: string };
  readonly hasModel: boolean;
}

export interface PluginPackage {
  readonly version: string;
  /** What the plugin may do, as its manifest declares it and OpenClaw will ask. */
  readonly capabilities: readonly string[];
}

export interface JournalFacts {
  readonly target: Target | undefined;
  /** What we last set in `memory`. */
  readonly search: JsonObject | undefined;
  /** What we last set in the plugin's configuration. */
  readonly facts: JsonObject | undefined;
  /** Somebody had us set who keeps memory. */
  readonly source: JsonObject | undefined;
  /** What a person answered, whether that was set, and whether a run was killed over it. */
  readonly auditTools:
    | { readonly answer: AuditTools; readonly isSet: boolean; readonly isDue: boolean }
    | undefined;
  /** OpenClaw's index of its notes may be of another provider than the one that is set. */
  readonly indexDue: boolean;
  readonly hasConfigCopy: boolean;
  /** The configuration is byte for byte as this program left it. */
  readonly configIsAsLeft: boolean;
  readonly madeNetwork: boolean;
  readonly installedPlugin: boolean;
  readonly attached: string | undefined;
  readonly startedSidecar: boolean;
}
