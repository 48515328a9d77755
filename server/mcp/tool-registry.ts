/** The tools that a client sees (packs and pipelines), under names that every client accepts. */
import { hash } from "node:crypto";
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import type { JsonSchema } from "../../app/wire/arguments.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { isRecord } from "../../engine/json.ts";
import type { Caller } from "../caller.ts";

export interface ToolCall {
  readonly caller: Caller;
  readonly input: unknown;
  /** The id of a pack session to continue. */
  readonly sessionId?: string;
  /** Fires when the client cancels or its session ends. */
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, message?: string) => void;
}

export interface McpTool {
  /** `github.list_issues`: accepted in a call, not listed. */
  readonly dottedName: string;
  readonly definition: Tool;
  /** Throws a HelmdeckError for an expected failure. */
  call(call: ToolCall): Promise<CallToolResult>;
}

/** Model providers accept 64 characters with the client's prefix; the longest one is Claude Code's for our plugin. */
const MOST_CHARACTERS = 64 - "mcp__plugin_helmdeck-memory_helmdeck__".length;

/** `helmdeck.memory_store` is called `helmdeck__memory_store`: many clients refuse a dot in a tool's name. */
function withoutDots(dottedName: string): string {
  return dottedName.replaceAll(".", "__");
}

/** The listed name. A long one ends in a digest, so that it depends on nothing else that is listed. */
export function toolNameOf(dottedName: string): string {
  const name = withoutDots(dottedName);
  if (name.length <= MOST_CHARACTERS) return name;
  const digest = hash("sha256", dottedName).slice(0, 6);
  return `${name.slice(0, MOST_CHARACTERS - digest.length - 1)}_${digest}`;
}

export class ToolRegistry {
  readonly #byName = new Map<string, McpTool>();
  readonly #listed: readonly Tool[];

  /** Throws `invalid_input` if two tools would have the same name. */
  constructor(tools: readonly McpTool[]) {
    for (const tool of tools) {
      const { definition, dottedName } = tool;
      const names = [definition.name, withoutDots(dottedName), dottedName];
      for (const name of new Set(names)) this.#add(name, tool);
    }
    this.#listed = tools.map(({ definition }) => definition);
  }

  list(): readonly Tool[] {
    return this.#listed;
  }

  /** By its listed, its dotted or its long name. */
  get(name: string): McpTool | undefined {
    return this.#byName.get(name);
  }

  #add(name: string, tool: McpTool): void {
    const other = this.#byName.get(name);
    if (other !== undefined) {
      throw new HelmdeckError(
        "invalid_input",
        `"${other.dottedName}" and "${tool.dottedName}" would both be the MCP tool "${name}": rename one of them.`,
      );
    }
    this.#byName.set(name, tool);
  }
}

/** Keywords whose values map author-chosen names to schemas. */
const NAMED_SCHEMAS = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
/** Keywords whose values are data that may look like a schema. */
const DATA = new Set(["const", "enum", "default", "examples", "required", "dependentRequired"]);
/** Keywords that no client uses to validate an answer. */
const WORDS = new Set(["description", "examples", "pattern"]);

/**
 * Schemas for tool lists: a pack's own schema in a form that every client accepts.
 *
 * Gemini refuses a list of types (`type: ["string", "null"]`). For an optional field, null means the same as absent, so it is
 * accepted but not listed. Other lists of types become alternatives with one type each.
 *
 * The schema of a tool's input.
 */
export function listedInput(schema: JsonSchema): JsonSchema {
  return changed(schema, false, (one, isOptional) => withOneType(isOptional ? withoutNull(one) : one));
}

/** The schema of a tool's output, without descriptions, which only help to fill in fields. */
export function listedOutput(schema: JsonSchema): JsonSchema {
  return changed(schema, false, (one) => {
    return withOneType(Object.fromEntries(Object.entries(one).filter(([keyword]) => !WORDS.has(keyword))));
  });
}

/** Applies the change to the schema and all nested schemas. */
function changed(
  given: JsonSchema,
  isOptional: boolean,
  change: (schema: JsonSchema, isOptional: boolean) => JsonSchema,
): JsonSchema {
  const schema = change(given, isOptional);
  const required = Array.isArray(schema.required) ? schema.required : [];
  const nested = (value: unknown, optional = false): unknown => {
    if (Array.isArray(value)) return value.map((one) => nested(one));
    return isRecord(value) ? changed(value, optional, change) : value;
  };
  const members = Object.entries(schema).map(([keyword, value]) => {
    if (DATA.has(keyword)) return [keyword, value];
    if (!NAMED_SCHEMAS.has(keyword) || !isRecord(value)) return [keyword, nested(value)];
    const named = Object.entries(value).map(([name, member]) => {
      return [name, nested(member, keyword === "properties" && !required.includes(name))];
    });
    return [keyword, Object.fromEntries(named)];
  });
  return Object.fromEntries(members);
}

function withOneType({ type, ...schema }: JsonSchema): JsonSchema {
  if (!Array.isArray(type)) return type === undefined ? schema : { type, ...schema };
  if (type.length === 1) return { type: type[0], ...schema };
  const { description, ...facets } = schema;
  const alternatives = type.map((one) => (one === "null" ? { type: one } : { type: one, ...facets }));
  return { ...(description !== undefined && { description }), anyOf: alternatives };
}

function withoutNull({ anyOf, ...schema }: JsonSchema): JsonSchema {
  if (Array.isArray(anyOf)) {
    const others = anyOf.filter((one) => !(isRecord(one) && one.type === "null"));
    const [only] = others;
    return others.length === 1 && isRecord(only) ? { ...only, ...schema } : { ...schema, anyOf: others };
  }
  const { type } = schema;
  return Array.isArray(type) ? { ...schema, type: type.filter((one) => one !== "null") } : schema;
}
