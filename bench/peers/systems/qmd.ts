/** qmd's keyword search of a folder of Markdown notes, over its MCP server. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { npmPackage } from "../installed.ts";
import { keywordsOf, type Launch, mergeHits, startMcp } from "../mcp.ts";
import { removeNote, writeNote } from "../notes.ts";
import type { ShownHit, System } from "../system.ts";

const NAME = "@tobilu/qmd";
const VERSION = "2.8.3";
const run = promisify(execFile);

export const qmd: System = {
  id: "qmd",
  title: "qmd, keywords",
  version: VERSION,
  settings: "https://github.com/tobi/qmd",
  note: "Its embedding, expansion and ranking models are downloaded from a hub when it first runs, and it takes no address of another embedder. So it is asked by keywords: `query` with one `lex` search for all words of the question, one for each of them, and without its ranking model. Its vendor recommends the models: with them it would do better.",
  groups: ["recall", "costs", "care", "prompt"],
  async start(place) {
    const folder = await npmPackage(NAME, VERSION);
    const notesOf = (at: string) => join(at, "notes");
    return startMcp(
      {
        name: "qmd",
        launch: (at) => ({
          command: process.execPath,
          args: [join(folder, "dist", "cli", "qmd.js"), "mcp"],
          env: { INDEX_PATH: join(at, "index.sqlite"), QMD_CONFIG_DIR: join(at, "config") },
        }),
        store: (fact, at) => {
          writeNote(notesOf(at), fact);
          return [];
        },
        search: (question) => {
          const words = keywordsOf(question, 9);
          const queries = [words.join(" "), ...words].filter((query) => query !== "");
          const searches = queries.map((query) => ({ type: "lex", query }));
          return queries.length === 0 ? [] : [{ tool: "query", args: { searches, rerank: false } }];
        },
        hits: (answers) => mergeHits(answers.map(hitsOf)),
        forget: async (fact, _find, at) => {
          removeNote(notesOf(at), fact);
          return [];
        },
        afterChange: async (launch, at) => {
          await qmdCommand(launch, "collection", "add", notesOf(at), "--name", "notes").catch(
            () => undefined,
          );
          await qmdCommand(launch, "update");
        },
      },
      place,
    );
  },
};

async function qmdCommand(
  { command, args: [program = ""], env }: Launch,
  ...args: readonly string[]
): Promise<void> {
  await run(command, [program, ...args], { env: { ...env } });
}

function hitsOf(answer: string): readonly ShownHit[] {
  const { results } = JSON.parse(answer) as {
    readonly results: readonly { readonly title: string; readonly snippet: string }[]; // its output schema
  };
  return results.map(({ title, snippet }) => ({ key: title, text: snippet }));
}
