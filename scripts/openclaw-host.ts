/** A real OpenClaw gateway in a temporary home, for the tests and the demo: installed, started, asked, and gone without a trace. */
import type { ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  type HomeOptions,
  type Json,
  type JsonObject,
  makeHome,
  type OpenClawHome,
} from "./openclaw-host/home.ts";
import { ProcessGroups } from "./openclaw-host/process-groups.ts";
import { callGateway } from "./openclaw-host/rpc.ts";

export type { Json, JsonObject } from "./openclaw-host/home.ts";
export { processesWith } from "./openclaw-host/process-groups.ts";

/** Something that took a while; a step that failed has no end. */
export interface Step {
  readonly name: string;
  readonly ms?: number;
}

export interface OpenClawOptions extends HomeOptions {
  /** Plugin tarballs, installed before the gateway starts. */
  readonly plugins?: readonly string[];
  /** Path inside the default agent's workspace to text: OpenClaw's own memory. */
  readonly notes?: Readonly<Record<string, string>>;
  /** Called when a step begins (no `ms`) and when it has ended. */
  readonly onStep?: (step: Step) => void;
}

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

export interface ToolCall {
  readonly sessionKey?: string;
  readonly agentId?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer of POST /tools/invoke: `details` of the tool's result, or the error. */
export interface ToolReply {
  readonly status: number;
  readonly ok: boolean;
  readonly text: string;
  readonly details: JsonObject;
  readonly error?: { readonly type?: string; readonly message?: string };
  readonly ms: number;
}

/** From the newest of the gateway's log, for a failure's message. */
const TAIL_LINES = 30;
const READY_WITHIN_MS = 120_000;
const LOOK_AGAIN_MS = 50;

const openclawEntry = resolve(dirname(fileURLToPath(import.meta.resolve("openclaw"))), "..", "openclaw.mjs");

/** Installs the plugins, starts the gateway and waits until it takes requests. On any failure nothing stays behind. */
export async function startOpenClaw(options: OpenClawOptions = {}): Promise<OpenClawHost> {
  const host = await OpenClawHost.make(options);
  try {
    for (const tarball of options.plugins ?? []) await host.installPlugin(tarball);
    await host.startGateway();
    return host;
  } catch (error) {
    await host.stop();
    throw error;
  }
}

export class OpenClawHost {
  readonly home: OpenClawHome;
  readonly steps: Step[] = [];
  readonly #groups: ProcessGroups;
  readonly #onStep: (step: Step) => void;
  #gateway: ChildProcess | undefined;
  #stopping: Promise<void> | undefined;

  private constructor(home: OpenClawHome, onStep: (step: Step) => void) {
    this.home = home;
    this.#onStep = onStep;
    this.#groups = new ProcessGroups(home.root, `OPENCLAW_STATE_DIR=${home.stateDir}`);
  }

