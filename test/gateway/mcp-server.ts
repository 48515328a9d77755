/** A small MCP server over stdio, as a stand-in for helmdeck: one tool works, and one fails with helmdeck's error body. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "helmdeck", version: "0.29.10" });

server.registerTool(
  "content.draft",
  {
    description: "Draft a text",
    inputSchema: { title: z.string(), persona: z.string(), body: z.string().optional() },
  },
  ({ title }) => ({ content: [{ type: "text", text: JSON.stringify({ draft: title.length }) }] }),
);

server.registerTool(
  "repo.fetch",
  { description: "Fetch a repository", inputSchema: { url: z.string() } },
  () => ({
    isError: true,
    content: [
      { type: "text", text: JSON.stringify({ error: "session_unavailable", message: "no session" }) },
    ],
  }),
);

await server.connect(new StdioServerTransport());
