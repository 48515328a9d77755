/**
 * Memory's own tools, in the shortest useful form.
 *
 * Every conversation pays for the tool list. So output schemas are not listed, and an answer without a schema is text only
 * (decision 43): JSON that a model can read.
 */
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import type { PackEngine } from "../../packs/index.ts";
import { packTools } from "./pack-tools.ts";
import { textOf } from "./results.ts";
import type { McpTool } from "./tool-registry.ts";

const PREFIX = "helmdeck.memory_";
/** In the order in which clients show them. */
const LISTED = ["search", "get", "store", "list", "forget", "history", "corpus"].map((name) => PREFIX + name);

export interface MemoryTools {
  readonly listed: readonly McpTool[];
  /** Accepted in a call. */
  readonly unlisted: readonly McpTool[];
}

export function memoryTools(packs: PackEngine): MemoryTools {
  const all = packTools(packs)
    .filter(({ dottedName }) => dottedName.startsWith(PREFIX))
    .map(brief);
  const listed = LISTED.flatMap((name) => all.filter(({ dottedName }) => dottedName === name));
  return { listed, unlisted: all.filter((tool) => !listed.includes(tool)) };
}

function brief({ definition, call, ...tool }: McpTool): McpTool {
  return {
    ...tool,
    definition: briefDefinition(definition),
    call: async (request) => asTextAlone(await call(request)),
  };
}

/** Without examples, and only with hints that differ from the protocol's defaults. */
function briefDefinition({ outputSchema: _, inputSchema, annotations = {}, ...definition }: Tool): Tool {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  return {
    ...definition,
    inputSchema: { ...inputSchema, properties: withoutExamples(inputSchema.properties) },
    annotations: {
      ...(readOnlyHint === true && { readOnlyHint }),
      ...(readOnlyHint !== true && destructiveHint === false && { destructiveHint }),
      ...(readOnlyHint !== true && idempotentHint === true && { idempotentHint }),
      ...(openWorldHint === false && { openWorldHint }),
    },
  };
}

function withoutExamples(properties: Tool["inputSchema"]["properties"] = {}) {
  const brief = Object.entries(properties).map(([name, field]) => {
    const { examples: _, ...facets } = { examples: undefined, ...field };
    return [name, facets];
  });
  return Object.fromEntries(brief);
}

function asTextAlone({ structuredContent, ...result }: CallToolResult): CallToolResult {
  return structuredContent === undefined ? result : { ...result, content: [textOf(structuredContent)] };
}
