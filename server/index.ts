/** The server: REST and MCP over the app. */

export {
  createServer,
  type HelmdeckServer,
  type Listening,
  type ServerOptions,
} from "./create-server.ts";
export { type McpMountOptions, mcpMount } from "./mcp/mcp-over-http.ts";
export { serveMcpOverStdio } from "./mcp/mcp-over-stdio.ts";

export { loadSecret } from "./token-secret.ts";
export { mintToken, type TokenRequest } from "./tokens.ts";
