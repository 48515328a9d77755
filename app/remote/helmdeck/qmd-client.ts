/** Queries a running helmdeck's memory: one stream per token, opened on demand and closed when idle; explains every failure. */
import * as z from "zod";
import { HelmdeckError, isHelmdeckError } from "../../../engine/errors.ts";
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
import { NoAnswer } from "../engine/engine-request.ts";
import { type Chunk, chunksSchema } from "./helmdeck-chunks.ts";
import { A_HELMDECK } from "./helmdeck-texts.ts";
import { QmdStream, StreamEnded, StreamRefusal } from "./qmd-stream.ts";

export interface QmdClientOptions {
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
      if (isExpired(error))
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
    this.#noteToken(subject, token);
    const call = async (): Promise<unknown> => {
      const stream = this.#streamOf(token);
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
    return chunksOf(reply, this.#asked(subject));
  }

  #streamOf(token: string): QmdStream {
    const open = this.#streams.get(token);
    const stream = open !== undefined && !open.stream.isOver ? open.stream : this.#openStream(token);
    open?.stopIdling();
    const { timer = backgroundTimer } = this.#options;
    const stopIdling = timer(() => this.#drop(token), IDLE_MS);
    this.#streams.set(token, { stream, stopIdling });
    return stream;
  }

  #openStream(token: string): QmdStream {
    const { address, deadlineMs, mostBytes = MOST_BYTES } = this.#options;
    this.#agents ??= agentsFor(address);
    return new QmdStream({ url: address.url, agents: this.#agents, token, deadlineMs, mostBytes });
  }

  /** Closes the stream of a token that nobody has any more. */
  #noteToken(subject: Subject, token: string): void {
    const before = this.#tokens.get(subject);
    this.#tokens.set(subject, token);
    if (before !== undefined && before !== token && ![...this.#tokens.values()].includes(before))
      this.#drop(before);
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

function isExpired(error: unknown): boolean {
  return error instanceof StreamRefusal && error.answer.status === 401;
}

/** The server's own text is not repeated, since it would reach a model. */
function failureOf(error: unknown, asked: Asked): unknown {
  if (error instanceof StreamRefusal) {
    if (error.answer.status === 503) return memoryIsOff(asked);
    return failureOfAnswer(error.answer, asked);
  }
  if (error instanceof NoAnswer) return failureOfConnection(error, asked);
  if (isHelmdeckError(error)) return error;
  throw error;
}

function memoryIsOff({ url }: Asked): HelmdeckError {
  return new HelmdeckError(
    "memory_unavailable",
    `The helmdeck at ${url} answers, but its memory is off: check HELMDECK_MEMORY_KEY and its log. Facts stored meanwhile are lost.`,
  );
}

function chunksOf(reply: unknown, { url }: Asked): readonly Chunk[] {
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
