/**
 * Memory's own tools, in the shortest useful form.
 *
 * Every conversation pays for the tool list. So output schemas are not listed, and an answer without a schema is text only
 * (decision 43): JSON that a model can read.
 */
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { MEMORY_TOOLS } from "../../app/wire/memory-tools.ts";
import type { PackEngine } from "../../packs/engine/pack-contract.ts";
import { packTools } from "./pack-tools.ts";
import { textOf } from "./results.ts";
import type { McpTool } from "./tool-registry.ts";

const NAMES = MEMORY_TOOLS.map((name) => `helmdeck.memory_${name}`);

/** In the order in which clients show them. */
export function memoryTools(packs: PackEngine): readonly McpTool[] {
  const tools = packTools(packs);
  return NAMES.flatMap((name) => tools.filter(({ dottedName }) => dottedName === name)).map(brief);
}

function brief({ definition, call, ...tool }: McpTool): McpTool {
  return {
    ...tool,
    definition: briefDefinition(definition),
    call: async (request) => asTextAlone(await call(request)),
  };
}

/** Without examples, and only with hints that differ from the protocol's defaults. Unknown fields are refused without notice. */
function briefDefinition({ outputSchema: _, inputSchema, annotations = {}, ...definition }: Tool): Tool {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const { additionalProperties: __, ...schema } = inputSchema;
  return {
    ...definition,
    inputSchema: { ...schema, properties: withoutExamples(schema.properties) },
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
