/** basic-memory: Markdown notes with a full-text search, over its MCP server. */
import { join } from "node:path";
import { pythonPackage } from "../installed.ts";
import { startMcp } from "../mcp.ts";
import type { System } from "../system.ts";

const VERSION = "0.24.1";

export const basicMemory: System = {
  id: "basic-memory",
  title: "basic-memory, keywords",
  version: VERSION,
  settings: "https://docs.basicmemory.com",
  note: "Its semantic search is off: its model is downloaded from a hub, and sqlite-vec needs a Python that loads extensions, which few of version 3.12 or later do here. With it, it would find more in other words. Its results name notes without their text, so they take few tokens, and a reader must open them.",
  groups: ["recall", "costs", "care", "prompt"],
  async start(place) {
    const bin = await pythonPackage("basic-memory", VERSION, { atLeast: "(3, 12)" });
    return startMcp(
      {
        name: "basic",
        launch: (at) => ({
          command: join(bin, "basic-memory"),
          args: ["mcp"],
          env: {
            BASIC_MEMORY_CONFIG_DIR: join(at, "config"),
            BASIC_MEMORY_HOME: join(at, "notes"),
            BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED: "false",
          },
        }),
        store: ({ key, value }) => [
          { tool: "write_note", args: { title: key, content: value, directory: "facts", overwrite: true } },
        ],
        search: (query) => [{ tool: "search_notes", args: { query } }],
        hits: ([answer = ""]) =>
          answer
            .split(/^### /m)
            .slice(1)
            .map((text) => ({ key: text.slice(0, text.indexOf("\n")).trim(), text })),
        forget: ({ key }) => Promise.resolve([{ tool: "delete_note", args: { identifier: key } }]),
      },
      place,
    );
  },
};
