/**
 * The before_tool_call hook that asks a person before an agent forgets a whole group of entries, or pins a fact.
 *
 * A model can be misled by what it reads; forgetting cannot be undone, and a pinned text stands in every prompt. So any trouble
 * refuses the call: an argument that the tool does not take, a memory that does not answer in time, a bug. The arguments are read
 * once, as the tool reads them; what was judged replaces what was given. The host also refuses the call when a hook throws. The code that decides is loaded only when an agent forgets or pins.
 */
import { FORGET_PARAMETERS, PIN_PARAMETERS } from "./agent-tools.ts";
import { ToolFailure } from "./plugin-failure.ts";
import { fieldOf } from "./unchecked.ts";
import type { Decision, DecisionParts } from "./wide-forget.ts";
import { withinDeadline } from "./within-deadline.ts";

/** The plugin's own tools, and the same tools of an MCP server under any name that the host gives it. */
const ASKING = /helmdeck(?:__|[._-])memory_(forget|pin)(?:-\d+)?$/i;
const DECIDED_WITHIN_MS = 8_000;
/** The host refuses the call when a hook exceeds the host's own deadline. */
export const APPROVAL_TIMEOUT_MS = 12_000;

export interface ApprovalParts extends DecisionParts {
  readonly deadlineMs?: number;
}

/** Never rejects. Undefined: another tool. */
export function makeApprovalHook(
  parts: ApprovalParts,
): (event: unknown, context: unknown) => Promise<Decision | undefined> {
  return async (event, context) => {
    const tool = fieldOf(event, "toolName");
    if (typeof tool !== "string") return undefined;
    const [, what] = ASKING.exec(tool) ?? [];
    if (what === undefined) return undefined;
    const isPin = what.toLowerCase() === "pin";
    try {
      const deciding = import("./on-demand.ts").then(
        async ({ decideForget, decidePin, requireArguments }) => {
          const schema = isPin ? PIN_PARAMETERS : FORGET_PARAMETERS;
          const params = requireArguments(schema, fieldOf(event, "params"));
          const decision = await (isPin ? decidePin : decideForget)({ tool, params, context }, parts);
          return decision !== undefined && "block" in decision ? decision : { params, ...decision };
        },
      );
      return await withinDeadline(parts.deadlineMs ?? DECIDED_WITHIN_MS, deciding);
    } catch (error) {
      return {
        block: true,
        blockReason: `${new ToolFailure(error).message} Nothing was ${isPin ? "pinned" : "forgotten"}.`,
      };
    }
  };
}
