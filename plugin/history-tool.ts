/** The tool by which an agent asks what a fact held before. */
import {
  type FactHistory,
  type FormerView,
  HISTORY_DESCRIPTION,
  historyReply,
  noHistory,
  rfc3339,
  writerWords,
} from "../app/index.ts";
import { answer, fieldsOf, perform, type ToolParts, text } from "./agent-tools.ts";
import { quoted } from "./alike-story.ts";
import { lineOf } from "./boundary.ts";
import type { Tool, ToolContext, ToolResult } from "./openclaw-api.ts";
import { HISTORY_TOOL } from "./tool-names.ts";

/** Made anew for each run, as the other tools. */
export function makeHistoryTool(parts: ToolParts, context: ToolContext): Tool {
  return {
    name: HISTORY_TOOL,
    label: "What a fact held before",
    description: HISTORY_DESCRIPTION,
    parameters: HISTORY_PARAMETERS,
    execute: (_callId, params) =>
      perform(parts, context, async (memory, { subject }) => {
        const history = await memory.factHistory(subject, text("key", fieldsOf(params).key));
        if (history === undefined) throw noHistory(subject);
        return historyResult(history);
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

function historyResult(history: FactHistory): ToolResult {
  const key = lineOf(history.key) ?? "";
  const story =
    history.former.length === 0
      ? `Nothing is kept of what "${key}" held before.`
      : `Before what "${key}" holds now, newest first; none of this holds any longer:`;
  return answer([story, ...history.former.map(formerLine)].join("\n"), historyReply(history));
}

function formerLine({ key, value, updatedAt, writer }: FormerView): string {
  const by = writer === undefined ? "" : `, ${writerWords(writer)}`;
  return `- ${lineOf(key) ?? ""}, stored ${rfc3339(updatedAt)}${by}: ${quoted(value)}`;
}
