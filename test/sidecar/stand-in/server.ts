/** The stand-in as a server: its routes, its models, and the requests it received. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { line, sendError, sendJson, sendOpenAiError } from "./answers.ts";
import { distorted, type Fault, failWhole } from "./faults.ts";
import { tokensOf, vectorOf } from "./meaning.ts";
import {
  detailsOf,
  digestOf,
  MODIFIED_AT,
  REGISTRY,
  type StandInModel,
  summaryOf,
  tagged,
} from "./models.ts";

export const STAND_IN_VERSION = "0.0.0-stand-in";

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly authorization: string | undefined;
}

export interface StandInOptions {
  readonly port?: number;
  readonly host?: string;
  /** The installed models at the start. */
  readonly models?: readonly string[];
  /** A file for the names of pulled models, like the volume in which Ollama keeps its models. */
  readonly modelsFile?: string;
}

interface Asked {
  readonly body: Record<string, unknown>;
  readonly response: ServerResponse;
  readonly fault: Fault | undefined;
}

const MAX_REQUESTS_KEPT = 10_000;

export async function startStandInOllama(options: StandInOptions = {}): Promise<StandInOllama> {
  const standIn = new StandInOllama(options);
  await standIn.listen(options.port ?? 0, options.host ?? "127.0.0.1");
  return standIn;
}

export class StandInOllama {
  readonly requests: SeenRequest[] = [];
  readonly #models = new Map<string, StandInModel>();
  readonly #loaded = new Set<string>();
  readonly #modelsFile: string | undefined;
  readonly #server: Server;
  #waiting: { readonly isMet: () => boolean; readonly resolve: () => void }[] = [];
  readonly #queue = new OneAtATime();
  #fault: Fault | undefined;
  #faultsLeft = 0;
  address = "";

