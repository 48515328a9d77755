/**
 * One request to a served engine, with everything bounded.
 *
 * What answers may be broken or not the engine that was meant: no redirect is followed (a token goes to no other host), no answer is
 * unpacked, an endless one is cut, and one that does not come in time is given up.
 */
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { EngineAgents } from "./engine-agents.ts";

export interface EngineRequest {
  readonly method: "GET" | "POST";
  /** With its query, percent-encoded. */
  readonly path: string;
  readonly body?: unknown;
  /** Absent on the open routes. */
  readonly token?: string;
  /** Asking again changes nothing. */
  readonly isReading: boolean;
  readonly deadlineMs: number;
  readonly mostBytes: number;
}

export interface EngineAnswer {
  readonly status: number;
  /** Undefined where it is no JSON. */
  readonly json: unknown;
  readonly retryAfter: string | undefined;
}

/** Why there is no answer. */
export class NoAnswer extends Error {
  /** A system's error code, one of ours (`ENGINE_…`), or one of TLS. */
  readonly code: string;
  /** The whole request had been handed over: what it asked for may have been done. */
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

/** The engine had closed a kept connection by the time that it was used; Node's documentation has such a request sent again. */
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
