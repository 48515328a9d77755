/** The reference memory server of the Model Context Protocol: a knowledge graph in a file of JSON lines. */
import { join } from "node:path";
import { npmPackage } from "../installed.ts";
import { keywordsOf, mergeHits, startMcp } from "../mcp.ts";
import type { System } from "../system.ts";

const NAME = "@modelcontextprotocol/server-memory";
const VERSION = "2026.8.31";

interface Entity {
  readonly name: string;
  readonly observations: readonly string[];
}

export const serverMemory: System = {
  id: "server-memory",
  title: "server-memory",
  version: VERSION,
  settings: "https://github.com/modelcontextprotocol/servers/tree/main/src/memory",
  note: "One entity for each fact. Its search looks for the whole query as a substring, so it is asked once for each word of the question, as its users do; entities that more words find come first.",
  groups: ["recall", "costs", "care", "prompt"],
  async start(place) {
    const folder = await npmPackage(NAME, VERSION);
    return startMcp(
      {
        name: "memory",
        launch: (at) => ({
          command: process.execPath,
          args: [join(folder, "dist", "index.js")],
          env: { MEMORY_FILE_PATH: join(at, "memory.jsonl") },
        }),
        store: ({ key, value }) => [
          {
            tool: "create_entities",
            args: { entities: [{ name: key, entityType: "fact", observations: [] }] },
          },
          { tool: "add_observations", args: { observations: [{ entityName: key, contents: [value] }] } },
        ],
        search: (question) =>
          keywordsOf(question).map((query) => ({ tool: "search_nodes", args: { query } })),
        hits: (answers) =>
          mergeHits(
            answers.map((answer) => {
              const { entities } = JSON.parse(answer) as { entities: readonly Entity[] }; // its output schema
              return entities.map(({ name, observations }) => ({ key: name, text: observations.join("\n") }));
            }),
          ),
        forget: ({ key }) => Promise.resolve([{ tool: "delete_entities", args: { entityNames: [key] } }]),
      },
      place,
    );
  },
};
