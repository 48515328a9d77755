/**
 * Queries a running helmdeck's memory: one stream per token, opened on demand and closed when idle; explains every failure. A
 * stream is MCP over Server-Sent Events, with responses on a long-lived GET, and requests as separate POSTs.
 *
 * An attacker may answer in helmdeck's place. So requests go only to helmdeck's one known path at the validated address, whatever
 * the stream says; endless events are cut off, and late responses are abandoned.
 */
import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { createParser } from "eventsource-parser";
import * as z from "zod";
import { HelmdeckError, invalidField, isHelmdeckError } from "../../../engine/errors.ts";
import type { Subject } from "../../../engine/store/namespace.ts";
import { backgroundTimer, type Timer } from "../../../engine/timing.ts";
import type { EngineAddress } from "../engine/engine-address.ts";
import type { EngineAgents } from "../engine/engine-agents.ts";
import { agentsFor, requireToken, type TokenSource } from "../engine/engine-client.ts";
import {
  type Asked,
  engineUnavailable,
  failureOfAnswer,
  failureOfConnection,
} from "../engine/engine-failures.ts";
import { type EngineAnswer, NoAnswer, requestEngine, TOO_LARGE, TOO_LATE } from "../engine/engine-request.ts";
import { type Chunk, chunksSchema } from "./helmdeck-chunks.ts";
import { A_HELMDECK } from "./helmdeck-texts.ts";

interface QmdClientOptions {
  readonly address: EngineAddress;
  readonly tokenOf: TokenSource;
  readonly deadlineMs: number;
  /** Limit of one response. */
  readonly mostBytes?: number;
  readonly timer?: Timer;
}

/** helmdeck's limit of matches per query. */
export const MOST_CHUNKS = 100;
/** A stream unused for this long is closed. */
const IDLE_MS = 5 * 60_000;
/** A hundred of the largest facts that we would store, each of which helmdeck sends twice. */
const MOST_BYTES = 16 * 1024 * 1024;

const replySchema = z.union([
  z.object({ result: z.object({ structuredContent: chunksSchema }) }),
  z.object({ error: z.object({ code: z.int() }) }),
]);
/** helmdeck's code for a failed listing. */
const INTERNAL = -32603;

interface Open {
  readonly stream: QmdStream;
  stopIdling: () => void;
}

export class QmdClient {
  readonly #options: QmdClientOptions;
  /** By token. */
  readonly #streams = new Map<string, Open>();
  readonly #tokens = new Map<Subject, string>();
  #agents: EngineAgents | undefined;

  constructor(options: QmdClientOptions) {
    this.#options = options;
  }

  /** Number of open streams. */
  get streams(): number {
    return this.#streams.size;
  }

  /** The matches, newest first for a query of one word; everything for an empty one. At most {@link MOST_CHUNKS}. */
  async query(subject: Subject, query: string): Promise<readonly Chunk[]> {
    const asked = this.#asked(subject);
    try {
      return await this.#queryAs(subject, query, false);
    } catch (error) {
      if (error instanceof StreamRefusal && error.answer.status === 401)
        return this.#queryAs(subject, query, true).catch((again) => Promise.reject(failureOf(again, asked)));
      throw failureOf(error, asked);
    }
  }

