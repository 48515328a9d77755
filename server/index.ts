/** The server: REST and MCP over the app. */
export {};
