/** Shared by all MCP sessions of a process: the server context, the tool registry, and one watch on memory. */
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import type { ServerContext } from "../../packs/server-context.ts";
import { memoryTools, packTools, pipelineTools } from "./pack-tools.ts";
import { ToolRegistry } from "./tool-registry.ts";
import { MemoryWatch, processTicker, type Ticker } from "./watch.ts";

export interface McpService {
  readonly serverContext: ServerContext;
  readonly tools: ToolRegistry;
  readonly watch: MemoryWatch;
  /** Shared, because the SDK's server would create one each, which is most of a session's memory use. */
  readonly schemaValidator: AjvJsonSchemaValidator;
  /** Takes what a tool or resource threw. */
  readonly onFailure: (thrown: unknown) => void;
  /** The caller started this process, and may read its files: failures name them. */
  readonly isForOperator: boolean;
}

export interface McpServiceOptions {
  /** Only memory's own tools; default: every pack and pipeline. */
  readonly memoryOnly?: boolean;
  readonly onFailure?: (thrown: unknown) => void;
  readonly isForOperator?: boolean;
  readonly ticker?: Ticker;
}

/** Interval for polling a subscribed caller's memory for other processes' writes. */
const WATCH_EVERY_MS = 2_000;
/** If the database tells of them: for what it failed to tell. */
const WATCH_FOR_MISSED_EVERY_MS = 15_000;

/** Throws `invalid_input` if two packs or pipelines would have the same tool name. Close its watch at the end. */
export function makeMcpService(serverContext: ServerContext, options: McpServiceOptions = {}): McpService {
  const { memory, watch, packs, pipelines } = serverContext;
  const everyMs = watch === undefined ? WATCH_EVERY_MS : WATCH_FOR_MISSED_EVERY_MS;
  const { memoryOnly = false, onFailure = () => {}, isForOperator = false, ticker = processTicker } = options;
  const allTools = () => [...packTools(packs), ...pipelineTools(pipelines, packs.list())];
  return {
    serverContext,
    tools: new ToolRegistry(memoryOnly ? memoryTools(packs) : allTools()),
    watch: new MemoryWatch({ memory, everyMs, ticker, ...(watch && { watch }) }),
    schemaValidator: new AjvJsonSchemaValidator(),
    onFailure,
    isForOperator,
  };
}
