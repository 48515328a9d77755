/**
 * Decides who is asking, from the host's context for the call: a subject, or a refusal.
 *
 * The host names the agent and the session, and says whether the run is sandboxed; the model has no say. A stranger who
 * writes to an agent in a group, through a web hook or in a sandboxed run must not read or plant facts of the agent's owner,
 * and no agent may reach another's memory. So a missing, malformed, contradictory or unknown identity is refused, and the
 * contexts that strangers can enter are closed until the operator opens them. If the session's key does not show who
 * started the session, lineage.ts decides.
 */
import { parseAgentSessionKey } from "openclaw/plugin-sdk/routing";
import type { Asker } from "../app/memory.ts";
import { defined } from "../engine/defined.ts";
import type { Writer } from "../engine/store/writer.ts";
import { type ClosedContext, MCP_ENTRY_AGENT, type PluginConfig } from "./config.ts";

/** The host's context for a call. `unknown`, because a hook or a caller of /tools/invoke can put any value there. */
export interface Caller {
  readonly agentId?: unknown;
  readonly agentSessionKey?: unknown;
  readonly sandboxed?: unknown;
}

/** The settings that decide whose memory an agent uses. */
export type SubjectRules = Pick<PluginConfig, "subjects" | "source">;

export interface IdentityRules extends SubjectRules {
  readonly allow: PluginConfig["allow"];
  /** In lower case; undefined if the host's configuration lists no agents. */
  readonly knownAgents: ReadonlySet<string> | undefined;
  /** The host's `session.mainKey`, in lower case; usually "main". */
  readonly mainKey: string;
}

/** Why a caller is refused. Shown to people; tells nothing about the stored data. */
export type Refusal =
  | "no_agent"
  | "unknown_agent"
  | "no_session"
  | "no_token"
  | "agent_mismatch"
  | "malformed"
  | "unknown_origin"
  | ClosedContext;

export type Verdict = Admitted | { readonly ok: false; readonly reason: Refusal };

export interface Admitted {
  readonly ok: true;
  readonly subject: string;
  readonly agentId: string;
  /** The closed context that the operator opened; absent in the agent's own sessions. */
  readonly opened?: Refusal;
  /** No person or model asked: the hits go into a prompt automatically. */
  readonly unasked?: true;
  /** The kind of session, for people; absent if there is none, as on the command line. */
  readonly sessionKind?: string;
}

/**
 * Which evidence shows who started a session: the key alone (main session, direct chats); the key unless the host's record
 * says otherwise (named sessions); or only the record (sub-agents and cron runs, whose keys look the same for every origin).
 */
export type Evidence = "key" | "record_if_any" | "record";

/** The verdict on a session's key: the evidence to use, or a refusal. */
export type KeyVerdict =
  | { readonly ok: true; readonly evidence: Evidence }
  | { readonly ok: false; readonly reason: Refusal };

/** The verdict on a caller. `session` is the checked key. */
export type CallerVerdict =
  | (Admitted & { readonly session: string; readonly evidence: Evidence })
  | { readonly ok: false; readonly reason: Refusal };

type SessionKind = Evidence | "groups" | "hooks" | "malformed";

/** The suffix that active memory adds to the key of the current session. */
const AHEAD_OF_TURN = /:active-memory:[0-9a-f]{12}$/i;
const AGENT_ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;
export const SESSION_KEY_MAX_CHARS = 4_096;
/** First key parts of sessions that the host opens for a run; nobody writes there directly. */
const RUNS = new Set(["subagent", "acp", "cron"]);
/** First key parts of sessions that the operator opens (Control UI, command line), or the host for a recorded task. */
const OPERATOR_SESSIONS = new Set(["main", "dashboard", "explicit", "boot", "sdk"]);
const DIRECT_PEERS = new Set(["direct", "dm"]);
const SHARED_PEERS = new Set(["group", "channel", "room", "guild", "space"]);

/** The same rules for reading, writing and every surface. Final if the evidence is "key". */
export function whoAsks(caller: Caller, rules: IdentityRules): CallerVerdict {
  const agentId = readAgentId(caller.agentId);
  if (agentId === undefined) return refuse(isMissing(caller.agentId) ? "no_agent" : "malformed");
  if (rules.knownAgents !== undefined && !rules.knownAgents.has(agentId)) return refuse("unknown_agent");
  const { agentSessionKey: session } = caller;
  if (isMissing(session)) return refuse("no_session");
  if (typeof session !== "string") return refuse("malformed");
  const key = judgeKey(session, agentId, rules);
  if (!key.ok) return key;
  const sandboxed = caller.sandboxed ?? false;
  if (typeof sandboxed !== "boolean") return refuse("malformed");
  if (sandboxed && !rules.allow.has("sandboxed")) return refuse("sandboxed");
  const subject = subjectOf(agentId, rules);
  return subject.ok ? { ...subject, session, evidence: key.evidence } : subject;
}

/** Judges the key of one session of this agent: the caller's, or one of its origins. */
export function judgeKey(session: string, agentId: string, rules: IdentityRules): KeyVerdict {
  const kind = sessionKind(session, agentId, rules.mainKey);
  if (kind === "groups" || kind === "hooks") {
    if (!rules.allow.has(kind)) return refuse(kind);
    return { ok: true, evidence: "key" };
  }
  return kind === "malformed" || kind === "agent_mismatch" ? refuse(kind) : { ok: true, evidence: kind };
}

/**
 * Whether memory shows only sure hits: strangers must not learn by guessing what else the owner keeps, and a prompt must
 * not fill with uncertain hits that nobody asked for.
 */
