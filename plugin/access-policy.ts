/** The host's side of identity: the current rules, a session's origin, and whether it may be sandboxed. */
import { BoundedMap } from "../engine/bounded-map.ts";
import type { PluginConfig } from "./config.ts";
import {
  type Admitted,
  type Caller,
  type Evidence,
  type IdentityRules,
  isAheadOfTurn,
  judgeKey,
  type Refusal,
  SESSION_KEY_MAX_CHARS,
  sessionKindOf,
  subjectOf,
  type Verdict,
  whoAsks,
} from "./identity.ts";
import type { HostApi, HostConfig, Logger } from "./openclaw-api.ts";
import { logLineOf } from "./plugin-failure.ts";
import type { ReadRecord, SessionRecord } from "./session-record.ts";
import { withinDeadline } from "./within-deadline.ts";

const DEFAULT_AGENT = "main";
/** If the host does not report a session's origin within this time, the origin counts as unknown. */
const ORIGIN_DEADLINE_MS = 1_000;
/** The last known sandbox state is kept for this many sessions. */
const SESSIONS_REMEMBERED = 1_000;

/** Decides who is asking, from the plugin's configuration and the host's current one. Never rejects. */
export interface AccessPolicy {
  /** For calls whose context says whether the run is sandboxed. */
  verdict(caller: Caller): Promise<Verdict>;
  /** For hooks and commands, whose context does not. */
  verdictWithoutSandboxFlag(caller: Omit<Caller, "sandboxed">): Promise<Verdict>;
}

export interface AccessPolicyParts {
  readonly config: PluginConfig;
  readonly hostConfig: () => HostConfig;
  readonly readRecord: ReadRecord;
  readonly log: Logger;
  readonly originDeadlineMs?: number;
}

export function makeAccessPolicy(parts: AccessPolicyParts): AccessPolicy {
  const { config, hostConfig } = parts;
  const seen = new BoundedMap<unknown, boolean>(SESSIONS_REMEMBERED);
  const originOf = makeOriginCheck(parts);

  async function refusalOf(
    caller: Caller,
    host: HostConfig,
    rules: IdentityRules,
  ): Promise<Refusal | undefined> {
    const asked = whoAsks(caller, rules);
    if (!asked.ok) return asked.reason;
    const { agentId, session, evidence } = asked;
    const isSandboxed = (key: string) =>
      seen.get(key) === true || maybeSandboxed(host, { agentId, agentSessionKey: key });
    return originOf((readRecord) =>
      refusalByOrigin(session, evidence, { agentId, rules, readRecord, isSandboxed }),
    );
  }

  async function settle(caller: Caller, host: HostConfig): Promise<Verdict> {
    const rules = rulesFrom(config, host);
    const reason = await refusalOf(caller, host, rules);
    if (reason !== undefined) return { ok: false, reason };
    const subject = subjectOf(String(caller.agentId), config);
    if (!subject.ok) return subject;
    const admitted: Admitted = { ...subject, sessionKind: sessionKindOf(caller.agentSessionKey) };
    const verdict: Admitted = isAheadOfTurn(caller.agentSessionKey)
      ? { ...admitted, unasked: true }
      : admitted;
    if (rules.allow.size === 0) return verdict;
    const opened = await refusalOf(caller, host, { ...rules, allow: new Set() });
    return opened === undefined ? verdict : { ...verdict, opened };
  }

  return {
    async verdict(caller) {
      remember(seen, caller);
      return settle(caller, hostConfig());
    },
    async verdictWithoutSandboxFlag(caller) {
      const host = hostConfig();
      const sandboxed = seen.get(caller.agentSessionKey) ?? maybeSandboxed(host, caller);
      return settle({ ...caller, sandboxed }, host);
    },
  };
}

type Asking = (readRecord: Lineage["readRecord"]) => Promise<Refusal | undefined>;

/** Refuses if the host cannot be asked, and logs this once until the host answers again. */
function makeOriginCheck({ readRecord, log, originDeadlineMs = ORIGIN_DEADLINE_MS }: AccessPolicyParts) {
  let lastTrouble: string | undefined;
  return async (asking: Asking): Promise<Refusal | undefined> => {
    try {
      const refusal = await withinDeadline(originDeadlineMs, asking(readRecord));
      lastTrouble = undefined;
      return refusal;
    } catch (error) {
      const trouble = logLineOf(error);
      if (trouble !== lastTrouble)
        log.warn(`helmdeck memory is closed to a session of unknown origin: ${trouble}`);
      lastTrouble = trouble;
      return "unknown_origin";
    }
  };
}

