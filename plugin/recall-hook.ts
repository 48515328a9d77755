/**
 * The before_prompt_build hook: adds the facts that are sure for a person's message after its words, and notes a request to
 * remember for the end of the turn.
 *
 * The turn waits for this hook, so it has a short deadline of its own, and whatever goes wrong adds nothing. The addition stands
 * after the person's words in this one request to the model: OpenClaw keeps it out of the transcript, and nothing before it
 * changes. The code that decides is loaded with the first message.
 */
import { isHelmdeckError } from "../engine/errors.ts";
import { isForwarded } from "./current-message.ts";
import { logLineOf } from "./plugin-failure.ts";
import type { PromptAddition, Receipts, UnaskedParts } from "./receipts.ts";
import { fieldOf } from "./unchecked.ts";
import { withinDeadline } from "./within-deadline.ts";

/** The turn waits this long at most. */
const RECALL_DEADLINE_MS = 400;

/** The hook's handler. Never rejects, and never takes longer than its deadline. */
export function makeRecallHook(
  parts: UnaskedParts,
): (event: unknown, context: unknown) => Promise<PromptAddition> {
  const { receipts, log, deadlineMs = RECALL_DEADLINE_MS } = parts;
  let lastTrouble: string | undefined;
  return async (event, context) => {
    try {
      const looking = import("./on-demand.ts").then(({ lookAtTurn }) => lookAtTurn(event, context, parts));
      return (await withinDeadline(deadlineMs, looking))?.();
    } catch (error) {
      const trouble = logLineOf(error);
      receipts.counts[isHelmdeckError(error, "deadline_exceeded") ? "late" : "failed"] += 1;
      if (trouble !== lastTrouble) log.warn(`helmdeck memory added nothing to a message: ${trouble}`);
      lastTrouble = trouble;
      return undefined;
    }
  };
}

/**
 * The llm_input hook. OpenClaw says beside a message that it was forwarded, in what it gives the model, not in what it gives the hook
 * above. A request that is not seen here is not kept.
 */
export function noteContext(event: unknown, context: unknown, { asked }: Receipts): void {
  try {
    const [run, messages] = [fieldOf(context, "runId"), fieldOf(event, "historyMessages")];
    const request = typeof run === "string" ? asked.get(run) : undefined;
    if (typeof run !== "string" || request === undefined || !Array.isArray(messages)) return;
    if (isForwarded(messages)) asked.delete(run);
    else asked.set(run, { ...request, isSeen: true });
  } catch {
    // Not seen, so not kept.
  }
}
