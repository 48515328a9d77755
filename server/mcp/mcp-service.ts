/** What every MCP session of a process shares: the server context, the registry of tools, and one watch over memory. */
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import type { ServerContext } from "../../packs/index.ts";
import { memoryTools } from "./memory-tools.ts";
import { packTools } from "./pack-tools.ts";
import { pipelineTools } from "./pipeline-tools.ts";
import { ToolRegistry } from "./tool-registry.ts";
import { MemoryWatch, processTicker, type Ticker } from "./watch.ts";

export interface McpService {
  readonly serverContext: ServerContext;
  readonly tools: ToolRegistry;
  readonly watch: MemoryWatch;
  /** One for all: a server of its own accord makes one each, which is most of what a session weighs. */
  readonly schemaValidator: AjvJsonSchemaValidator;
  /** Told of every error that nobody foresaw. Its own text may hold a value: log what asHelmdeckError makes of it. */
  readonly onDefect: (error: unknown) => void;
}

export interface McpServiceOptions {
  /** The tools of memory alone; default: every pack and pipeline. */
  readonly memoryOnly?: boolean;
  readonly onDefect?: (error: unknown) => void;
  /** How often a subscribed caller's memory is looked at for what other processes wrote. Default two seconds. */
  readonly watchEveryMs?: number;
  readonly ticker?: Ticker;
}

const WATCH_EVERY_MS = 2_000;

/** Throws `invalid_input` when two packs or pipelines would be one tool. Close its watch at the end; the server context is the caller's. */
export function makeMcpService(serverContext: ServerContext, options: McpServiceOptions = {}): McpService {
  const { onDefect = () => {}, watchEveryMs = WATCH_EVERY_MS, ticker = processTicker } = options;
  const { memoryOnly = false } = options;
  return {
    serverContext,
    tools: memoryOnly ? toolsOfMemory(serverContext) : allTools(serverContext),
    watch: new MemoryWatch({ memory: serverContext.memory, everyMs: watchEveryMs, ticker }),
    schemaValidator: new AjvJsonSchemaValidator(),
    onDefect,
  };
}

function toolsOfMemory({ packs }: ServerContext): ToolRegistry {
  const { listed, unlisted } = memoryTools(packs);
  return new ToolRegistry(listed, unlisted);
}

function allTools({ packs, pipelines }: ServerContext): ToolRegistry {
  return new ToolRegistry([...packTools(packs), ...pipelineTools(pipelines, packs.list())]);
}
