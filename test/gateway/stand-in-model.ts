/**
 * A model that does as it is told: OpenAI's chat completions over SSE, with each turn's tool calls written into the user's
 * message. What it was sent can be read back from GET /requests.
 *
 * A message that ends in `<<CALL [{"tool": …, "args": …}, …]>>` makes it call these tools one after the other and then
 * answer with the last tool's result; any other message is answered with "ok".
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

/** The part of a chat completion request that a test looks at. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

export interface StandInModel {
  readonly baseUrl: string;
  close(): Promise<void>;
}

/** How the stand-in takes a message without a script. */
export interface Reading {
  /** Its first group is what it is about. */
  readonly says: RegExp;
  readonly calls: (about: string) => readonly ScriptedCall[];
  /** What the agent says in the end, from the last tool's result. */
  readonly answers: (result: string) => string;
}

export const MODEL_ID = "stand-in";
const SCRIPT = /<<CALL (.*?)>>/s;

/** The text that makes the model call these tools in this order. An argument may be such a text itself, for a sub-agent. */
export function scriptFor(text: string, calls: readonly ScriptedCall[]): string {
  const script = JSON.stringify(calls).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e");
  return `${text} <<CALL ${script}>>`;
}

export async function startStandInModel(readings: readonly Reading[] = []): Promise<StandInModel> {
  const requests: ModelRequest[] = [];
  const server = createServer((request, response) => {
    answer(request, response, { requests, readings }).catch((error: unknown) =>
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

/** What OpenClaw's configuration says of it. */
export function providerAt(baseUrl: string) {
  return {
    baseUrl,
    apiKey: "stand-in-needs-none",
    api: "openai-completions",
    models: [{ id: MODEL_ID, name: "Stand-in", input: ["text"], contextWindow: 120_000, maxTokens: 8_192 }],
  };
}

/** The text of a message, whichever of the two forms it has. */
export function textOf({ content }: Message): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("\n");
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { requests, readings }: { readonly requests: ModelRequest[]; readonly readings: readonly Reading[] },
): Promise<void> {
  if (request.url === "/v1/requests") return sendJson(response, requests);
  if (request.url === "/v1/models")
    return sendJson(response, { object: "list", data: [{ id: MODEL_ID, object: "model" }] });
  if (request.url !== "/v1/chat/completions") return void response.writeHead(404).end();
  // What OpenClaw sends; its shape is OpenAI's.
  const asked = JSON.parse(await textOfBody(request)) as ModelRequest;
  requests.push(asked);
  streamChunks(response, nextMove(asked, readings));
}

/** The call whose turn it is, or the final text. OpenClaw may put context of its own behind the person's message. */
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
  // Most tools stand behind OpenClaw's tool search, which calls them by id.
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

function sendJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function textOfBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function listen(server: Server): Promise<number> {
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
