/** The tools that a client sees (packs and pipelines), under names that every client accepts. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { HelmdeckError } from "../../engine/errors.ts";
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

/** The tool names that model providers accept; most of them add the server's name as a prefix. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** `helmdeck.memory_store` is listed as `helmdeck__memory_store`: many clients refuse a dot in a tool's name. */
export function toolNameOf(dottedName: string): string {
  return dottedName.replaceAll(".", "__");
}

export class ToolRegistry {
  readonly #byName = new Map<string, McpTool>();
  readonly #listed: readonly Tool[];

  /** Throws `invalid_input` if two tools would have the same name, or clients would not accept a name. */
  constructor(tools: readonly McpTool[]) {
    for (const tool of tools) {
      const { name } = tool.definition;
      requireName(name, tool.dottedName);
      for (const alias of new Set([name, tool.dottedName])) this.#add(alias, tool);
    }
    this.#listed = tools.map(({ definition }) => definition);
  }

  list(): readonly Tool[] {
    return this.#listed;
  }

  /** By its listed or its dotted name. */
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

function requireName(name: string, dottedName: string): void {
  if (TOOL_NAME.test(name)) return;
  throw new HelmdeckError(
    "invalid_input",
    `"${dottedName}" cannot be an MCP tool: of its name "${name}" clients accept at most 64 of A-Z a-z 0-9 _ -.`,
  );
}