/** The host's current configuration, or the one from registration if the runtime cannot be asked. */
export function liveConfig(api: Pick<HostApi, "config" | "runtime">): () => HostConfig {
  return () => {
    try {
      // The host types its snapshot as the same type, deeply read-only; this code only reads it.
      return api.runtime.config.current() as HostConfig;
    } catch {
      return api.config;
    }
  };
}

function rulesFrom(config: PluginConfig, host: HostConfig): IdentityRules {
  return {
    subjects: config.subjects,
    source: config.source,
    allow: config.allow,
    knownAgents: knownAgents(host),
    mainKey: host.session?.mainKey?.trim().toLowerCase() || "main",
  };
}

/** Ids of the configured agents, in lower case; undefined if there is no list. */
export function knownAgents(host: HostConfig): ReadonlySet<string> | undefined {
  const entries = host.agents?.entries;
  const ids = entries === undefined ? legacyAgentIds(host) : Object.keys(entries);
  return ids.length === 0 ? undefined : new Set(ids.map((id) => id.trim().toLowerCase()));
}

/** The agent to use when none is named: OpenClaw's default agent, or the only one configured. */
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

/** Whether the configuration could sandbox this session: any mode other than "off" that may apply to it counts. */
function maybeSandboxed(host: HostConfig, caller: Omit<Caller, "sandboxed">): boolean {
  const id = String(caller.agentId).toLowerCase();
  const agents = Object.entries(host.agents?.entries ?? {});
  const agent = agents.find(([name]) => name.trim().toLowerCase() === id)?.[1];
  const mode = agent?.sandbox?.mode ?? host.agents?.defaults?.sandbox?.mode ?? "off";
  if (mode === "off") return false;
  return mode === "all" || caller.agentSessionKey !== `agent:${id}:${host.session?.mainKey ?? "main"}`;
}

function remember(seen: BoundedMap<unknown, boolean>, caller: Caller): void {
  const key = caller.agentSessionKey;
  if (typeof key !== "string" || key.length > SESSION_KEY_MAX_CHARS) return;
  seen.set(key, caller.sandboxed === true);
}

/** OpenClaw nests sub-agents up to five levels. */
const MOST_RECORDS = 32;

interface Lineage {
  readonly agentId: string;
  readonly rules: IdentityRules;
  readonly readRecord: ReadRecord;
  /** Whether the host would confine a run in this session. */
  readonly isSandboxed: (sessionKey: string) => boolean;
}

/**
 * Finds who started a session whose key does not show it: follows its parents up to sessions whose keys do.
 *
 * Threat: somebody in a closed group makes the agent start a sub-agent, a scheduled job or another session, whose key looks
 * like any of the agent's own. So each recorded parent is judged by the same rules. A chain of parents that is broken,
 * circular, too long or leads to another agent is refused.
 *
 * Why the session's origin closes memory to it, or undefined. Rejects if the host cannot be asked.
 */
async function refusalByOrigin(
  session: string,
  evidence: Evidence,
  lineage: Lineage,
): Promise<Refusal | undefined> {
  let recordsLeft = MOST_RECORDS;

  async function judge(sessionKey: string, line: readonly string[]): Promise<Refusal | undefined> {
    if (line.includes(sessionKey)) return "unknown_origin";
    const key = judgeKey(sessionKey, lineage.agentId, lineage.rules);
    if (!key.ok) return key.reason;
    if (lineage.isSandboxed(sessionKey) && !lineage.rules.allow.has("sandboxed")) return "sandboxed";
    return judgeRecord(sessionKey, key.evidence, line);
  }

  async function judgeRecord(
    sessionKey: string,
    wanted: Evidence,
    line: readonly string[],
  ): Promise<Refusal | undefined> {
    if (wanted === "key") return undefined;
    recordsLeft -= 1;
    if (recordsLeft < 0) return "unknown_origin";
    const record = await lineage.readRecord(sessionKey);
    const refusal = refusalByRecord(record, wanted, lineage.rules);
    if (refusal !== undefined) return refusal;
    for (const parent of record?.parents ?? []) {
      const inherited = await judge(parent, [...line, sessionKey]);
      if (inherited !== undefined) return inherited;
    }
    return undefined;
  }

  return judgeRecord(session, evidence, []);
}

function refusalByRecord(
  record: SessionRecord | undefined,
  wanted: Evidence,
  { allow }: IdentityRules,
): Refusal | undefined {
  if (record === undefined) return wanted === "record" ? "unknown_origin" : undefined;
  if (record.isShared && !allow.has("groups")) return "groups";
  if (record.isFromHook && !allow.has("hooks")) return "hooks";
  if (record.isSandboxed && !allow.has("sandboxed")) return "sandboxed";
  const isKnown = record.isOperators || record.isFromHook || record.parents.length > 0;
  return isKnown || (wanted === "record_if_any" && !record.isScheduled) ? undefined : "unknown_origin";
}
