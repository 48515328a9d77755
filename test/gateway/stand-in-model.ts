/**
 * A model that follows a script: OpenAI's chat completions over SSE, with the tool calls of each turn written into the user's message.
 * GET /requests returns the requests that it received, and GET /bodies the same as the texts that came over the wire.
 *
 * A message that ends in `<<CALL [{"tool": …, "args": …}, …]>>` makes it call these tools in order and then answer with the last tool's
 * result. Any other message is answered with "ok".
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

export interface ScriptedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

interface Message {
  readonly role: string;
  readonly content?: string | readonly { readonly text?: string }[] | null;
}

/** The part of a chat completion request that a test reads. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

export interface StandInModel {
  readonly baseUrl: string;
  close(): Promise<void>;
}

/** How the stand-in responds to a message without a script. */
export interface Reading {
  /** Matches the message. The first group is its subject. */
  readonly says: RegExp;
  readonly calls: (about: string) => readonly ScriptedCall[];
  /** The agent's final answer, from the last tool's result. */
  readonly answers: (result: string) => string;
}

export const MODEL_ID = "stand-in";
const SCRIPT = /<<CALL (.*?)>>/s;

/** A message that makes the model call these tools in this order. An argument may itself be such a message, for a sub-agent. */
export function scriptFor(text: string, calls: readonly ScriptedCall[]): string {
  const script = JSON.stringify(calls).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e");
  return `${text} <<CALL ${script}>>`;
}

export async function startStandInModel(readings: readonly Reading[] = []): Promise<StandInModel> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    answer(request, response, { bodies, readings }).catch((error: unknown) =>
      response.destroy(toError(error)),
    );
  });
  const port = await listen(server);
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}

/** The configuration of this provider in OpenClaw. */
export function providerAt(baseUrl: string) {
  return {
    baseUrl,
    apiKey: "stand-in-needs-none",
    api: "openai-completions",
    models: [{ id: MODEL_ID, name: "Stand-in", input: ["text"], contextWindow: 120_000, maxTokens: 8_192 }],
  };
}

/** The text of a message, in either of its two forms. */
export function textOf({ content }: Message): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("\n");
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { bodies, readings }: { readonly bodies: string[]; readonly readings: readonly Reading[] },
): Promise<void> {
  if (request.url === "/v1/bodies") return sendJson(response, bodies);
  if (request.url === "/v1/requests") return sendJson(response, bodies.map(requestIn));
  if (request.url === "/v1/models")
    return sendJson(response, { object: "list", data: [{ id: MODEL_ID, object: "model" }] });
  if (request.url !== "/v1/chat/completions") return void response.writeHead(404).end();
  const body = await textOfBody(request);
  bodies.push(body);
  streamChunks(response, nextMove(requestIn(body), readings));
}

/** OpenClaw's request, in OpenAI's format. */
function requestIn(body: string): ModelRequest {
  return JSON.parse(body) as ModelRequest;
}

/** The next call, or the final text. OpenClaw may add context after the person's message. */
function nextMove(
  { messages, tools = [] }: ModelRequest,
  readings: readonly Reading[],
): { text: string } | ScriptedCall {
  const at = messages.findLastIndex(
    (message) => message.role === "user" && planFor(message, readings) !== undefined,
  );
  const plan = messages[at] === undefined ? undefined : planFor(messages[at], readings);
  if (plan === undefined) return { text: "ok" };
  const results = messages.slice(at + 1).filter((message) => message.role === "tool");
  const call = plan.calls[results.length];
  if (call === undefined) return { text: plan.answers(textOf(results.at(-1) ?? { role: "tool" })) };
  const isOffered = tools.some((tool) => tool.function.name === call.tool);
  // Most tools are only available through OpenClaw's tool search, which calls them by id.
  return isOffered ? call : { tool: "tool_call", args: { id: call.tool, args: call.args } };
}

interface Plan {
  readonly calls: readonly ScriptedCall[];
  readonly answers: (result: string) => string;
}

function planFor(message: Message, readings: readonly Reading[]): Plan | undefined {
  const script = SCRIPT.exec(textOf(message))?.[1];
  if (script !== undefined) return { calls: JSON.parse(script), answers: (result) => `Done: ${result}` };
  for (const { says, calls, answers } of readings) {
    const about = says.exec(textOf(message))?.[1];
    if (about !== undefined) return { calls: calls(about), answers };
  }
  return undefined;
}

function streamChunks(response: ServerResponse, move: { text: string } | ScriptedCall): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const id = `chatcmpl-${Date.now()}`;
  const send = (delta: object, finish: string | null) => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    const chunk = { id, object: "chat.completion.chunk", created: 0, model: MODEL_ID, choices };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  if ("text" in move) {
    send({ role: "assistant", content: move.text }, null);
    send({}, "stop");
  } else {
    const call = { name: move.tool, arguments: JSON.stringify(move.args) };
    send(
      {
        role: "assistant",
        tool_calls: [{ index: 0, id: `call_${Date.now()}`, type: "function", function: call }],
      },
      null,
    );
    send({}, "tool_calls");
  }
  response.end("data: [DONE]\n\n");
}

export function sendJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

export async function textOfBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

export function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
