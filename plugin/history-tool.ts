/** The tool with which an agent reads a fact's former values. */
import { HISTORY_DESCRIPTION } from "../app/wire/history-descriptions.ts";
import { answer, argumentsFor, perform, type ToolParts, text } from "./agent-tools.ts";
import type { Tool, ToolContext } from "./openclaw-api.ts";
import { HISTORY_TOOL } from "./tool-names.ts";

/** Made for each run, like the other tools. */
export function makeHistoryTool(parts: ToolParts, context: ToolContext): Tool {
  return {
    name: HISTORY_TOOL,
    label: "Former values of a fact",
    description: HISTORY_DESCRIPTION,
    parameters: HISTORY_PARAMETERS,
    execute: (_callId, params) =>
      perform(parts, context, async (memory, { subject }) => {
        const history = await memory.factHistory(subject, {
          key: text("key", argumentsFor(HISTORY_PARAMETERS, params).key),
        });
        const { historyAnswer } = await import("./on-demand.ts"); // rarely needed
        const { story, details } = historyAnswer(history);
        return answer(story, details);
      }),
  };
}

const HISTORY_PARAMETERS = {
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
