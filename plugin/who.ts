/** The host's side of identity: the rules that hold right now, and whether a session may be sandboxed. */
import type { PluginConfig } from "./config.ts";
import type { HostApi, HostConfig } from "./host.ts";
import { type Caller, type IdentityRules, SESSION_KEY_MAX_CHARS, type Verdict, whoAsks } from "./identity.ts";

const DEFAULT_AGENT = "main";
/** How many sessions' last known sandbox state is kept. */
const SESSIONS_REMEMBERED = 1_000;

/** Decides who is asking, by the plugin's configuration and the host's as it is at the moment of the call. */
export interface Gatekeeper {
  /** For calls in which the host says whether the run is sandboxed. */
  verdict(caller: Caller): Verdict;
  /** For hooks and commands, where it does not. */
  verdictWithoutSandboxFlag(caller: Omit<Caller, "sandboxed">): Verdict;
}

export function makeGatekeeper(config: PluginConfig, hostConfig: () => HostConfig): Gatekeeper {
  const seen = new Map<unknown, boolean>();
  return {
    verdict(caller) {
      remember(seen, caller);
      return whoAsks(caller, rulesFrom(config, hostConfig()));
    },
    verdictWithoutSandboxFlag(caller) {
      const host = hostConfig();
      const sandboxed = seen.get(caller.agentSessionKey) ?? maybeSandboxed(host, caller);
      return whoAsks({ ...caller, sandboxed }, rulesFrom(config, host));
    },
  };
}

/** The host's configuration as it is now; the one of registration time where the runtime cannot be asked. */
export function liveConfig(api: Pick<HostApi, "config" | "runtime">): () => HostConfig {
  return () => {
    try {
      // Read-only here; the host's type for its snapshot is the same one made deeply read-only.
      return api.runtime.config.current() as HostConfig;
    } catch {
      return api.config;
    }
  };
}

function rulesFrom(config: PluginConfig, host: HostConfig): IdentityRules {
  return {
    subjects: config.subjects,
    allow: config.allow,
    knownAgents: knownAgents(host),
    mainKey: host.session?.mainKey?.trim().toLowerCase() || "main",
  };
}

/** Ids of the agents that are configured, in lower case; undefined when no list is there. */
export function knownAgents(host: HostConfig): ReadonlySet<string> | undefined {
  const entries = host.agents?.entries;
  const ids = entries === undefined ? legacyAgentIds(host) : Object.keys(entries);
  return ids.length === 0 ? undefined : new Set(ids.map((id) => id.trim().toLowerCase()));
}

/** Whose memory is meant where nobody says: OpenClaw's own default agent, or the only one that is configured. */
export function defaultAgent(host: HostConfig): string {
  const known = knownAgents(host);
  const [only] = known ?? [];
  return known?.size === 1 && only !== undefined ? only : DEFAULT_AGENT;
}

/** `agents.list` of older configurations, which the host still reads. */
function legacyAgentIds(host: HostConfig): readonly string[] {
  const list: unknown = Reflect.get(host.agents ?? {}, "list");
  if (!Array.isArray(list)) return [];
  return list.map((entry: unknown) =>
    typeof entry === "object" && entry !== null ? String(Reflect.get(entry, "id")) : "",
  );
}

/** Sandboxed as far as the configuration tells: a session that another mode than "off" could confine counts as confined. */
function maybeSandboxed(host: HostConfig, caller: Omit<Caller, "sandboxed">): boolean {
  const id = String(caller.agentId).toLowerCase();
  const agents = Object.entries(host.agents?.entries ?? {});
  const agent = agents.find(([name]) => name.trim().toLowerCase() === id)?.[1];
  const mode = agent?.sandbox?.mode ?? host.agents?.defaults?.sandbox?.mode ?? "off";
  if (mode === "off") return false;
  return mode === "all" || caller.agentSessionKey !== `agent:${id}:${host.session?.mainKey ?? "main"}`;
}

function remember(seen: Map<unknown, boolean>, caller: Caller): void {
  const key = caller.agentSessionKey;
  if (typeof key !== "string" || key.length > SESSION_KEY_MAX_CHARS) return;
  seen.delete(key);
  seen.set(key, caller.sandboxed === true);
  if (seen.size > SESSIONS_REMEMBERED) seen.delete(seen.keys().next().value);
}
