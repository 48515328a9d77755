/**
 * Who is asking: what the host says about a caller becomes a subject, or a refusal.
 *
 * The host names the agent, the session and whether the run is sandboxed; the model names nothing. A stranger who writes
 * to an agent in a group, a web hook or a sandboxed run must not read or plant what the agent's owner asked it to keep,
 * and no agent may reach another's memory. So whatever is missing, malformed, contradictory or of an unknown kind is
 * refused, and the contexts that strangers can enter are closed until the operator opens them.
 */
import { parseAgentSessionKey } from "openclaw/plugin-sdk/routing";
import type { ClosedContext, PluginConfig } from "./config.ts";

/** What the host says of a call. `unknown`, since a hook or a caller of /tools/invoke may have left anything there. */
export interface Caller {
  readonly agentId?: unknown;
  readonly agentSessionKey?: unknown;
  readonly sandboxed?: unknown;
}

export interface IdentityRules {
  readonly subjects: PluginConfig["subjects"];
  readonly allow: PluginConfig["allow"];
  /** Lower case; undefined when the host's configuration lists no agents. */
  readonly knownAgents: ReadonlySet<string> | undefined;
  /** The host's `session.mainKey`, lower case; usually "main". */
  readonly mainKey: string;
}

/** Why a caller gets nothing. Shown to people; says nothing about what is stored. */
export type Refusal =
  | "no_agent"
  | "unknown_agent"
  | "no_session"
  | "agent_mismatch"
  | "malformed"
  | ClosedContext;

export type Verdict = Admitted | { readonly ok: false; readonly reason: Refusal };

export interface Admitted {
  readonly ok: true;
  readonly subject: string;
  readonly agentId: string;
  /** The context that strangers can enter and the operator opened; absent in the agent's own sessions. */
  readonly opened?: ClosedContext;
}

/** The session kinds that matter here: the agent's own, or one that others can enter. */
type SessionKind = "own" | "groups" | "hooks" | "malformed";

const AGENT_ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;
export const SESSION_KEY_MAX_CHARS = 4_096;
/** Sessions that an agent opens for its own work. */
const OWN_WORK = new Set(["subagent", "acp", "cron"]);
/** First words of sessions that only the operator can open: Control UI, command line, threads of the main session. */
const OPERATOR_SESSIONS = new Set(["main", "dashboard", "explicit", "boot", "sdk"]);
const DIRECT_PEERS = new Set(["direct", "dm"]);
const SHARED_PEERS = new Set(["group", "channel", "room", "guild", "space"]);

/** The verdict on a caller, the same for reading and writing and for every surface. */
export function whoAsks(caller: Caller, rules: IdentityRules): Verdict {
  const agentId = readAgentId(caller.agentId);
  if (agentId === undefined) return refuse(isMissing(caller.agentId) ? "no_agent" : "malformed");
  if (rules.knownAgents !== undefined && !rules.knownAgents.has(agentId)) return refuse("unknown_agent");
  const kind = sessionKind(caller.agentSessionKey, agentId, rules.mainKey);
  if (kind === "groups" || kind === "hooks") {
    if (!rules.allow.has(kind)) return refuse(kind);
  } else if (kind !== "own") return refuse(kind);
  const sandboxed = caller.sandboxed ?? false;
  if (typeof sandboxed !== "boolean") return refuse("malformed");
  if (sandboxed && !rules.allow.has("sandboxed")) return refuse("sandboxed");
  return openedBy(kind, sandboxed, subjectOf(agentId, rules.subjects));
}

function openedBy(kind: "own" | "groups" | "hooks", sandboxed: boolean, verdict: Verdict): Verdict {
  if (!verdict.ok || (kind === "own" && !sandboxed)) return verdict;
  return { ...verdict, opened: kind === "own" ? "sandboxed" : kind };
}

/** Whether memory shows only what it is sure of: a stranger must not learn by guessing what else the owner keeps. */
export function isQuiet({ opened }: Admitted): boolean {
  return opened !== undefined;
}

