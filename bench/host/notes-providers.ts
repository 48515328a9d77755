/** OpenClaw's search of its own notes in the real gateway, by what embeds them: nothing, our built-in model, or an Ollama. */

import { createServer, type Server } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { installModel } from "../../model/artefact.ts";
import { BuiltInModel } from "../../model/run-model.ts";
import { NOTES_PLUGIN_ID, NOTES_PROVIDER } from "../../plugin/notes/notes-names.ts";
import { MODEL_DIST } from "../../scripts/build/build.ts";
import type { JsonObject, OpenClawHost } from "../../scripts/openclaw-host/openclaw-host.ts";
import { packNotesPlugin } from "../../scripts/pack-notes.ts";
import { type Measured, mean, table } from "../measured.ts";
import { AskedHost, type Shown } from "./asked-host.ts";
import { factsOfSize, type HostQuestion, heldOutQuestions } from "./host-questions.ts";

interface Asked extends HostQuestion, Shown {}

interface Provider {
  readonly name: string;
  readonly config: JsonObject;
  readonly prepare?: (host: OpenClawHost) => Promise<void>;
}

interface Row {
  readonly notes: number;
  readonly provider: string;
  readonly asked: readonly Asked[];
}

const SERVED_MODEL = "all-minilm";
const FIRST = 3;

/** `folder`: for the tarball, until the end. */
export async function notesSection(folder: string, sizes: readonly number[]): Promise<Measured> {
  const tarball = await packNotesPlugin(folder); // builds the model's folder, too
  const source = MODEL_DIST;
  const model = new BuiltInModel({ find: async () => ({ ok: true, folder: source }) });
  const { server, url } = await serveAsOllama(model);
  try {
    const providers = providersOf(tarball, source, url);
    const rows: Row[] = [];
    for (const notes of sizes) for (const provider of providers) rows.push(await measure(notes, provider));
    return sectionOf(rows);
  } finally {
    server.close();
    model.close();
  }
}

function providersOf(tarball: string, source: string, url: string): readonly Provider[] {
  return [
    { name: "none", config: {} },
    {
      name: "**the built-in model**",
      config: {
        memory: { search: { provider: NOTES_PROVIDER } },
        plugins: { allow: ["memory-core", NOTES_PLUGIN_ID] },
      },
      prepare: async (host) => {
        await installModel(source, host.home.stateDir);
        await host.installPlugin(tarball);
      },
    },
    {
      name: "the same model, as an Ollama",
      config: {
        memory: { search: { provider: "ollama", model: SERVED_MODEL, remote: { baseUrl: url } } },
        plugins: { allow: ["memory-core", "ollama"] },
      },
    },
  ];
}

async function measure(notes: number, { name, config, prepare }: Provider): Promise<Row> {
  const host = await AskedHost.start(factsOfSize(notes), config, prepare);
  try {
    const asked: Asked[] = [];
    for (const question of heldOutQuestions())
      asked.push({ ...question, ...(await host.ask(question.question)) });
    return { notes, provider: name, asked };
  } finally {
    await host.stop();
  }
}

function sectionOf(rows: readonly Row[]): Measured {
  return {
    title: "What embeds OpenClaw's own notes",
    command: "npm run bench:host -- --notes",
    markdown: [
      "OpenClaw's own Markdown notes, asked through `memory_search` in the real gateway with its own settings (least score 0.35), by the provider in `memory.search`. The questions are the held-out half of the everyday questions, 14 of them in other words than the note's. The last provider is the same model behind Ollama's API, which shows what the added number of each vector does. A wrong hit is any other note.",
      table(
        [
          "notes",
          "provider",
          "right first",
          "among three",
          "in other words",
          "wrong hits per question",
          "wrong hits per unanswerable question",
        ],
        rows.map(rowOf),
      ),
    ].join("\n\n"),
    json: { rows },
  };
}

function rowOf({ notes, provider, asked }: Row): readonly string[] {
  const answerable = asked.filter(({ wanted }) => wanted !== undefined);
  const others = asked.filter(({ wanted }) => wanted === undefined);
  const wrong = ({ hits, wanted }: Asked) => hits.filter(({ key }) => key !== wanted).length;
  return [
    String(notes),
    provider,
    shown(answerable, 1),
    shown(answerable, FIRST),
    shown(
      answerable.filter(({ kind }) => kind === "paraphrase"),
      FIRST,
    ),
    mean(answerable.map(wrong)).toFixed(2),
    mean(others.map(wrong)).toFixed(2),
  ];
}

function shown(asked: readonly Asked[], depth: number): string {
  const right = asked.filter(({ hits, wanted }) => hits.slice(0, depth).some(({ key }) => key === wanted));
  return `${right.length} of ${asked.length}`;
}

/** Only what OpenClaw's provider `ollama` asks for: `POST /api/embed`. */
async function serveAsOllama(
  model: BuiltInModel,
): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((request, response) => {
    textOf(request)
      .then(async (body) => {
        const { input }: { input: string | readonly string[] } = JSON.parse(body);
        const embeddings: number[][] = [];
        for (const text of [input].flat()) embeddings.push([...(await model.embed(text))]);
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ model: SERVED_MODEL, embeddings }));
      })
      .catch((error: unknown) => {
        response.writeHead(500, { "content-type": "application/json" });
        response.end(JSON.stringify({ error: String(error) }));
      });
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await listening;
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { server, url: `http://127.0.0.1:${port}` };
}
