/**
 * Sends one request to a served engine, within strict limits.
 *
 * The server may be broken or hostile: redirects are not followed (a token goes to no other host), answers are not decompressed,
 * endless answers are cut off, and late ones are abandoned.
 */
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { EngineAgents } from "./engine-agents.ts";

export interface EngineRequest {
  readonly method: "GET" | "POST";
  /** With its query, percent-encoded. */
  readonly path: string;
  readonly body?: unknown;
  /** Absent for open routes. */
  readonly token?: string;
  /** The request is safe to repeat. */
  readonly isReading: boolean;
  readonly deadlineMs: number;
  readonly mostBytes: number;
}

export interface EngineAnswer {
  readonly status: number;
  /** Undefined when the body is not JSON. */
  readonly json: unknown;
  readonly retryAfter: string | undefined;
}

/** Why there is no answer. */
export class NoAnswer extends Error {
  /** The code of a system error, of ours (`ENGINE_…`), or of TLS. */
  readonly code: string;
  /** The whole request was sent, so it may have been carried out. */
  readonly wasSent: boolean;

  constructor(code: string, wasSent: boolean) {
    super(code);
    this.code = code;
    this.wasSent = wasSent;
  }
}

export const TOO_LARGE = "ENGINE_TOO_LARGE";
export const TOO_LATE = "ENGINE_TOO_LATE";

/** Rejects with a {@link NoAnswer}. */
export async function requestEngine(
  url: string,
  agents: EngineAgents,
  request: EngineRequest,
): Promise<EngineAnswer> {
  const deadline = AbortSignal.timeout(request.deadlineMs);
  try {
    return await sendOnce(url, agents, request, deadline);
  } catch (error) {
    if (!(error instanceof BrokenBefore)) throw error;
    return sendOnce(url, agents, request, deadline);
  }
}

/** The engine had already closed a kept connection; Node's documentation recommends to send such a request again. */
class BrokenBefore extends NoAnswer {}

function sendOnce(
  url: string,
  agents: EngineAgents,
  { method, path, body, token, isReading, mostBytes }: EngineRequest,
  deadline: AbortSignal,
): Promise<EngineAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<EngineAnswer>();
  const text = body === undefined ? undefined : JSON.stringify(body);
  const send = url.startsWith("https:") ? requestHttps : requestHttp;
  const outgoing = send(`${url}${path}`, {
    method,
    agent: isReading ? agents.reading : agents.writing,
    signal: deadline,
    headers: {
      Accept: "application/json",
      "Accept-Encoding": "identity",
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(text !== undefined && {
        "Content-Type": "application/json",
        "Content-Length": Buffer.byteLength(text),
      }),
    },
  });
  let wasSent = false;
  outgoing.once("finish", () => {
    wasSent = true;
  });
  outgoing.once("error", (error) => {
    const code = deadline.aborted ? TOO_LATE : codeOf(error);
    const isStale = isReading && outgoing.reusedSocket && code === "ECONNRESET";
    reject(isStale ? new BrokenBefore(code, wasSent) : new NoAnswer(code, wasSent));
  });
  outgoing.once("response", (response) => {
    readAnswer(response, mostBytes).then(resolve, (error: unknown) => {
      outgoing.destroy();
      reject(new NoAnswer(deadline.aborted ? TOO_LATE : codeOf(error), true));
    });
  });
  outgoing.end(text);
  return promise;
}

async function readAnswer(response: IncomingMessage, mostBytes: number): Promise<EngineAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new NoAnswer(TOO_LARGE, true);
    chunks.push(chunk);
  }
  const retryAfter = response.headers["retry-after"];
  return { status: response.statusCode ?? 0, json: parsed(Buffer.concat(chunks)), retryAfter };
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
