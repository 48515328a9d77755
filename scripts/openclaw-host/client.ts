/** A client of OpenClaw for tests and the demo: tool calls over HTTP, methods over WebSocket, the command line. */
import { readFile } from "node:fs/promises";
import type { Json, JsonObject, OpenClawHome } from "./home.ts";
import type { ProcessGroups } from "./process-groups.ts";
import { callGateway, type RpcOptions } from "./rpc.ts";

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

/** The caller; default: the agent `main`. */
export interface ToolCall {
  readonly sessionKey?: string;
  readonly agentId?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer of POST /tools/invoke: text and `details` of the tool's result, or the error. */
export interface ToolReply {
  readonly status: number;
  readonly ok: boolean;
  readonly text: string;
  readonly details: JsonObject;
  readonly error?: { readonly type?: string; readonly message?: string };
  readonly ms: number;
}

/** Lines from the end of the gateway's log, for error messages. */
const TAIL_LINES = 30;

export class OpenClawClient {
  readonly home: OpenClawHome;
  readonly #groups: Pick<ProcessGroups, "spawn">;

  constructor(home: OpenClawHome, groups: Pick<ProcessGroups, "spawn">) {
    this.home = home;
    this.#groups = groups;
  }

  get url(): string {
    return `http://127.0.0.1:${this.home.port}`;
  }

  /** One tool call, like any client of the gateway. */
  async invokeTool(tool: string, args: JsonObject, call: ToolCall = {}): Promise<ToolReply> {
    const { headers, ...who } = call;
    // Older hosts require an owner if several agents are configured.
    const asked = who.sessionKey === undefined ? { agentId: "main", ...who } : who;
    const began = performance.now();
    const response = await this.fetch("/tools/invoke", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ tool, args, ...asked }),
    });
    // The documented shape of this endpoint's answers (docs/gateway/tools-invoke-http-api.md).
    const body = (await response.json()) as {
      ok?: boolean;
      error?: { type?: string; message?: string };
      result?: { content?: readonly { text?: string }[]; details?: JsonObject };
    };
    return {
      status: response.status,
      ok: body.ok === true,
      text: body.result?.content?.map((part) => part.text ?? "").join("\n") ?? "",
      details: body.result?.details ?? {},
      ...(body.error === undefined ? {} : { error: body.error }),
      ms: performance.now() - began,
    };
  }

  /** A request to the gateway with its token. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${this.home.token}`, ...init.headers };
    return fetch(`${this.url}${path}`, { ...init, headers });
  }

  /** A method of the gateway's WebSocket protocol. */
  rpc(method: string, params: JsonObject = {}, options?: RpcOptions): Promise<Json> {
    return callGateway(this.home, method, params, options);
  }

  /** Runs `openclaw <args>` in this home to its end. */
  openclaw(args: readonly string[]): Promise<CommandResult> {
    const { node, entry } = this.home.runtime;
    return this.run(node, [entry, ...args]);
  }

  /** Runs any command with this home's environment to its end. */
  run(command: string, args: readonly string[]): Promise<CommandResult> {
    const { env, workspace } = this.home;
    const began = performance.now();
    const child = this.#groups.spawn(command, args, {
      env,
      cwd: workspace,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const stdout = collect(child.stdout);
    const stderr = collect(child.stderr);
    return new Promise((done, reject) => {
      child.once("error", reject);
      child.once("close", (code) =>
        done({ code, stdout: stdout(), stderr: stderr(), ms: performance.now() - began }),
      );
    });
  }

  /** The last lines of the gateway's output. */
  async logTail(): Promise<string> {
    const text = await readFile(this.home.logPath, "utf8").catch(() => "");
    return text.trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
  }
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString("utf8");
}
