/** Packs as MCP tools. */
import type { Tool, ToolAnnotations } from "@modelcontextprotocol/sdk/types.js";
import { HelmdeckError } from "../../engine/errors.ts";
import type { PackEffects, PackEngine, PackInfo } from "../../packs/engine/pack-contract.ts";
import { type JsonSchema, listedInput, listedOutput } from "./listed-schema.ts";
import { resultOfRun } from "./results.ts";
import { type McpTool, toolNameOf } from "./tool-registry.ts";

export function packTools(packs: PackEngine): readonly McpTool[] {
  return packs.list().map((pack) => toolFor(pack, packs));
}

function toolFor(pack: PackInfo, packs: PackEngine): McpTool {
  return {
    dottedName: pack.name,
    definition: definitionOf(pack),
    call: async ({ caller, ...call }) => {
      const { subject, authenticated } = caller;
      return resultOfRun(await packs.run({ ...call, pack: pack.name, caller: subject, authenticated }));
    },
  };
}

function definitionOf({ name, title, description, inputSchema, outputSchema, effects }: PackInfo): Tool {
  return {
    name: toolNameOf(name),
    title,
    description,
    inputSchema: requireObjectSchema(name, inputSchema),
    ...(isObjectSchema(outputSchema) && { outputSchema: asObjectSchema(listedOutput(outputSchema)) }),
    annotations: annotationsFor(effects),
  };
}

/** MCP's hints. An undeclared effect counts as the worst case, as in the protocol's defaults. */
export function annotationsFor(effects: PackEffects = {}): ToolAnnotations {
  const { readOnly = false, destructive = !readOnly, idempotent = readOnly, openWorld = true } = effects;
  return {
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    idempotentHint: idempotent,
    openWorldHint: openWorld,
  };
}

function requireObjectSchema(name: string, schema: JsonSchema): Tool["inputSchema"] {
  if (isObjectSchema(schema)) return asObjectSchema(listedInput(schema));
  throw new HelmdeckError(
    "invalid_input",
    `The pack "${name}" cannot be an MCP tool: its input must be an object with named fields.`,
  );
}

function isObjectSchema({ type, anyOf, oneOf, allOf }: JsonSchema): boolean {
  if (type !== undefined) return type === "object";
  return [anyOf, oneOf, allOf].some((parts) => Array.isArray(parts) && parts.every(isObjectSchema));
}

/** MCP requires the type "object" at the root, and reads schemas without a dialect as 2020-12, which ours are. */
export function asObjectSchema({ $schema: _, ...schema }: JsonSchema): Tool["inputSchema"] {
  return { ...schema, type: "object" };
}
