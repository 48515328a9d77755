/** The tools with which an agent stores a fact, forgets by scope, reads former values and pins. What a call does is loaded on demand. */
import type { JsonSchema } from "../app/wire/arguments.ts";
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
import type { Logger, Tool, ToolContext } from "./openclaw-api.ts";
import { logLineOf, ToolFailure } from "./plugin-failure.ts";
import type { TOOL_CALLS } from "./tool-answers.ts";
import { FORGET_TOOL, HISTORY_TOOL, PIN_TOOL, STORE_TOOL } from "./tool-names.ts";
import { startDeadline } from "./within-deadline.ts";

/** A write waits up to 5 s for a locked database; this deadline covers the whole call. */
const WRITE_DEADLINE_MS = 10_000;

interface ToolParts {
  readonly access: MemoryAccess;
  readonly policy: AccessPolicy;
  readonly log: Logger;
  /** The folder in which an agent keeps its notes; undefined if unknown. */
  readonly workspaceOf?: (agentId: string) => string | undefined;
  readonly deadlineMs?: number;
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

const HISTORY_PARAMETERS = {
  type: "object",
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

type MakeTool = (parts: ToolParts, context: ToolContext) => Tool;

interface AgentTool extends Pick<Tool, "name" | "label" | "description"> {
  readonly call: keyof typeof TOOL_CALLS;
  readonly parameters: JsonSchema;
}

/** Made for each run, because the host's context decides whose memory it is, not an argument. */
function agentTool({ call, ...shown }: AgentTool): MakeTool {
  return (parts, context) => ({
    ...shown,
    execute: (_callId, params) => perform(parts, context, { call, schema: shown.parameters, params }),
  });
}

export const makeStoreTool = agentTool({
  ...{ name: STORE_TOOL, call: "store", label: "Remember a fact" },
  ...{ description: STORE_DESCRIPTION, parameters: STORE_PARAMETERS },
});

export const makeForgetTool = agentTool({
  ...{ name: FORGET_TOOL, call: "forget", label: "Forget" },
  ...{ description: FORGET_DESCRIPTION, parameters: FORGET_PARAMETERS },
});

export const makeHistoryTool = agentTool({
  ...{ name: HISTORY_TOOL, call: "history", label: "Former values of a fact" },
  ...{ description: HISTORY_DESCRIPTION, parameters: HISTORY_PARAMETERS },
});

/** In the order of the plugin's manifest, which names them too. A person is asked before a pin: see approval-hook.ts. */
export const AGENT_TOOLS: Readonly<Record<string, MakeTool>> = {
  [STORE_TOOL]: makeStoreTool,
  [FORGET_TOOL]: makeForgetTool,
  [HISTORY_TOOL]: makeHistoryTool,
  [PIN_TOOL]: agentTool({
    ...{ name: PIN_TOOL, call: "pin", label: "Pin a fact" },
    ...{ description: PIN_DESCRIPTION, parameters: PIN_PARAMETERS },
  }),
};

interface Asked extends Pick<AgentTool, "call"> {
  readonly schema: JsonSchema;
  readonly params: unknown;
}

/** Runs one tool call for the caller that the host reports. */
async function perform(parts: ToolParts, context: ToolContext, { call, ...asked }: Asked) {
  try {
    const { TOOL_CALLS } = await import("./on-demand.ts");
    const deadline = startDeadline(parts.deadlineMs ?? WRITE_DEADLINE_MS);
    const verdict = await parts.policy.verdict({
      agentId: context.agentId,
      agentSessionKey: context.sessionKey,
      sandboxed: context.sandboxed,
    });
    if (!verdict.ok) throw new HelmdeckError("identity_refused", `${sentenceOfRefusal(verdict.reason)}.`);
    const called = { ...asked, verdict, workspaceOf: parts.workspaceOf };
    return await deadline(parts.access.open().then((memory) => TOOL_CALLS[call]({ memory, ...called })));
  } catch (error) {
    const failure = new ToolFailure(error);
    if (failure.code !== "invalid_input" && failure.code !== "identity_refused") {
      parts.log.warn(`helmdeck memory: ${logLineOf(error)}`);
    }
    throw failure;
  }
}
