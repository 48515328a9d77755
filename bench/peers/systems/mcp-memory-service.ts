/** mcp-memory-service: vectors in SQLite, with the shared embedder, over its MCP server. */
import { join } from "node:path";
import { EMBEDDER_MODEL } from "../embedder.ts";
import { pythonPackage } from "../installed.ts";
import { startMcp } from "../mcp.ts";
import type { System } from "../system.ts";

const VERSION = "12.4.0";

export const mcpMemoryService: System = {
  id: "mcp-memory-service",
  title: "mcp-memory-service, shared embedder",
  version: VERSION,
  settings: "https://github.com/doobidoo/mcp-memory-service",
  note: "Its own model is downloaded from a hub, so `MCP_EXTERNAL_EMBEDDING_URL` names the shared embedder. It has no names for memories: a name stands before the text.",
  groups: ["recall", "costs", "care", "prompt", "provider"],
  hasVectors: true,
  async start(place) {
    const needs = { atLeast: "(3, 10)", sqliteExtensions: true };
    const bin = await pythonPackage("mcp-memory-service", VERSION, needs);
    return startMcp(
      {
        name: "service",
        launch: (at, { embedder }) => ({
          command: join(bin, "memory"),
          args: ["server"],
          env: {
            MCP_MEMORY_BASE_DIR: at,
            MCP_EXTERNAL_EMBEDDING_URL: `${embedder.url}/v1/embeddings`,
            MCP_EXTERNAL_EMBEDDING_MODEL: EMBEDDER_MODEL,
          },
        }),
        // Without `conversation_id` it takes similar facts for duplicates and refuses them.
        store: ({ key, value }) => [
          { tool: "memory_store", args: { content: `${key}: ${value}`, conversation_id: key } },
        ],
        search: (query) => [{ tool: "memory_search", args: { query } }],
        hits: ([answer = ""]) => hitsOf(answer),
        forget: async ({ key, value }, find) => {
          const found = await find({ tool: "memory_search", args: { query: `${key}: ${value}`, limit: 1 } });
          const [, hash = ""] = /Hash: ([0-9a-f]{64})/.exec(found) ?? [];
          return [{ tool: "memory_delete", args: { content_hash: hash } }];
        },
      },
      place,
    );
  },
};

/** "1. TEXT\n   Hash: …" for each hit. */
function hitsOf(answer: string) {
  return answer
    .split(/^\d+\. /m)
    .slice(1)
    .map((text) => ({ text }));
}
