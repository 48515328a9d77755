/** A system inside a real OpenClaw gateway: its home, its agents, and what an agent's turn and a tool call answer. */
import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  homeMark,
  type Json,
  type JsonObject,
  OpenClawHost,
  processesWith,
} from "../../scripts/openclaw-host/openclaw-host.ts";
import {
  MODEL_ID,
  type ModelRequest,
  providerAt,
  type StandInModel,
  scriptFor,
  startStandInModel,
} from "../../test/gateway/stand-in-model.ts";
import type { Answer, Place, Running } from "./system.ts";

export interface GatewayOptions {
  readonly config?: JsonObject;
  readonly env?: Readonly<Record<string, string>>;
  /** Before the gateway starts: installs a plugin, writes files. */
  readonly prepare?: (gateway: Gateway) => Promise<void>;
}

/** The gateway's part of a running system. */
export type GatewayPart = Pick<Running, "root" | "host" | "gateway" | "crash" | "pids" | "end" | "stop">;

/** The first turn starts a server, which takes a busy machine long. */
const TURN_WITHIN_MS = 150_000;
const RPC_WITHIN_MS = TURN_WITHIN_MS + 10_000;
/** Writes how long the gateway's main thread was blocked into this file, in the home. */
export const BLOCKED_FILE = "blocked.log";

export class Gateway {
  readonly host: OpenClawHost;
  readonly #model: StandInModel;

  private constructor(host: OpenClawHost, model: StandInModel) {
    this.host = host;
    this.#model = model;
  }

  static async start({ memory }: Place, { config = {}, env, prepare }: GatewayOptions): Promise<Gateway> {
    const model = await startStandInModel();
    const others = Object.keys(memory).filter((agent) => agent !== "main");
    const watch = join(import.meta.dirname, "gateway-slices.ts");
    const host = await OpenClawHost.make({
      config: { ...config, ...turnConfig(model, config) },
      ...(others.length > 0 && { otherAgents: others }),
      env: { NODE_OPTIONS: `--import=${watch}`, HELMDECK_BENCH_BLOCKED: BLOCKED_FILE, ...env },
    });
    const gateway = new Gateway(host, model);
    try {
      await prepare?.(gateway);
      await host.startGateway();
      return gateway;
    } catch (error) {
      await gateway.stop();
      throw error;
    }
  }

  workspaceOf(agent: string): string {
    const { root, workspace } = this.host.home;
    return agent === "main" ? workspace : join(root, `workspace-${agent}`);
  }

  /** Writes a file of the agent's workspace. */
  async write(agent: string, path: string, text: string): Promise<void> {
    const file = join(this.workspaceOf(agent), path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  /** Throws with the gateway's message if the tool fails. */
  async invoke(
    tool: string,
    args: JsonObject,
    agentId: string,
  ): Promise<{ text: string; details: JsonObject }> {
    const reply = await this.host.invokeTool(tool, args, { agentId });
    if (reply.ok) return reply;
    throw new Error(`${tool}: ${reply.status} ${JSON.stringify(reply.error)}`);
  }

  /** OpenClaw's own search, as a model calls it. */
  async memorySearch(agent: string, query: string, args: JsonObject = {}): Promise<Answer> {
    const { text, details } = await this.invoke("memory_search", { query, ...args }, agent);
    const results = Array.isArray(details.results) ? (details.results as readonly JsonObject[]) : undefined;
    const hits = (results ?? []).map((hit) => ({ text: `${hit.path ?? ""}\n${hit.snippet ?? ""}` }));
    return { hits, text, ...((results === undefined || details.disabled === true) && { isError: true }) };
  }

  /** An agent that calls this tool and answers with its result. */
  turn(agent: string, tool: string, args: JsonObject): Promise<string> {
    return this.say(agent, randomUUID(), scriptFor("Please.", [{ tool, args }]));
  }

  /** One message to an agent. Returns its final answer; throws if the turn does not end well. */
  async say(agentId: string, session: string, message: string): Promise<string> {
    const sessionKey = `agent:${agentId}:explicit:${session}`;
    const asked = { agentId, sessionKey, message, deliver: false, idempotencyKey: randomUUID() };
    const { runId } = (await this.host.rpc("agent", asked)) as { runId: string }; // the documented answer
    const wait = { runId, timeoutMs: TURN_WITHIN_MS };
    const ended = await this.host.rpc("agent.wait", wait, { timeoutMs: RPC_WITHIN_MS });
    const { status, terminalReply } = ended as { status?: string; terminalReply?: { text?: string } };
    if (status === "ok") return terminalReply?.text ?? "";
    throw new Error(`the turn did not go well: ${JSON.stringify(ended)}`);
  }

  /** What the model was asked in all turns so far. */
  async requests(): Promise<readonly ModelRequest[]> {
    const response = await fetch(`${this.#model.baseUrl}/requests`);
    return (await response.json()) as readonly ModelRequest[]; // the stand-in's own answer
  }

  async command(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.host.openclaw(args);
    if (code !== 0) throw new Error(`openclaw ${args.join(" ")} ended with ${code}: ${stderr.slice(-2_000)}`);
    return stdout;
  }

  async stop(): Promise<void> {
    await this.host.stop();
    await this.#model.close();
  }

  /** @param disconnect ends what is connected to the system, before its processes end */
  part(disconnect: () => Promise<void> = async () => undefined): GatewayPart {
    const { host } = this;
    return {
      host,
      gateway: this,
      root: host.home.root,
      pids: () => processesWith(homeMark(host.home.root)),
      crash: async () => {
        process.kill(-host.pid, "SIGKILL");
        await host.stopGateway();
        await host.startGateway();
      },
      end: async () => {
        await disconnect();
        await host.stopGateway();
      },
      stop: async () => {
        await disconnect();
        await this.stop();
      },
    };
  }
}

function turnConfig(model: StandInModel, config: JsonObject): JsonObject {
  const agents = { defaults: { model: { primary: `stand-in/${MODEL_ID}` } } };
  const models = { providers: { "stand-in": providerAt(model.baseUrl) as unknown as Json } }; // plain JSON
  return { agents: { ...agents, ...(config.agents as JsonObject | undefined) }, models };
}
