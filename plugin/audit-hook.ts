/**
 * The after_tool_call hook: a run of a helmdeck tool becomes one audit row of the agent that ran it.
 *
 * Tool arguments and results can hold anything, so a row keeps the tool's name, the outcome as a word, the duration and a
 * closed list of harmless inputs, never a result. Who ran it is decided as for every other access: a group or a stranger's
 * hook must not fill an agent's memory with rows.
 */
import { isIncognitoSessionKey } from "openclaw/plugin-sdk/routing";
import { defined, learnableInputs, type PackAudit } from "../app/index.ts";
import type { AccessPolicy } from "./access-policy.ts";
import { writerOf } from "./identity.ts";
import type { MemoryAccess } from "./memory-access.ts";
import type { Logger } from "./openclaw-api.ts";
import { logLineOf } from "./plugin-failure.ts";
import { FORGET_TOOL, STORE_TOOL } from "./tool-names.ts";
import { fieldOf } from "./unchecked.ts";
import { withinDeadline } from "./within-deadline.ts";

const AUDIT_DEADLINE_MS = 10_000;
/** Calls whose end was seen, so that a second report of one is not a second row. */
const CALLS_REMEMBERED = 1_000;
const NAME_MAX_CHARS = 128;
const BODY_MAX_CHARS = 10_000;
const UNKNOWN_FAILURE = "error";
const ERROR_CODE = /^[a-z][a-z0-9_]{1,63}$/;
/** The host's limit on a server's name inside a tool's name. */
const SERVER_NAME_MAX_CHARS = 30;
/** helmdeck's own memory tools: what they did is in memory already. */
const MEMORY_TOOL = /^(?:helmdeck[.-])?memory_(?:store|forget)(?:-\d+)?$/;

export interface AuditParts {
  readonly access: MemoryAccess;
  readonly gate: AccessPolicy;
  readonly log: Logger;
  /** Names of the helmdeck MCP servers in the host's configuration. */
  readonly servers: readonly string[];
  readonly nowMs?: () => number;
}

/** The hook's handler: resolves when the row is written or the call turned out to be none of ours; never rejects. */
export function makeAuditHook(parts: AuditParts): (event: unknown, context: unknown) => Promise<void> {
  const seenCalls = new Set<string>();
  const nowMs = parts.nowMs ?? Date.now;
  return async (event, context) => {
    try {
      const row = auditRowOf(event, parts.servers, nowMs());
      if (row === undefined || isIncognito(context)) return;
      const caller = {
        agentId: fieldOf(context, "agentId"),
        agentSessionKey: fieldOf(context, "sessionKey"),
      };
      const verdict = await parts.gate.verdictWithoutSandboxFlag(caller);
      if (!verdict.ok || isSecondReport(seenCalls, event)) return;
      const recorded = parts.access
        .open()
        .then((memory) => memory.recordPackRun(verdict.subject, row, writerOf(verdict)));
      await withinDeadline(AUDIT_DEADLINE_MS, recorded);
    } catch (error) {
      parts.log.warn(`helmdeck memory: a tool run was not recorded: ${logLineOf(error)}`);
    }
  };
}

/** The row for a finished tool call, or undefined when it was not a tool of one of these servers. */
export function auditRowOf(event: unknown, servers: readonly string[], nowMs: number): PackAudit | undefined {
  const pack = packOf(event, servers);
  if (pack === undefined) return undefined;
  const durationMs = fieldOf(event, "durationMs");
  const isDuration = typeof durationMs === "number" && Number.isFinite(durationMs) && durationMs >= 0;
  const inputs = learnableInputs(fieldOf(event, "params"));
  return {
    pack,
    outcome: outcomeOf(event),
    at_unix: Math.floor(nowMs / 1_000),
    ...(isDuration ? { duration_ms: Math.round(durationMs) } : {}),
    ...defined({ learn_inputs: inputs }),
  };
}

