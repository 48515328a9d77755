/** Questions to a running helmdeck's memory: one stream for each token, opened at need, closed when it is not used, and every failure an honest line. */
import * as z from "zod";
import {
  backgroundTimer,
  HelmdeckError,
  isHelmdeckError,
  type Subject,
  type Timer,
} from "../../engine/index.ts";
import type { EngineAddress } from "../remote/engine-address.ts";
import type { EngineAgents } from "../remote/engine-agents.ts";
import { agentsFor, requireToken, type TokenSource } from "../remote/engine-client.ts";
import {
  type Asked,
  engineUnavailable,
  failureOfAnswer,
  failureOfConnection,
} from "../remote/engine-failures.ts";
import { NoAnswer } from "../remote/engine-request.ts";
import { type Chunk, chunksSchema } from "./helmdeck-chunks.ts";
import { A_HELMDECK } from "./helmdeck-words.ts";
import { QmdStream, StreamEnded, StreamRefusal } from "./qmd-stream.ts";

export interface QmdClientOptions {
  readonly address: EngineAddress;
  readonly tokenOf: TokenSource;
  readonly deadlineMs: number;
  /** Of one answer. */
  readonly mostBytes?: number;
  readonly timer?: Timer;
}

/** What helmdeck shows at most of what a question matches. */
export const MOST_CHUNKS = 100;
/** A stream that nobody asked for so long is closed. */
const IDLE_MS = 5 * 60_000;
/** A hundred of the largest facts that we would store, which helmdeck says twice. */
const MOST_BYTES = 16 * 1024 * 1024;

const replySchema = z.union([
  z.object({ result: z.object({ structuredContent: chunksSchema }) }),
  z.object({ error: z.object({ code: z.int() }) }),
]);
/** helmdeck's, for a list of rows that failed. */
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

  /** How many streams are open. */
  get streams(): number {
    return this.#streams.size;
  }

  /** What matches, newest first where the question is one word; all there is for an empty one. At most {@link MOST_CHUNKS}. */
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
    const call = () => this.#streamOf(token).call("query", { query, limit: MOST_CHUNKS });
    // A question changes nothing, so it is asked again where the stream ended, as it does when helmdeck is started anew.
    const reply = await call().catch((error: unknown) => {
      if (isHelmdeckError(error)) throw error; // the question was not sent, and the stream is whole
      this.#drop(token);
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

  /** The stream of a token that nobody has any more is closed. */
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

/** The words of what answers are not repeated: they would reach a model. */
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
    `The helmdeck at ${url} answers, but its memory is off: check HELMDECK_MEMORY_KEY and its log. It loses facts that are stored meanwhile.`,
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
    `The helmdeck at ${url} cannot list this memory. Usually its key does not open one of the rows, and one such row makes every question fail: restore the key that the row was stored under, or delete such rows where helmdeck runs.`,
  );
}
