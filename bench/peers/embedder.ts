/**
 * The shared embedder: the built-in model behind OpenAI's `POST /v1/embeddings` and Ollama's `POST /api/embed`, on loopback. It can be
 * down, slow, or lie.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { BuiltInModel } from "../../model/run-model.ts";
import { MODEL_DIST } from "../../scripts/build/build.ts";

export const EMBEDDER_MODEL = "all-minilm";
/** In the order in which they are measured: a system may stop asking for a while after slow or failed requests. */
export const EMBEDDER_STATES = ["up", "lying", "slow", "down"] as const;
type EmbedderState = (typeof EMBEDDER_STATES)[number];

export interface Embedder {
  /** Without a path. */
  readonly url: string;
  state: EmbedderState;
  close(): void;
}

const SLOW_MS = 5_000;

export async function startEmbedder(): Promise<Embedder> {
  const model = new BuiltInModel({ find: async () => ({ ok: true, folder: MODEL_DIST }) });
  const server = createServer((request, response) => {
    answer(request, response, model, embedder.state).catch((error: unknown) =>
      respond(response, 500, { error: String(error) }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // listens on TCP
  const embedder: Embedder = {
    url: `http://127.0.0.1:${port}`,
    state: "up",
    close: () => {
      server.close();
      server.closeAllConnections();
      model.close();
    },
  };
  return embedder;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  model: BuiltInModel,
  state: EmbedderState,
): Promise<void> {
  if (state === "down") return void request.socket.destroy();
  if (request.url === "/v1/models") return respond(response, 200, { data: [{ id: EMBEDDER_MODEL }] });
  const body: { input?: string | readonly string[] } = JSON.parse((await textOf(request)) || "{}");
  const embeddings: number[][] = [];
  for (const text of [body.input ?? []].flat()) embeddings.push([...(await model.embed(text))]);
  if (state === "slow") await pause(SLOW_MS);
  const told =
    state === "lying" ? embeddings.map((vector) => vector.map(() => Math.random() - 0.5)) : embeddings;
  if (request.url === "/api/embed")
    return respond(response, 200, { model: EMBEDDER_MODEL, embeddings: told });
  const data = told.map((embedding, index) => ({ object: "embedding", index, embedding }));
  respond(response, 200, {
    object: "list",
    model: EMBEDDER_MODEL,
    data,
    usage: { prompt_tokens: 0, total_tokens: 0 },
  });
}

function respond(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