/**
 * The pack's own name. A result says it (`details.mcpServer`, `details.mcpTool`); where a call failed before there was
 * one, the tool's name does, in which the host has written "-" for every character outside A-Z a-z 0-9 _ -.
 */
function packOf(event: unknown, servers: readonly string[]): string | undefined {
  const toolName = fieldOf(event, "toolName");
  if (typeof toolName !== "string" || toolName === STORE_TOOL || toolName === FORGET_TOOL) return undefined;
  const server = servers.find((name) => toolName.toLowerCase().startsWith(toolPrefixOf(name)));
  if (server === undefined) return undefined;
  const details = fieldOf(fieldOf(event, "result"), "details");
  const said = fieldOf(details, "mcpServer") === server ? fieldOf(details, "mcpTool") : undefined;
  const pack = typeof said === "string" ? said.trim() : toolName.slice(toolPrefixOf(server).length);
  if (MEMORY_TOOL.test(pack) || pack === "" || pack.length > NAME_MAX_CHARS) return undefined;
  return /[\p{Cc}\p{Cf}]/u.test(pack) ? undefined : pack;
}

/** What the names of a server's tools begin with, as the host makes them. */
function toolPrefixOf(server: string): string {
  const safe = server.trim().replace(/[^A-Za-z0-9_-]/g, "-");
  const named = /^[A-Za-z]/.test(safe) ? safe : `mcp-${safe}`;
  return `${named.slice(0, SERVER_NAME_MAX_CHARS).toLowerCase()}__`;
}

/** "ok", the error code that helmdeck answered, or "error". */
function outcomeOf(event: unknown): string {
  const result = fieldOf(event, "result");
  const details = fieldOf(result, "details");
  const failed =
    fieldOf(event, "error") !== undefined ||
    fieldOf(details, "status") === "error" ||
    fieldOf(result, "isError") === true;
  if (!failed) return "ok";
  const candidates = [
    codeIn(fieldOf(details, "structuredContent")),
    codeIn(parsed(firstText(result))),
    codeIn(parsed(fieldOf(event, "error"))),
    leadingCode(fieldOf(event, "error")),
    leadingCode(firstText(result)),
  ];
  return candidates.find((code) => code !== undefined) ?? UNKNOWN_FAILURE;
}

/** helmdeck's error body is `{"error": "<code>", "message": "<text>"}`. */
function codeIn(body: unknown): string | undefined {
  return [fieldOf(body, "error"), fieldOf(body, "code")].find(isCode);
}

/** `<code>: <text>`, as helmdeck words a failure where there is no body. One plain word alone could be anything. */
function leadingCode(text: unknown): string | undefined {
  const word = typeof text === "string" ? text.slice(0, NAME_MAX_CHARS).split(":", 1)[0] : undefined;
  return isCode(word) && word.includes("_") ? word : undefined;
}

function isCode(value: unknown): value is string {
  return typeof value === "string" && ERROR_CODE.test(value);
}

function firstText(result: unknown): unknown {
  const content = fieldOf(result, "content");
  return Array.isArray(content) ? fieldOf(content[0], "text") : undefined;
}

function parsed(text: unknown): unknown {
  if (typeof text !== "string" || text.length > BODY_MAX_CHARS || !text.trimStart().startsWith("{"))
    return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Counts the call as seen. Calls without an id cannot be told apart, so each of them counts. */
function isSecondReport(seenCalls: Set<string>, event: unknown): boolean {
  const callId = fieldOf(event, "toolCallId");
  if (typeof callId !== "string" || callId === "") return false;
  const call = `${String(fieldOf(event, "runId"))} ${callId}`;
  if (seenCalls.has(call)) return true;
  seenCalls.add(call);
  const [oldest] = seenCalls;
  if (seenCalls.size > CALLS_REMEMBERED && oldest !== undefined) seenCalls.delete(oldest);
  return false;
}

/** A session that its user asked not to be kept leaves no rows. */
function isIncognito(context: unknown): boolean {
  const key = fieldOf(context, "sessionKey");
  return typeof key === "string" && isIncognitoSessionKey(key);
}
