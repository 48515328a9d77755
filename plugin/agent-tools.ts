/** The tools with which an agent stores a fact, forgets by scope, reads former values and pins. What a call does is loaded on demand. */
import {
  HISTORY_DESCRIPTION,
  PIN_DESCRIPTION,
  STORE_DESCRIPTION,
  STORE_PARAMETERS,
} from "../app/wire/tool-texts.ts";
import { HelmdeckError } from "../engine/errors.ts";
import type { AccessPolicy } from "./access-policy.ts";
import { sentenceOfRefusal } from "./identity.ts";
import type { MemoryAccess } from "./memory-access.ts";
import type { Logger, Tool, ToolContext, ToolResult } from "./openclaw-api.ts";
import { logLineOf, ToolFailure } from "./plugin-failure.ts";
import type { TOOL_CALLS } from "./tool-answers.ts";
import { FORGET_TOOL, HISTORY_TOOL, PIN_TOOL, STORE_TOOL } from "./tool-names.ts";
import { startDeadline } from "./within-deadline.ts";

/** A write waits up to 5 s for a locked database; this deadline covers the whole call. */
const WRITE_DEADLINE_MS = 10_000;

export interface ToolParts {
  readonly access: MemoryAccess;
  readonly policy: AccessPolicy;
  readonly log: Logger;
  /** The folder in which an agent keeps its notes; undefined if unknown. */
  readonly workspaceOf?: (agentId: string) => string | undefined;
  readonly deadlineMs?: number;
}

/** In the order of the plugin's manifest, which names them too. */
export const AGENT_TOOLS: Readonly<Record<string, (parts: ToolParts, context: ToolContext) => Tool>> = {
  [STORE_TOOL]: makeStoreTool,
  [FORGET_TOOL]: makeForgetTool,
  [HISTORY_TOOL]: makeHistoryTool,
  [PIN_TOOL]: makePinTool,
};

/** Made for each run, because the host's context decides whose memory it is, not an argument. */
export function makeStoreTool(parts: ToolParts, context: ToolContext): Tool {
  return {
    name: STORE_TOOL,
    label: "Remember a fact",
    description: STORE_DESCRIPTION,
    parameters: STORE_PARAMETERS,
    execute: (_callId, params) => perform(parts, context, "store", params),
  };
}

export function makeForgetTool(parts: ToolParts, context: ToolContext): Tool {
  return {
    name: FORGET_TOOL,
    label: "Forget",
    description: FORGET_DESCRIPTION,
    parameters: FORGET_PARAMETERS,
    execute: (_callId, params) => perform(parts, context, "forget", params),
  };
}

export function makeHistoryTool(parts: ToolParts, context: ToolContext): Tool {
  return {
    name: HISTORY_TOOL,
    label: "Former values of a fact",
    description: HISTORY_DESCRIPTION,
    parameters: HISTORY_PARAMETERS,
    execute: (_callId, params) => perform(parts, context, "history", params),
  };
}

/** A person is asked first: see approval-hook.ts. */
function makePinTool(parts: ToolParts, context: ToolContext): Tool {
  return {
    name: PIN_TOOL,
    label: "Pin a fact",
    description: PIN_DESCRIPTION,
    parameters: PIN_PARAMETERS,
    execute: (_callId, params) => perform(parts, context, "pin", params),
  };
}

/** OpenClaw shows only the first 180 characters of a tool that is deferred behind its tool search. */
const FORGET_DESCRIPTION =
  "Delete from helmdeck memory for good; only what the user asked to forget. The scope is the path, id or citation of a" +
  " memory_search hit, or a fact's exact key (key:<exact key> if it could be read as something else). Wider: category:<name> or import:<id> for facts;" +
  " pack:<id>, pipeline:<id>, tool:<name>, packs, pipelines or tools for records of runs; all; everything. Use dry_run first to see what" +
  " a scope covers. For a scope wider than one entry, OpenClaw asks the user first; if nobody can be" +
  " asked, tell them to run: openclaw helmdeck forget <scope>";

export const FORGET_PARAMETERS = {
  type: "object",
  additionalProperties: false,
  required: ["scope"],
  properties: {
    scope: { type: "string", minLength: 1, description: "What to forget; see the tool's description." },
    dry_run: { type: "boolean", description: "Only say how much would be forgotten." },
    up_to: {
      type: "integer",
      minimum: 0,
      description: "The revision of a dry run: forget what that counted, and nothing newer.",
    },
  },
} as const;

export const HISTORY_PARAMETERS = {
  type: "object",
  additionalProperties: false,
  required: ["key"],
  properties: {
    key: {
      type: "string",
      minLength: 1,
      description: "The fact's exact key, or the path, id or citation of a memory_search hit.",
    },
  },
} as const;

export const PIN_PARAMETERS = {
  type: "object",
  additionalProperties: false,
  required: ["key"],
  properties: {
    key: HISTORY_PARAMETERS.properties.key,
    pinned: { type: "boolean", description: "false: unpin it." },
    if_revision: { type: "integer", description: "Only while the fact has this revision." },
  },
} as const;

/** Runs one tool call for the caller that the host reports. */
async function perform(
  parts: ToolParts,
  context: ToolContext,
  name: keyof typeof TOOL_CALLS,
  params: unknown,
): Promise<ToolResult> {
  try {
    const deadline = startDeadline(parts.deadlineMs ?? WRITE_DEADLINE_MS);
    const verdict = await parts.policy.verdict({
      agentId: context.agentId,
      agentSessionKey: context.sessionKey,
      sandboxed: context.sandboxed,
    });
    if (!verdict.ok) throw new HelmdeckError("identity_refused", `${sentenceOfRefusal(verdict.reason)}.`);
    const called = { params, verdict, workspaceOf: parts.workspaceOf };
    const calling = Promise.all([parts.access.open(), import("./on-demand.ts")]).then(
      ([memory, { TOOL_CALLS }]) => TOOL_CALLS[name]({ memory, ...called }),
    );
    return await deadline(calling);
  } catch (error) {
    const failure = new ToolFailure(error);
    if (failure.code !== "invalid_input" && failure.code !== "identity_refused") {
      parts.log.warn(`helmdeck memory: ${logLineOf(error)}`);
    }
    throw failure;
  }
}
