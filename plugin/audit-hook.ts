/**
 * The after_tool_call hook: writes one audit row for each run of a helmdeck tool and, if the operator enabled it, for each
 * call of any tool. The row belongs to the agent that ran the tool.
 *
 * Tool arguments and results can contain anything. So a row has the tool's name, the outcome as a word, the duration and a
 * fixed list of harmless inputs, never a result. Access is decided as everywhere else: a group or a stranger's hook must not
 * fill an agent's memory with rows. Calls of other tools in contexts that strangers can enter are never recorded, even if
 * the operator opened those contexts.
 */
import { isIncognitoSessionKey } from "openclaw/plugin-sdk/routing";
import type { Memory } from "../app/memory.ts";
import type { PackAudit } from "../engine/audit/audit-rows.ts";
import { learnableInputs } from "../engine/audit/learnable.ts";
import { BoundedMap } from "../engine/bounded-map.ts";
import { defined } from "../engine/defined.ts";
import type { AccessPolicy } from "./access-policy.ts";
import { outcomeOf } from "./call-outcome.ts";
import { type Admitted, writerOf } from "./identity.ts";
import type { MemoryAccess } from "./memory-access.ts";
import type { Logger } from "./openclaw-api.ts";
import { logLineOf } from "./plugin-failure.ts";
import { durationOf, isDenied, isMemoryTool, type RecordingRules, toolRowOf } from "./tool-calls.ts";
import { callerIn, fieldOf } from "./unchecked.ts";
import { withinDeadline } from "./within-deadline.ts";

const AUDIT_DEADLINE_MS = 10_000;
/** The number of finished calls to remember, so that a second report of one makes no second row. */
const CALLS_REMEMBERED = 1_000;
const NAME_MAX_CHARS = 128;
/** The host's limit for a server's name within a tool's name. */
const SERVER_NAME_MAX_CHARS = 30;

export interface AuditParts {
  readonly access: MemoryAccess;
  readonly policy: AccessPolicy;
  readonly log: Logger;
  /** Names of the helmdeck MCP servers in the host's configuration. */
  readonly servers: readonly string[];
  readonly rules: RecordingRules;
}

/** The hook's handler. Resolves when the row is written or the call needs none; never rejects. */
export function makeAuditHook(parts: AuditParts): (event: unknown, context: unknown) => Promise<void> {
  const seenCalls = new BoundedMap<string, true>(CALLS_REMEMBERED);
  return async (event, context) => {
    try {
      const record = recordingOf(event, parts, Date.now());
      if (record === undefined || isIncognito(context)) return;
      const verdict = await parts.policy.verdictWithoutSandboxFlag(callerIn(context));
      if (!verdict.ok || (record.inOwnSessionsOnly && verdict.opened !== undefined)) return;
      if (isSecondReport(seenCalls, event)) return;
      const recorded = parts.access.open().then((memory) => record.into(memory, verdict));
      await withinDeadline(AUDIT_DEADLINE_MS, recorded);
    } catch (error) {
      parts.log.warn(`helmdeck memory: a tool run was not recorded: ${logLineOf(error)}`);
    }
  };
}

interface Recording {
  readonly inOwnSessionsOnly: boolean;
  readonly into: (memory: Memory, caller: Admitted) => Promise<void>;
}

/** Undefined for a call that leaves no record. */
function recordingOf(event: unknown, parts: AuditParts, nowMs: number): Recording | undefined {
  const { servers, rules } = parts;
  if (isDenied(event, rules)) return undefined;
  const pack = auditRowOf(event, servers, nowMs);
  if (pack !== undefined) {
    return {
      inOwnSessionsOnly: false,
      into: (memory, caller) => memory.recordPackRun(caller.subject, pack, writerOf(caller)),
    };
  }
  const call = toolRowOf(event, rules, nowMs);
  return (
    call && {
      inOwnSessionsOnly: true,
      into: (memory, caller) => memory.recordToolCall(caller.subject, call, writerOf(caller)),
    }
  );
}

/** The row for a finished tool call, or undefined if the tool belongs to none of these servers. */
export function auditRowOf(event: unknown, servers: readonly string[], nowMs: number): PackAudit | undefined {
  const pack = packOf(event, servers);
  if (pack === undefined) return undefined;
  const inputs = learnableInputs(fieldOf(event, "params"));
  return {
    pack,
    outcome: outcomeOf(event),
    at_unix: Math.floor(nowMs / 1_000),
    ...durationOf(event),
    ...defined({ learn_inputs: inputs }),
  };
}

/**
 * The pack's own name. The result has it (`details.mcpServer`, `details.mcpTool`). If the call failed without a result, the
 * name comes from the tool's name, in which the host replaced every character outside A-Z a-z 0-9 _ - with "-".
 */
function packOf(event: unknown, servers: readonly string[]): string | undefined {
  const toolName = fieldOf(event, "toolName");
  if (typeof toolName !== "string" || isMemoryTool(event)) return undefined;
  const server = servers.find((name) => toolName.toLowerCase().startsWith(toolPrefixOf(name)));
  if (server === undefined) return undefined;
  const details = fieldOf(fieldOf(event, "result"), "details");
  const said = fieldOf(details, "mcpServer") === server ? fieldOf(details, "mcpTool") : undefined;
  const pack = typeof said === "string" ? said.trim() : toolName.slice(toolPrefixOf(server).length);
  if (pack === "" || pack.length > NAME_MAX_CHARS) return undefined;
  return /[\p{Cc}\p{Cf}]/u.test(pack) ? undefined : pack;
}

/** The prefix that the host gives to the names of a server's tools. */
function toolPrefixOf(server: string): string {
  const safe = server.trim().replace(/[^A-Za-z0-9_-]/g, "-");
  const named = /^[A-Za-z]/.test(safe) ? safe : `mcp-${safe}`;
  return `${named.slice(0, SERVER_NAME_MAX_CHARS).toLowerCase()}__`;
}

/** Marks the call as seen. Calls without an id cannot be told apart, so each is recorded. */
function isSecondReport(seenCalls: BoundedMap<string, true>, event: unknown): boolean {
  const callId = fieldOf(event, "toolCallId");
  if (typeof callId !== "string" || callId === "") return false;
  const call = `${String(fieldOf(event, "runId"))} ${callId}`;
  if (seenCalls.has(call)) return true;
  seenCalls.set(call, true);
  return false;
}

/** An incognito session leaves no rows. */
function isIncognito(context: unknown): boolean {
  const key = fieldOf(context, "sessionKey");
  return typeof key === "string" && isIncognitoSessionKey(key);
}