  close(): void {
    for (const token of [...this.#streams.keys()]) this.#drop(token);
    this.#agents?.reading.destroy();
    this.#agents?.writing.destroy();
    this.#agents = undefined;
  }

  async #queryAs(subject: Subject, query: string, refused: boolean): Promise<readonly Chunk[]> {
    const token = requireToken(await this.#options.tokenOf(subject, { refused }), subject);
    // Closes the stream of a token that nobody has any more.
    const before = this.#tokens.get(subject);
    this.#tokens.set(subject, token);
    if (before !== undefined && before !== token && ![...this.#tokens.values()].includes(before))
      this.#drop(before);
    const call = async (): Promise<unknown> => {
      const open = this.#streams.get(token);
      const stream = open !== undefined && !open.stream.isOver ? open.stream : this.#openStream(token);
      open?.stopIdling();
      const { timer = backgroundTimer } = this.#options;
      const stopIdling = timer(() => this.#drop(token), IDLE_MS);
      this.#streams.set(token, { stream, stopIdling });
      try {
        return await stream.call("query", { query, limit: MOST_CHUNKS });
      } catch (error) {
        // Otherwise the query was not sent, and the stream is intact. Others may have opened a new one meanwhile.
        if (!isHelmdeckError(error) && this.#streams.get(token)?.stream === stream) this.#drop(token);
        throw error;
      }
    };
    // A query changes nothing, so it is retried when the stream has ended, for example because helmdeck was restarted.
    const reply = await call().catch((error: unknown) => {
      if (error instanceof StreamEnded) return call();
      throw error;
    });
    const { url } = this.#asked(subject);
    const read = replySchema.safeParse(reply);
    if (!read.success) throw engineUnavailable(`The helmdeck at ${url} answers in an unknown form.`);
    if ("result" in read.data) return read.data.result.structuredContent.results;
    if (read.data.error.code !== INTERNAL)
      throw engineUnavailable(
        `The helmdeck at ${url} does not know this request: it must be version 0.29 or later.`,
      );
    throw new HelmdeckError(
      "entry_unreadable",
      `The helmdeck at ${url} cannot list this memory. Usually its key does not open one of the rows, which makes every query fail: restore the key of that row, or delete such rows on helmdeck's machine.`,
    );
  }

  #openStream(token: string): QmdStream {
    const { address, deadlineMs, mostBytes = MOST_BYTES } = this.#options;
    this.#agents ??= agentsFor(address);
    return new QmdStream({ url: address.url, agents: this.#agents, token, deadlineMs, mostBytes });
  }

  #drop(token: string): void {
    const open = this.#streams.get(token);
    this.#streams.delete(token);
    open?.stopIdling();
    open?.stream.close();
  }

  #asked(subject: Subject): Asked {
    const { address, deadlineMs, mostBytes = MOST_BYTES } = this.#options;
    return { url: address.url, server: A_HELMDECK, subject, isReading: true, deadlineMs, mostBytes };
  }
}

/** The server's own text is not repeated, since it would reach a model. */
function failureOf(error: unknown, asked: Asked): unknown {
  if (error instanceof StreamRefusal) {
    if (error.answer.status === 503)
      return new HelmdeckError(
        "memory_unavailable",
        `The helmdeck at ${asked.url} answers, but its memory is off: check HELMDECK_MEMORY_KEY and its log. Facts stored meanwhile are lost.`,
      );
    return failureOfAnswer(error.answer, asked);
  }
  if (error instanceof NoAnswer) return failureOfConnection(error, asked);
  if (isHelmdeckError(error)) return error;
  throw error;
}

interface QmdStreamOptions {
  readonly url: string;
  readonly agents: EngineAgents;
  readonly token: string;
  readonly deadlineMs: number;
  readonly mostBytes: number;
}

/** An HTTP response other than a stream. */
class StreamRefusal extends Error {
  readonly answer: EngineAnswer;

  constructor(answer: EngineAnswer) {
    super(`status ${answer.status}`);
    this.answer = answer;
  }
}

/** The stream has ended; another one can be opened. */
class StreamEnded extends NoAnswer {}

const PATH = "/api/v1/mcp/qmd/sse";
/** helmdeck sends the session id in this path. */
const MESSAGES = /^\/api\/v1\/mcp\/qmd\/sse\/message\?sessionId=([\w-]{1,128})$/;
/** helmdeck ends a session after a line of more than 1 MiB; the difference leaves room for the rest of the request. */
const MOST_ASKED_BYTES = 1024 * 1024 - 1024;
const ENDED = "STREAM_ENDED";
const PROTOCOL_VERSION = "2024-11-05";
/** For a response that refuses the stream. */
const MOST_REFUSAL_BYTES = 64 * 1024;

/** It responds, but is not helmdeck. */
const NO_HELMDECK: EngineAnswer = { status: 200, json: undefined, retryAfter: undefined };

type Waiting = PromiseWithResolvers<unknown>;

class QmdStream {
  readonly #options: QmdStreamOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #opened: PromiseWithResolvers<string> = Promise.withResolvers();
  #request: ClientRequest | undefined;
  #ready: Promise<string> | undefined;
  #ended: NoAnswer | StreamRefusal | undefined;
  #lastId = 0;

  constructor(options: QmdStreamOptions) {
    this.#options = options;
    this.#opened.promise.catch(() => undefined); // the caller sees the error
  }

  get isOver(): boolean {
    return this.#ended !== undefined;
  }

  /** The result of a tool call. Rejects with a {@link NoAnswer}, a {@link StreamRefusal} or `invalid_input`. */
  async call(name: string, args: Readonly<Record<string, unknown>>): Promise<unknown> {
    // Before anything is opened or sent.
    if (Buffer.byteLength(JSON.stringify(args)) > MOST_ASKED_BYTES)
      throw invalidField("query", "is longer than helmdeck accepts (1 MiB): shorten it");
    const deadline = AbortSignal.timeout(this.#options.deadlineMs);
    this.#ready ??= this.#greet(deadline);
    const path = await inTime(this.#ready, deadline);
    return this.#ask(path, { method: "tools/call", params: { name, arguments: args } }, deadline);
  }

  close(): void {
    this.#end(new StreamEnded(ENDED, false));
  }

  async #greet(deadline: AbortSignal): Promise<string> {
    try {
      this.#open();
      const path = await inTime(this.#opened.promise, deadline);
      const clientInfo = { name: "helmdeck-memory", version: "1" };
      const params = { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo };
      await this.#ask(path, { method: "initialize", params }, deadline);
      await this.#post(path, { jsonrpc: "2.0", method: "notifications/initialized" });
      return path;
    } catch (error) {
      this.#end(error);
      throw error;
    }
  }

  #open(): void {
    const { url, token, agents } = this.#options;
    const send = url.startsWith("https:") ? requestHttps : requestHttp;
    const outgoing = send(`${url}${PATH}`, {
      agent: agents.writing, // a connection of its own
      headers: {
        Accept: "text/event-stream",
        "Accept-Encoding": "identity",
        Authorization: `Bearer ${token}`,
      },
    });
    this.#request = outgoing;
    outgoing.once("error", (error) => this.#end(new StreamEnded(codeOf(error), true)));
    outgoing.once("response", (response) => this.#read(response));
    outgoing.once("socket", (socket) => socket.unref()); // an idle stream does not keep the process alive
    outgoing.end();
  }

  #read(response: IncomingMessage): void {
    const { statusCode = 0, headers } = response;
    if (statusCode !== 200) return void this.#refused(response);
    if (!/^text\/event-stream\b/.test(headers["content-type"] ?? ""))
      return void this.#end(new StreamRefusal(NO_HELMDECK));
    const parser = createParser({
      maxBufferSize: this.#options.mostBytes,
      onEvent: ({ event, data }) => {
        if (data.length > this.#options.mostBytes) this.#end(new NoAnswer(TOO_LARGE, true));
        else this.#heard(event, data);
      },
      onError: ({ type }) => {
        if (type === "max-buffer-size-exceeded") this.#end(new NoAnswer(TOO_LARGE, true));
      },
    });
    response.setEncoding("utf8");
    response.on("data", (text: string) => {
      if (this.#ended === undefined) parser.feed(text);
    });
    response.once("close", () => this.#end(new StreamEnded(ENDED, true)));
    response.once("error", (error) => this.#end(new StreamEnded(codeOf(error), true)));
  }

  /** With the response's body, if it is short. */
  async #refused(response: IncomingMessage): Promise<void> {
    let text = "";
    response.setEncoding("utf8");
    try {
      for await (const chunk of response) {
        text += chunk;
        if (text.length > MOST_REFUSAL_BYTES) break;
      }
    } catch {
      // the status is enough
    }
    const retryAfter = response.headers["retry-after"];
    this.#end(new StreamRefusal({ status: response.statusCode ?? 0, json: parsed(text), retryAfter }));
  }

  #heard(event: string | undefined, data: string): void {
    if (event === "endpoint") return void this.#greeted(MESSAGES.exec(data)?.[1]);
    const message = parsed(data);
    if (typeof message !== "object" || message === null || !("id" in message)) return;
    const waiting = this.#waiting.get(Number(message.id));
    waiting?.resolve(message);
  }

  #greeted(session: string | undefined): void {
    if (session === undefined) this.#end(new StreamRefusal(NO_HELMDECK));
    else this.#opened.resolve(`${PATH}/message?sessionId=${session}`);
  }

  async #ask(path: string, request: object, deadline: AbortSignal): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    const waiting: Waiting = Promise.withResolvers();
    waiting.promise.catch(() => undefined);
    this.#waiting.set(id, waiting);
    try {
      if (this.#ended !== undefined) throw this.#ended;
      await this.#post(path, { jsonrpc: "2.0", id, ...request });
      return await inTime(waiting.promise, deadline);
    } finally {
      this.#waiting.delete(id);
    }
  }

  async #post(path: string, body: object): Promise<void> {
    const { url, agents, token, deadlineMs } = this.#options;
    const sent = { method: "POST" as const, path, body, token, isReading: true, deadlineMs };
    const answer = await requestEngine(url, agents, { ...sent, mostBytes: MOST_REFUSAL_BYTES });
    if (answer.status === 404) {
      // helmdeck was restarted and no longer knows the session.
      const over = new StreamEnded(ENDED, true);
      this.#end(over);
      throw over;
    }
    if (answer.status !== 202) throw new StreamRefusal(answer);
  }

  #end(reason: unknown): void {
    if (this.#ended !== undefined) return;
    const ended =
      reason instanceof NoAnswer || reason instanceof StreamRefusal
        ? reason
        : new StreamEnded("unknown", true);
    this.#ended = ended;
    this.#opened.reject(ended);
    for (const { reject } of this.#waiting.values()) reject(ended);
    this.#request?.destroy();
  }
}

async function inTime<T>(work: Promise<T>, deadline: AbortSignal): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(new NoAnswer(TOO_LATE, true));
  if (deadline.aborted) giveUp();
  deadline.addEventListener("abort", giveUp, { once: true });
  try {
    return await Promise.race([work, late]);
  } finally {
    deadline.removeEventListener("abort", giveUp);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function codeOf(error: Error): string {
  return "code" in error ? String(error.code) : "unknown";
}
