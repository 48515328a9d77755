/**
 * The before_tool_call hook that has a person asked before an agent forgets a whole kind of entries.
 *
 * A model may be misled by what it reads, and what is forgotten does not come back. So whatever goes wrong here refuses the
 * call: a scope that is not understood, a memory that does not answer in time, a defect. The host does the same with a hook
 * that throws. What decides is loaded only when an agent forgets.
 */
import { ToolFailure } from "./plugin-failure.ts";
import { fieldOf } from "./unchecked.ts";
import type { ForgetDecision, ForgetParts } from "./wide-forget.ts";
import { withinDeadline } from "./within-deadline.ts";

/** The plugin's own tool, and the same one of an MCP server, by any name that the host makes of it. */
const FORGETS = /helmdeck(?:__|[._-])memory_forget(?:-\d+)?$/i;
const DECIDED_WITHIN_MS = 8_000;
/** The host refuses the call when its own deadline for a hook has passed. */
export const APPROVAL_TIMEOUT_MS = 12_000;

export interface ApprovalParts extends ForgetParts {
  readonly deadlineMs?: number;
}

/** Never rejects. Undefined: the call goes on unasked. */
export function makeApprovalHook(
  parts: ApprovalParts,
): (event: unknown, context: unknown) => Promise<ForgetDecision | undefined> {
  return async (event, context) => {
    const tool = fieldOf(event, "toolName");
    if (typeof tool !== "string" || !FORGETS.test(tool)) return undefined;
    try {
      const deciding = import("./seldom.ts").then(({ decideForget }) =>
        decideForget({ tool, params: fieldOf(event, "params"), context }, parts),
      );
      return await withinDeadline(parts.deadlineMs ?? DECIDED_WITHIN_MS, deciding);
    } catch (error) {
      return { block: true, blockReason: `${new ToolFailure(error).message} Nothing was forgotten.` };
    }
  };
}
