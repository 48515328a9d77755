/**
 * A memory that is a server over MCP's standard streams: one row of a table says how it is started and called. It runs once in the
 * gateway, for all agents, as its documents say, and is called directly for measuring its own tool. Each set has a folder of its own
 * then, because most of these servers know no agents.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { JsonObject } from "../../scripts/openclaw-host/openclaw-host.ts";
import type { FactLine } from "../recall/conversations.ts";
import { Gateway } from "./gateway.ts";
import type { Answer, Place, Running, ShownHit } from "./system.ts";

interface Call {
  readonly tool: string;
  readonly args: JsonObject;
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface McpMemory {
  /** Its name in OpenClaw's configuration. */
  readonly name: string;
  launch(folder: string, place: Place): Launch;
  /** The calls; or writes into the folder, and returns none. */
  store(fact: FactLine, folder: string): readonly Call[];
  search(question: string): readonly Call[];
  /** One answer for each call of `search`. */
  hits(answers: readonly string[]): readonly ShownHit[];
  /** `find` gives the answer of a call, for what has no name. */
  forget(fact: FactLine, find: (call: Call) => Promise<string>, folder: string): Promise<readonly Call[]>;
  /** Before it is started, and after each change that it does not see by itself. */
  afterChange?(launch: Launch, folder: string): Promise<void>;
}

/** A first start on a busy machine compiles hundreds of Python files. A question has a limit of its own. */
const CALL_WITHIN_MS = 180_000;

export async function startMcp(memory: McpMemory, place: Place): Promise<Running> {
  const folders = new Map<string, string>();
  const gateway = await Gateway.start(place, {
    // Set below, when the home's folder is known.
    prepare: async ({ host }) => {
      for (const agent of Object.keys(place.memory)) {
        const folder = join(host.home.root, "memories", agent);
        mkdirSync(folder, { recursive: true });
        folders.set(agent, folder);
      }
      const { command, args, env } = memory.launch(folderOf("main"), place);
      const server = { command, args: [...args], env: { ...env } };
      const set = ["config", "set", `mcp.servers.${memory.name}`, JSON.stringify(server), "--json"];
      const { code, stderr } = await host.openclaw(set);
      if (code !== 0) throw new Error(`openclaw config set ended with ${code}: ${stderr}`);
    },
  });
  const clients = new Map<string, Promise<Connected>>();

  function folderOf(agent: string): string {
    const folder = folders.get(agent);
    if (folder === undefined) throw new Error(`No agent ${agent}`);
    return folder;
  }

  function launchOf(agent: string): Launch {
    const { command, args, env } = memory.launch(folderOf(agent), place);
    // The gateway's home marks its processes, so that they are counted and ended with it.
    return { command, args, env: { ...gateway.host.home.env, NODE_OPTIONS: "", ...env } };
  }

  async function clientOf(agent: string): Promise<Connected> {
    const known = clients.get(agent);
    if (known !== undefined) return known;
    const client = connect(launchOf(agent));
    clients.set(agent, client);
    return client;
  }

  async function call(agent: string, { tool, args }: Call): Promise<string> {
    const { client } = await clientOf(agent);
    const reply = await client.callTool({ name: tool, arguments: args }, undefined, {
      timeout: CALL_WITHIN_MS,
    });
    const text = textOf(reply);
    if (reply.isError === true) throw new Error(`${tool}: ${text.slice(0, 2_000)}`);
    return text;
  }

  async function ask(search: (call: Call) => Promise<string>, question: string): Promise<Answer> {
    const answers: string[] = [];
    for (const one of memory.search(question)) answers.push(await search(one));
    return { hits: memory.hits(answers), text: answers.join("\n") };
  }

  async function changed(agent: string): Promise<void> {
    await memory.afterChange?.(launchOf(agent), folderOf(agent));
  }

  async function disconnect(): Promise<void> {
    const open = await Promise.allSettled(clients.values());
    clients.clear();
    for (const one of open) if (one.status === "fulfilled") await one.value.client.close();
  }

  try {
    for (const [agent, facts] of Object.entries(place.memory)) {
      for (const fact of facts) for (const one of memory.store(fact, folderOf(agent))) await call(agent, one);
      await changed(agent);
    }
  } catch (error) {
    await disconnect();
    await gateway.stop();
    throw error;
  }
  return {
    ...gateway.part(disconnect),
    ways: { "own tool": (agent, question) => ask((one) => call(agent, one), question) },
    throughAgent: async (agent, question) => {
      const [first] = memory.search(question);
      if (first === undefined) return { hits: [], text: "" };
      const text = await gateway.turn(agent, `${memory.name}__${first.tool}`, first.args);
      // OpenClaw wraps the answer, so only its text is compared.
      return { hits: [{ text }], text };
    },
    store: async (agent, fact) => {
      for (const one of memory.store(fact, folderOf(agent))) await call(agent, one);
      await changed(agent);
    },
    forget: async (agent, fact) => {
      for (const one of await memory.forget(fact, (find) => call(agent, find), folderOf(agent)))
        await call(agent, one);
      await changed(agent);
    },
    ready: () => Promise.resolve(),
    crash: async () => {
      for (const { transport } of await Promise.all(clients.values()))
        if (transport.pid !== null) process.kill(transport.pid, "SIGKILL");
      clients.clear();
    },
  };
}

interface Connected {
  readonly client: Client;
  readonly transport: StdioClientTransport;
}

async function connect({ command, args, env }: Launch): Promise<Connected> {
  const client = new Client({ name: "bench", version: "1" });
  const transport = new StdioClientTransport({ command, args: [...args], env: { ...env }, stderr: "ignore" });
  await client.connect(transport, { timeout: CALL_WITHIN_MS });
  return { client, transport };
}

/** As OpenClaw gives it to the model: the structured content, where there is one. */
function textOf({ content, structuredContent }: Record<string, unknown>): string {
  if (typeof structuredContent === "object" && structuredContent !== null) {
    const { result } = structuredContent as { readonly result?: unknown }; // a text in an object
    return typeof result === "string" ? result : JSON.stringify(structuredContent, null, 2);
  }
  const parts = (content ?? []) as readonly { readonly text?: string }[]; // MCP's own shape
  return parts.map(({ text = "" }) => text).join("\n");
}

const STOP_WORDS = new Set(
  "a an and any are at be but by can did do does for from had has have how i in is it its me must my not of on or our that the their them this to was we were what when where which who whom whose why will with you your".split(
    " ",
  ),
);

/** What an agent sends to a search that knows no questions: the words that carry meaning, the longest first. */
export function keywordsOf(question: string, most = 10): readonly string[] {
  const words = question.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? [];
  const carrying = [...new Set(words.filter((word) => word.length > 1 && !STOP_WORDS.has(word)))];
  return carrying.sort((left, right) => right.length - left.length).slice(0, most);
}

/** Puts hits of several answers into one order: those of most answers first, then by place. */
export function mergeHits(answers: readonly (readonly ShownHit[])[]): readonly ShownHit[] {
  const seen = new Map<string, { hit: ShownHit; times: number; place: number }>();
  for (const hits of answers) {
    for (const [place, hit] of hits.entries()) {
      const id = hit.key ?? hit.text;
      const known = seen.get(id) ?? { hit, times: 0, place };
      seen.set(id, { hit, times: known.times + 1, place: Math.min(known.place, place) });
    }
  }
  const ranked = [...seen.values()].sort(
    (left, right) => right.times - left.times || left.place - right.place,
  );
  return ranked.map(({ hit }) => hit);
}