  /** The home with nothing running yet. Call `stop` in every case. */
  static async make(options: OpenClawOptions = {}): Promise<OpenClawHost> {
    const home = await makeHome(options);
    const host = new OpenClawHost(home, options.onStep ?? (() => {}));
    stopOnSignals(host);
    for (const [path, text] of Object.entries(options.notes ?? {})) {
      const file = join(home.workspace, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    return host;
  }

  get url(): string {
    return `http://127.0.0.1:${this.home.port}`;
  }

  /** Process id of the running gateway. */
  get pid(): number {
    const pid = this.#gateway?.pid;
    if (pid === undefined) throw new Error("the gateway is not running");
    return pid;
  }

  /** As a user installs a plugin that is not on ClawHub. */
  async installPlugin(tarball: string): Promise<CommandResult> {
    return this.step("install the plugin", async () => {
      const result = await this.cli([
        "plugins",
        "install",
        `npm-pack:${resolve(tarball)}`,
        "--force",
        "--accept-capabilities",
      ]);
      if (result.code !== 0) {
        throw new Error(
          `openclaw plugins install ended with ${result.code}:\n${result.stdout}${result.stderr}`,
        );
      }
      return result;
    });
  }

  async startGateway(): Promise<void> {
    await this.step("start the gateway", async () => {
      const log = openSync(this.home.logPath, "a");
      const gateway = this.#spawn(["gateway", "run"], ["ignore", log, log]);
      closeSync(log);
      this.#gateway = gateway;
      await this.#untilReady(gateway);
    });
  }

  async stopGateway(): Promise<void> {
    const { pid } = this;
    this.#gateway = undefined;
    await this.#groups.end(pid);
  }

  async restartGateway(): Promise<void> {
    await this.stopGateway();
    await this.startGateway();
  }

  /** One tool call, as any client of the gateway makes it: POST /tools/invoke. */
  async invokeTool(tool: string, args: JsonObject, call: ToolCall = {}): Promise<ToolReply> {
    const { headers, ...who } = call;
    const began = performance.now();
    const response = await this.fetch("/tools/invoke", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ tool, args, ...who }),
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
  rpc(method: string, params: JsonObject = {}, timeoutMs?: number): Promise<Json> {
    return callGateway(this.home, method, params, timeoutMs);
  }

  /** Runs `openclaw <args>` in this home to its end. */
  cli(args: readonly string[], input?: string): Promise<CommandResult> {
    const began = performance.now();
    const child = this.#spawn(args, ["pipe", "pipe", "pipe"]);
    child.stdin?.end(input);
    const stdout = collect(child.stdout);
    const stderr = collect(child.stderr);
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) =>
        resolve({ code, stdout: stdout(), stderr: stderr(), ms: performance.now() - began }),
      );
    });
  }

  /** The newest lines of what the gateway printed. */
  async logTail(): Promise<string> {
    const text = await readFile(this.home.logPath, "utf8").catch(() => "");
    return text.trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
  }

  /** Measures a step and tells whoever watches. */
  async step<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.#onStep({ name });
    const began = performance.now();
    const result = await work();
    const done = { name, ms: Math.round(performance.now() - began) };
    this.steps.push(done);
    this.#onStep(done);
    return result;
  }

  /** Ends every process and deletes the folder. Can be called at any moment, and more than once. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** Leaves the gateway and its folder to a person: nothing of it is cleaned up any more. */
  handOver(): void {
    running.delete(this);
    this.#gateway?.unref();
    this.#groups.release();
  }

  async #stop(): Promise<void> {
    this.#gateway = undefined;
    await this.#groups.endAll();
    await rm(this.home.root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    this.#groups.release();
    running.delete(this);
  }

  #spawn(args: readonly string[], stdio: ("ignore" | "pipe" | number)[]): ChildProcess {
    if (this.#stopping !== undefined) throw new Error("this OpenClaw is being stopped");
    const { env, workspace } = this.home;
    return this.#groups.spawn(process.execPath, [openclawEntry, ...args], { env, cwd: workspace, stdio });
  }

  async #untilReady(gateway: ChildProcess): Promise<void> {
    const deadline = Date.now() + READY_WITHIN_MS;
    while (!(await this.#isReady())) {
      const ended = gateway.exitCode ?? gateway.signalCode;
      const late = Date.now() > deadline ? `was not ready within ${READY_WITHIN_MS / 1000} s` : undefined;
      const reason = ended !== null ? `ended with ${ended} while starting` : late;
      if (reason !== undefined) {
        throw new Error(`the OpenClaw gateway ${reason}. The end of its log:\n${await this.logTail()}`);
      }
      await pause(LOOK_AGAIN_MS);
    }
  }

  async #isReady(): Promise<boolean> {
    try {
      const response = await this.fetch("/readyz");
      await response.arrayBuffer();
      return response.ok;
    } catch {
      return false; // nothing listens yet
    }
  }
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString("utf8");
}

const running = new Set<OpenClawHost>();
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The first signal cleans up and then has its usual effect; a second one has it at once, and the keeper cleans up. */
function stopOnSignals(host: OpenClawHost): void {
  if (running.size === 0) for (const name of SIGNALS) process.once(name, onSignal);
  running.add(host);
}

async function onSignal(name: NodeJS.Signals): Promise<void> {
  for (const other of SIGNALS) process.off(other, onSignal);
  try {
    await Promise.all([...running].map((host) => host.stop()));
  } finally {
    process.kill(process.pid, name);
  }
}