/** The subject of an agent that the operator names, on the command line. */
export function subjectOf(agentId: string, subjects: PluginConfig["subjects"]): Verdict {
  const id = readAgentId(agentId);
  if (id === undefined) return refuse("malformed");
  if (!subjects.has(id)) return { ok: true, subject: id, agentId: id };
  const subject = subjects.get(id);
  return subject === undefined ? refuse("malformed") : { ok: true, subject, agentId: id };
}

const REASONS: Readonly<Record<Refusal, string>> = {
  no_agent: "OpenClaw did not say which agent is asking",
  unknown_agent: "this agent is not in OpenClaw's configuration",
  no_session: "OpenClaw did not say which session is asking",
  agent_mismatch: "the session belongs to another agent",
  malformed: "OpenClaw's account of who is asking is malformed",
  groups: "memory is closed to groups, channels and shared sessions (allow: groups opens it)",
  hooks: "memory is closed to hooks (allow: hooks opens it)",
  sandboxed: "memory is closed to sandboxed runs (allow: sandboxed opens it)",
};

export function sentenceOfRefusal(reason: Refusal): string {
  return REASONS[reason];
}

function sessionKind(
  sessionKey: unknown,
  agentId: string,
  mainKey: string,
): SessionKind | "no_session" | "agent_mismatch" {
  if (isMissing(sessionKey)) return "no_session";
  if (typeof sessionKey !== "string" || sessionKey.length > SESSION_KEY_MAX_CHARS) return "malformed";
  if (/\p{Cc}/u.test(sessionKey) || sessionKey !== sessionKey.trim()) return "malformed";
  // One session for everybody, groups included (session.scope: global); the host still names the agent.
  if (sessionKey.toLowerCase() === "global") return "groups";
  const parsed = parseAgentSessionKey(sessionKey);
  if (parsed === null) return "malformed";
  if (parsed.agentId.toLowerCase() !== agentId) return "agent_mismatch";
  return kindOfRest(parsed.rest.toLowerCase().split(":"), mainKey);
}

function kindOfRest(parts: readonly string[], mainKey: string): SessionKind {
  const [first = ""] = parts;
  if (parts.includes("") || first === "agent" || first === "unknown") return "malformed";
  if (first === "hook" || OWN_WORK.has(first)) return kindOfWork(parts);
  return isForeign(parts) || !isKnownChat(parts, mainKey) ? "groups" : "own";
}

/** A run that no person's message started directly: `<what>:<id>…`. */
function kindOfWork([what, id]: readonly string[]): SessionKind {
  if (id === undefined) return "malformed";
  if (what === "hook") return "hooks";
  // A conversation bound to an outside program; its key does not say whether it is a direct one.
  return what === "acp" && id === "binding" ? "groups" : "own";
}

/** A part anywhere in the key says that others are in the room, or that the session is everybody's. */
function isForeign(parts: readonly string[]): boolean {
  return parts[0] === "global" || parts.some(isShared);
}

/**
 * A session of the operator's, or of one person. Any other shape is some channel's own: as long as nobody knows who can
 * write there, it counts as shared.
 */
function isKnownChat(parts: readonly string[], mainKey: string): boolean {
  const [first = "", second, third] = parts;
  if (parts.length === 1 || first === mainKey || OPERATOR_SESSIONS.has(first)) return true;
  return isDirectShape(parts) || (second === "slash" && third !== undefined);
}

/** `direct:<peer>`, `<channel>:direct:<peer>` or `<channel>:<account>:direct:<peer>`. */
function isDirectShape(parts: readonly string[]): boolean {
  const at = parts.slice(0, 3).findIndex((part) => DIRECT_PEERS.has(part));
  return at !== -1 && parts.length > at + 1;
}

function isShared(part: string): boolean {
  return SHARED_PEERS.has(part) || part.endsWith("@g.us") || /^(guild|channel)-./.test(part);
}

function readAgentId(agentId: unknown): string | undefined {
  const id = typeof agentId === "string" ? agentId.toLowerCase() : "";
  return AGENT_ID.test(id) ? id : undefined;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function refuse(reason: Refusal): Verdict {
  return { ok: false, reason };
}
