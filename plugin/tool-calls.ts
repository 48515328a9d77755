/**
 * Decides which tool calls are recorded, and with which inputs.
 *
 * Threat: a secret or a stranger's text in a tool's inputs or result. Of a result, only success or failure is recorded. Of
 * the inputs, only those that the operator allowed for this tool, and memory leaves out text that looks like a credential.
 */
import { MEMORY_TOOLS } from "../app/memory.ts";
import type { ToolAudit } from "../engine/audit/audit-rows.ts";
import { hasFailed } from "./call-outcome.ts";
import type { PluginConfig } from "./config.ts";
import { fieldOf } from "./unchecked.ts";

/** The operator's recording settings. */
export type RecordingRules = Pick<PluginConfig, "auditTools" | "auditDeny" | "auditInputs">;

const NAME_MAX_CHARS = 128;
/** Memory checks the complete text for credentials before it cuts it. */
const INPUT_MAX_CHARS = 10_000;
/** Memory's own tools, on any server: their effect is already in memory. */
const MEMORY_TOOL = new RegExp(`(?:^|[_.-])memory_(?:${MEMORY_TOOLS.join("|")})(?:-\\d+)?$`);
/** Tools that wrap another call, which the host reports separately. */
const ENVELOPES = new Set(["tool_call", "tool_search", "tool_search_code", "tool_describe"]);

/** The row for a finished call; undefined if it is not recorded. */
export function toolRowOf(event: unknown, rules: RecordingRules, nowMs: number): ToolAudit | undefined {
  const tool = nameOf(event);
  if (rules.auditTools !== "all" || tool === undefined) return undefined;
  if (ENVELOPES.has(tool) || isMemoryTool(event)) return undefined;
  return {
    tool,
    outcome: hasFailed(event) ? "failed" : "ok",
    at_unix: Math.floor(nowMs / 1_000),
    ...durationOf(event),
    inputs: allowedInputs(fieldOf(event, "params"), rules.auditInputs.get(tool.toLowerCase()) ?? []),
  };
}

/** A tool without a readable name counts as denied, because it could be any tool. */
export function isDenied(event: unknown, { auditDeny }: RecordingRules): boolean {
  const name = nameOf(event)?.toLowerCase();
  if (name === undefined) return true;
  return auditDeny.some((rule) => (rule.endsWith("*") ? name.startsWith(rule.slice(0, -1)) : name === rule));
}

/** Matches the tool's own name, or its name on an MCP server. */
export function isMemoryTool(event: unknown): boolean {
  const atServer = fieldOf(fieldOf(fieldOf(event, "result"), "details"), "mcpTool");
  return [fieldOf(event, "toolName"), atServer].some(
    (name) => typeof name === "string" && MEMORY_TOOL.test(name.trim()),
  );
}

export function durationOf(event: unknown): { readonly duration_ms?: number } {
  const durationMs = fieldOf(event, "durationMs");
  const isDuration = typeof durationMs === "number" && Number.isFinite(durationMs) && durationMs >= 0;
  return isDuration ? { duration_ms: Math.round(durationMs) } : {};
}

function nameOf(event: unknown): string | undefined {
  const given = fieldOf(event, "toolName");
  const name = typeof given === "string" ? given.trim() : "";
  return name === "" || name.length > NAME_MAX_CHARS || /[\p{Cc}\p{Cf}]/u.test(name) ? undefined : name;
}

function allowedInputs(params: unknown, allowed: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    allowed.flatMap((name) => {
      const value = fieldOf(params, name);
      return typeof value === "string"
        ? [[name, value.slice(0, INPUT_MAX_CHARS).toWellFormed()] as const]
        : [];
    }),
  );
}
