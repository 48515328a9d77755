/** Calls a served engine's REST API with a subject's token: validates answers and explains every failure. */
import * as z from "zod";
import { HelmdeckError, isHelmdeckError } from "../../../engine/errors.ts";
import type { Subject } from "../../../engine/store/namespace.ts";
import { type FromWire, fromWire } from "../../wire/codec.ts";
import type { EngineAddress } from "./engine-address.ts";
import { type EngineAgents, makeAgents } from "./engine-agents.ts";
import {
  AN_ENGINE,
  type Asked,
  engineUnavailable,
  failureOfAnswer,
  failureOfConnection,
  malformedAnswer,
  type ServerWords,
} from "./engine-failures.ts";
import { type EngineAnswer, requestEngine } from "./engine-request.ts";

/** The token for a subject's memory. `refused`: the engine rejected the last one, so return another if there is one. */
export type TokenSource = (subject: Subject, how: { readonly refused: boolean }) => Promise<string>;

export interface EngineClientOptions {
  readonly address: EngineAddress;
  readonly tokenOf: TokenSource;
  readonly deadlines?: Partial<Deadlines>;
  /** Default: our own engine. */
  readonly server?: ServerWords;
}

export interface Deadlines {
  /** A person is waiting, and OpenClaw waits 3 s. */
  readonly readingMs: number;
  /** Within a tool's limit of 10 s. */
  readonly writingMs: number;
}

export interface Call<Schema extends z.ZodType> {
  /** Below /api/v1, or an open route; begins with a slash. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** If present, the request is a POST. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly answers: Schema;
  /** Whether it changes data. */
  readonly writes?: boolean;
  readonly mostBytes?: number;
  /** Another status besides 200 with such an answer. */
  readonly alsoOn?: number;
}

export const DEADLINES: Deadlines = { readingMs: 3_000, writingMs: 9_000 };
const MOST_BYTES = 1024 * 1024;

export class EngineClient {
  readonly #options: EngineClientOptions;
  readonly #deadlines: Deadlines;
  #agents: EngineAgents | undefined;

  constructor(options: EngineClientOptions) {
    this.#options = options;
    this.#deadlines = { ...DEADLINES, ...options.deadlines };
  }

  get url(): string {
    return this.#options.address.url;
  }

  /** As this subject. After a rejected token, asks once for another, since it may have been renewed meanwhile. */
  async call<Schema extends z.ZodType>(
    subject: Subject,
    call: Call<Schema>,
  ): Promise<FromWire<z.infer<Schema>>> {
    try {
      return await this.#callOnce(call, subject, false);
    } catch (error) {
      if (!isHelmdeckError(error, "invalid_token")) throw error;
      return this.#callOnce(call, subject, true);
    }
  }

  /** For open routes: sends no token. */
  ask<Schema extends z.ZodType>(call: Call<Schema>): Promise<FromWire<z.infer<Schema>>> {
    return this.#callOnce(call, undefined, false);
  }

  close(): void {
    this.#agents?.reading.destroy();
    this.#agents?.writing.destroy();
    this.#agents = undefined;
  }

  async #callOnce<Schema extends z.ZodType>(
    call: Call<Schema>,
    subject: Subject | undefined,
    refused: boolean,
  ): Promise<FromWire<z.infer<Schema>>> {
    const token =
      subject === undefined
        ? undefined
        : requireToken(await this.#options.tokenOf(subject, { refused }), subject);
    const asked = this.#asked(call, subject);
    const answer = await this.#send(call, asked, token);
    const { alsoOn } = call;
    if (answer.status !== 200 && answer.status !== alsoOn) throw failureOfAnswer(answer, asked);
    return checked(call, answer, asked);
  }

  #asked({ writes = false, mostBytes = MOST_BYTES }: Call<z.ZodType>, subject: Subject | undefined): Asked {
    const { readingMs, writingMs } = this.#deadlines;
    return {
      url: this.url,
      server: this.#options.server ?? AN_ENGINE,
      ...(subject !== undefined && { subject }),
      isReading: !writes,
      deadlineMs: writes ? writingMs : readingMs,
      mostBytes,
    };
  }

  async #send(call: Call<z.ZodType>, asked: Asked, token: string | undefined): Promise<EngineAnswer> {
    const { path, query, body } = call;
    this.#agents ??= agentsFor(this.#options.address);
    const request = {
      method: body === undefined ? ("GET" as const) : ("POST" as const),
      path: `${path}${queryText(query)}`,
      ...(body !== undefined && { body }),
      ...(token !== undefined && { token }),
      ...asked,
    };
    return requestEngine(this.url, this.#agents, request).catch((error: unknown) => {
      throw failureOfConnection(error, asked);
    });
  }
}

export function agentsFor(address: EngineAddress): EngineAgents {
  try {
    return makeAgents(address);
  } catch (cause) {
    const file = address.caFile ?? "";
    const message = `Cannot read the certificate authorities for ${address.url} from ${file}: set caFile to an existing PEM file.`;
    throw new HelmdeckError("engine_unavailable", message, { cause });
  }
}

/** Characters that a header can carry; other tokens are refused, so that none ends up in an error of the HTTP client. */
const TOKEN = /^[\w.~+/=-]{1,8192}$/;

export function requireToken(token: string, subject: Subject): string {
  if (TOKEN.test(token)) return token;
  throw new HelmdeckError(
    "invalid_token",
    `The configured token of agent ${subject} is not a token: it is empty, too long or has invalid characters.`,
  );
}

function queryText(query: Call<z.ZodType>["query"] = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? "" : `?${given}`;
}

function checked<Schema extends z.ZodType>(
  { answers }: Call<Schema>,
  answer: EngineAnswer,
  asked: Asked,
): FromWire<z.infer<Schema>> {
  try {
    return fromWire(answers.parse(answer.json)); // without fields outside of the schema
  } catch (error) {
    if (answer.status !== 200) throw failureOfAnswer(answer, asked);
    if (answer.json === undefined)
      throw engineUnavailable(
        `The server at ${asked.url} is not ${asked.server.kind}: its answer is not JSON.`,
      );
    const issue = error instanceof z.ZodError ? error.issues[0] : undefined;
    throw malformedAnswer(issue?.path.join(".") ?? "", asked);
  }
}
