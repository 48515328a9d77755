/** The server: REST and MCP over the app. */
export type { Caller } from "./caller.ts";
export {
  createServer,
  DEFAULT_HOST,
  DEFAULT_PORT,
  DEFAULT_REQUESTS_PER_MINUTE,
  GRACE_MS,
  type HelmdeckServer,
  type Listening,
  type ListenOptions,
  type ServerOptions,
} from "./create-server.ts";
export { type McpMountOptions, mcpMount } from "./mcp/mcp-over-http.ts";
export { type StdioOptions, serveMcpOverStdio } from "./mcp/mcp-over-stdio.ts";
export { createMcpServer } from "./mcp/mcp-server.ts";
export { type McpService, type McpServiceOptions, makeMcpService } from "./mcp/mcp-service.ts";
export { MCP_RESOURCES, type McpResource } from "./mcp/resources.ts";
export { MCP_RESOURCE_TEMPLATES, type McpResourceTemplate } from "./mcp/templates.ts";
export type { Mount, MountedRequest } from "./mount.ts";
export { type LoadedSecret, loadSecret } from "./token-secret.ts";
export { type MintedToken, mintToken, type TokenRequest } from "./tokens.ts";
