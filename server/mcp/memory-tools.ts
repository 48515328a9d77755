/**
 * The tools of memory alone: what a client that wants a memory is shown, as briefly as it can be said.
 *
 * Every conversation pays for what is listed. So the answers' schemas are not, and without one an answer is text and nothing else
 * (decision 43): each of these is JSON that a model reads.
 */
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import type { PackEngine } from "../../packs/index.ts";
import { packTools } from "./pack-tools.ts";
import { textOf } from "./results.ts";
import type { McpTool } from "./tool-registry.ts";

const PREFIX = "helmdeck.memory_";
/** In the order in which a client shows them. */
const LISTED = ["search", "get", "store", "list", "forget", "history", "corpus"].map((name) => PREFIX + name);

export interface MemoryTools {
  readonly listed: readonly McpTool[];
  /** Understood in a call. */
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

/** Without examples, and of the hints those that are not the protocol's default. */
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
