/**
 * The before_tool_call hook that asks a person before an agent forgets a whole group of entries.
 *
 * A model can be misled by what it reads, and forgetting cannot be undone. So any trouble refuses the call: an unknown scope,
 * a memory that does not answer in time, a bug. The host also refuses the call when a hook throws. The code that decides is
 * loaded only when an agent forgets.
 */
import { ToolFailure } from "./plugin-failure.ts";
import { fieldOf } from "./unchecked.ts";
import type { ForgetDecision, ForgetParts } from "./wide-forget.ts";
import { withinDeadline } from "./within-deadline.ts";

/** The plugin's own tool, and the same tool of an MCP server under any name that the host gives it. */
const FORGETS = /helmdeck(?:__|[._-])memory_forget(?:-\d+)?$/i;
const DECIDED_WITHIN_MS = 8_000;
/** The host refuses the call when a hook exceeds the host's own deadline. */
export const APPROVAL_TIMEOUT_MS = 12_000;

export interface ApprovalParts extends ForgetParts {
  readonly deadlineMs?: number;
}

/** Never rejects. Undefined: the call proceeds without a question. */
export function makeApprovalHook(
  parts: ApprovalParts,
): (event: unknown, context: unknown) => Promise<ForgetDecision | undefined> {
  return async (event, context) => {
    const tool = fieldOf(event, "toolName");
    if (typeof tool !== "string" || !FORGETS.test(tool)) return undefined;
    try {
      const deciding = import("./on-demand.ts").then(({ decideForget }) =>
        decideForget({ tool, params: fieldOf(event, "params"), context }, parts),
      );
      return await withinDeadline(parts.deadlineMs ?? DECIDED_WITHIN_MS, deciding);
    } catch (error) {
      return { block: true, blockReason: `${new ToolFailure(error).message} Nothing was forgotten.` };
    }
  };
}