  constructor({ models = [], modelsFile }: StandInOptions) {
    this.#modelsFile = modelsFile;
    const kept = modelsFile && existsSync(modelsFile) ? JSON.parse(readFileSync(modelsFile, "utf8")) : [];
    for (const name of [...models, ...kept]) this.#install(tagged(name));
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  async listen(port: number, host: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject).listen(port, host, resolve);
    });
    const bound = this.#server.address();
    this.address = `http://${host}:${typeof bound === "object" && bound ? bound.port : port}`;
  }

  setFault(fault: Fault | undefined): void {
    this.#fault = fault;
    this.#faultsLeft = fault?.times ?? Number.POSITIVE_INFINITY;
  }

  /** Sets the latency of embedding requests, which run one after the other; undefined removes it. */
  setLatency(latency: Latency | undefined): void {
    this.#queue.latency = latency;
  }

  /** Resolves when this number of requests (with this path) has arrived since the start. */
  seen(count: number, path = "/"): Promise<void> {
    const isMet = () => this.requests.filter((request) => request.path.startsWith(path)).length >= count;
    if (isMet()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ isMet, resolve }));
  }

  removeModel(model: string): void {
    this.#models.delete(tagged(model));
    this.#loaded.delete(tagged(model));
  }

  /** The models that are in its memory. */
  loaded(): readonly string[] {
    return [...this.#loaded];
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "/";
    const text = await bodyOf(request);
    if (path.startsWith("/stand-in/")) {
      this.#control(path, text, response);
      return;
    }
    const body = parsed(text);
    this.#note({ method: request.method ?? "GET", path, body, authorization: request.headers.authorization });
    const fault = this.#takeFault(path);
    if (fault && failWhole(fault, request, response, text)) return;
    const { input } = asRecord(body);
    if (input !== undefined) await this.#queue.turn(textsOf(input).length, response);
    this.#route(`${request.method} ${path}`, { body: asRecord(body), response, fault });
  }

  #control(path: string, text: string, response: ServerResponse): ServerResponse {
    if (path === "/stand-in/requests") return sendJson(response, 200, this.requests);
    // Only this project's tests send faults.
    this.setFault((parsed(text) as Fault | null) ?? undefined);
    return sendJson(response, 200, {});
  }

  #note(request: SeenRequest): void {
    if (this.requests.length < MAX_REQUESTS_KEPT) this.requests.push(request);
    const met = this.#waiting.filter(({ isMet }) => isMet());
    this.#waiting = this.#waiting.filter((waiting) => !met.includes(waiting));
    for (const { resolve } of met) resolve();
  }

  #takeFault(path: string): Fault | undefined {
    const fault = this.#fault;
    if (fault === undefined || this.#faultsLeft <= 0 || !path.startsWith(fault.path ?? "/")) return undefined;
    this.#faultsLeft--;
    return fault;
  }

  #route(route: string, asked: Asked): ServerResponse {
    const { response } = asked;
    switch (route) {
      case "GET /":
      case "HEAD /":
        return response.writeHead(200, { "content-type": "text/plain" }).end("Ollama is running");
      case "GET /api/version":
        return sendJson(response, 200, { version: STAND_IN_VERSION });
      case "GET /api/tags":
        return sendJson(response, 200, { models: [...this.#models].map(summaryOf) });
      case "POST /api/show": // compose.embeddings.yml asks it whether the model is there
        return this.#show(asked);
      case "POST /api/pull":
        return this.#pull(asked);
      case "POST /api/embed":
        return this.#embed(asked);
      case "POST /v1/embeddings":
        return this.#openAiEmbed(asked);
      default:
        return response.writeHead(404, { "content-type": "text/plain" }).end("404 page not found");
    }
  }

  #show({ body, response }: Asked): ServerResponse {
    const model = this.#models.get(tagged(body.model));
    if (model === undefined) return sendError(response, 404, `model '${body.model}' not found`);
    const answer = { details: detailsOf(model), capabilities: ["embedding"], modified_at: MODIFIED_AT };
    return sendJson(response, 200, answer);
  }

  #pull({ body, response, fault }: Asked): ServerResponse {
    const name = tagged(body.model);
    const model = REGISTRY[name.replace(/:.*$/, "")];
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    response.write(line({ status: "pulling manifest" }));
    if (model === undefined) return response.end(line({ error: "pull model manifest: file does not exist" }));
    const digest = `sha256:${digestOf(name)}`;
    const status = `pulling ${digestOf(name).slice(0, 12)}`;
    for (const share of [0, 0.25, 0.5, 0.75]) {
      const completed = Math.floor(model.sizeBytes * share);
      response.write(line({ status, digest, total: model.sizeBytes, completed }));
    }
    if (fault?.kind === "silent_stream") return response;
    if (fault?.kind === "cut_stream") return cutShort(response);
    if (fault?.kind === "status") return response.end(line({ error: fault.error }));
    this.#install(name);
    response.write(line({ status, digest, total: model.sizeBytes, completed: model.sizeBytes }));
    for (const last of ["verifying sha256 digest", "writing manifest", "success"])
      response.write(line({ status: last }));
    return response.end();
  }

  #embed({ body, response, fault }: Asked): ServerResponse {
    const name = tagged(body.model);
    const model = this.#models.get(name);
    if (model === undefined)
      return sendError(response, 404, `model "${body.model}" not found, try pulling it first`);
    this.#loaded.add(name);
    const texts = textsOf(body.input);
    const tokens = texts.map(tokensOf);
    const isOver = tokens.some(({ length }) => length > model.contextTokens);
    if ((isOver && body.truncate === false) || fault?.kind === "context_overflow")
      return sendError(response, 400, "the input length exceeds the context length");
    const vectors = texts.map((text) => vectorOf(beginningOf(text, model), dimensionsOf(body, model)));
    return sendJson(response, 200, {
      model: body.model,
      embeddings: distorted(vectors, fault),
      total_duration: 14_143_917,
      load_duration: 1_019_500,
      prompt_eval_count: tokens.reduce((sum, { length }) => sum + length, 0),
    });
  }

  #openAiEmbed({ body, response, fault }: Asked): ServerResponse {
    const model = this.#models.get(tagged(body.model));
    if (model === undefined)
      return sendOpenAiError(response, 404, `model "${body.model}" not found, try pulling it first`);
    const texts = textsOf(body.input);
    if (fault?.kind === "context_overflow")
      return sendOpenAiError(response, 400, "the input length exceeds the context length");
    // Observed with Ollama 0.24: it truncates long texts without an error. Only the token count shows it.
    const read = texts.map((text) => beginningOf(text, model));
    const promptTokens = read.reduce((sum, text) => sum + tokensOf(text).length, 0);
    const vectors = read.map((text) => vectorOf(text, dimensionsOf(body, model)));
    const data = distorted(vectors, fault).map((embedding, index) => ({
      object: "embedding",
      index,
      embedding,
    }));
    if (fault?.kind === "reversed") data.reverse();
    return sendJson(response, 200, {
      object: "list",
      data,
      model: body.model,
      usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
    });
  }

  #install(name: string): void {
    const model = REGISTRY[name.replace(/:.*$/, "")];
    if (model === undefined) throw new Error(`The stand-in knows no model ${name}.`);
    this.#models.set(name, model);
    if (this.#modelsFile) writeFileSync(this.#modelsFile, JSON.stringify([...this.#models.keys()]));
  }
}

/** The milliseconds for a request with this number of texts. */
type Latency = (texts: number) => number;

class OneAtATime {
  latency: Latency | undefined;
  #last: Promise<void> = Promise.resolve();

  /** Resolves after the requests before it and its own latency. If the client disconnects, the request takes no time. */
  turn(texts: number, response: ServerResponse): Promise<void> {
    const { latency } = this;
    if (latency === undefined) return Promise.resolve();
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const mine = this.#last.then(async () => {
      await pause(latency(texts), undefined, { signal: gone.signal }).catch(() => {});
    });
    this.#last = mine;
    return mine;
  }
}

/** Flushes the written part before the connection closes. */
function cutShort(response: ServerResponse): ServerResponse {
  response.write("", () => response.destroy());
  return response;
}

/** Ollama without `truncate`: it drops the end of long texts without an error. */
function beginningOf(text: string, { contextTokens }: StandInModel): string {
  return text.slice(0, tokensOf(text)[contextTokens - 1]?.end);
}

function dimensionsOf(body: Record<string, unknown>, model: StandInModel): number {
  const asked = body.dimensions;
  return typeof asked === "number" ? Math.min(asked, model.dimensions) : model.dimensions;
}

function textsOf(input: unknown): readonly string[] {
  return Array.isArray(input) ? input.map(String) : [String(input ?? "")];
}

function parsed(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