export function isQuiet({ opened, unasked }: Admitted): boolean {
  return opened !== undefined || unasked === true;
}

/** Whether this is a session of OpenClaw's active memory, which searches before each turn and puts the hits into the prompt. */
export function isAheadOfTurn(sessionKey: unknown): boolean {
  return typeof sessionKey === "string" && AHEAD_OF_TURN.test(sessionKey);
}

/** The subject of an agent that the operator names. If a server keeps memory, the subject is the name of the agent's token. */
export function subjectOf(agentId: string, { subjects, source }: SubjectRules): Verdict {
  const id = readAgentId(agentId);
  if (id === undefined) return refuse("malformed");
  if (source.kind !== "embedded" && !hasToken(id, source)) return refuse("no_token");
  if (!subjects.has(id)) return { ok: true, subject: id, agentId: id };
  const subject = subjects.get(id);
  return subject === undefined ? refuse("malformed") : { ok: true, subject, agentId: id };
}

function hasToken(
  id: string,
  { kind, tokens }: Exclude<SubjectRules["source"], { kind: "embedded" }>,
): boolean {
  return tokens.has(id) || (kind === "helmdeck" && id === MCP_ENTRY_AGENT);
}

/** The writer, as stored with each entry. */
export function writerOf({ agentId, sessionKind }: Admitted): Writer {
  return { surface: "openclaw", agent: agentId, ...defined({ sessionKind }) };
}

/** The writer of what a person typed themselves; the surface is one that `isPersons` knows. */
export function byPerson(verdict: Admitted, surface = "openclaw-chat"): Asker {
  return { ...writerOf(verdict), surface, isPerson: true };
}

/** The session kind shown to people: `main`, `direct`, `group`, `hook`, `subagent`, `acp`, `cron`, `dashboard` …; else `other`. */
export function sessionKindOf(sessionKey: unknown): string {
  const parsed = typeof sessionKey === "string" ? parseAgentSessionKey(sessionKey) : null;
  const parts = parsed?.rest.toLowerCase().split(":") ?? [];
  const [first = ""] = parts;
  if (first === "hook" || RUNS.has(first)) return first;
  if (isForeign(parts)) return "group";
  if (isDirectShape(parts)) return "direct";
  return OPERATOR_SESSIONS.has(first) ? first : "other";
}

const REASONS: Readonly<Record<Refusal, string>> = {
  no_agent: "OpenClaw did not say which agent is asking",
  unknown_agent: "this agent is not in OpenClaw's configuration",
  no_session: "OpenClaw did not say which session is asking",
  agent_mismatch: "the session belongs to another agent",
  no_token:
    "this agent has no token for the server that keeps its memory (source.tokens in the plugin's configuration)",
  malformed: "OpenClaw sent a malformed caller identity",
  unknown_origin: "memory is closed to this session, because OpenClaw does not report its origin",
  groups: "memory is closed to groups, channels and shared sessions (to open it: allow: groups)",
  hooks: "memory is closed to hooks (to open it: allow: hooks)",
  sandboxed: "memory is closed to sandboxed runs (to open it: allow: sandboxed)",
};

export function sentenceOfRefusal(reason: Refusal): string {
  return REASONS[reason];
}

function sessionKind(sessionKey: string, agentId: string, mainKey: string): SessionKind | "agent_mismatch" {
  if (sessionKey.length > SESSION_KEY_MAX_CHARS) return "malformed";
  if (/\p{Cc}/u.test(sessionKey) || sessionKey !== sessionKey.trim()) return "malformed";
  // With session.scope: global, everybody shares one session, including groups; the host still names the agent.
  if (sessionKey.toLowerCase() === "global") return "groups";
  const parsed = parseAgentSessionKey(sessionKey);
  if (parsed === null) return "malformed";
  if (parsed.agentId.toLowerCase() !== agentId) return "agent_mismatch";
  return kindOfRest(parsed.rest.toLowerCase().split(":"), mainKey);
}

function kindOfRest(parts: readonly string[], mainKey: string): SessionKind {
  const [first = ""] = parts;
  if (parts.includes("") || first === "agent" || first === "unknown") return "malformed";
  if (first === "hook") return parts.length > 1 ? "hooks" : "malformed";
  if (RUNS.has(first)) return kindOfRun(parts);
  if (isForeign(parts)) return "groups";
  if (first === mainKey || first === "main" || isDirectShape(parts)) return "key";
  return isOperatorsShape(parts) ? "record_if_any" : "groups";
}

/** `<kind>:<id>…`. The rest is judged too, because the host may put a run's origin there. */
function kindOfRun([what, ...rest]: readonly string[]): SessionKind {
  const [id] = rest;
  if (id === undefined || rest.includes("agent") || rest.includes("unknown")) return "malformed";
  if (rest.includes("hook")) return "hooks";
  // A conversation bound to an outside program; its key does not show whether it is a direct one.
  const isBound = what === "acp" && id === "binding";
  return isBound || rest.includes("global") || isForeign(rest) ? "groups" : "record";
}

/** Whether any part of the key marks a conversation with others, or a session that everybody shares. */
function isForeign(parts: readonly string[]): boolean {
  return parts[0] === "global" || parts.some(isShared);
}

/**
 * Whether the session belongs to the operator or to one person. Any other shape belongs to a channel. It counts as shared,
 * because it is unknown who can write there.
 */
function isOperatorsShape(parts: readonly string[]): boolean {
  const [first = "", second, third] = parts;
  return parts.length === 1 || OPERATOR_SESSIONS.has(first) || (second === "slash" && third !== undefined);
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

function refuse(reason: Refusal): { readonly ok: false; readonly reason: Refusal } {
  return { ok: false, reason };
}
