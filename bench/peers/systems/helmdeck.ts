/** The plugin of this repository: by keywords, with the built-in model as its installer sets it up, and with the shared embedder. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { installModel } from "../../../model/artefact.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { DIST, MODEL_DIST } from "../../../scripts/build/build.ts";
import type { JsonObject } from "../../../scripts/openclaw-host/openclaw-host.ts";
import { packPlugin } from "../../../scripts/pack-plugin.ts";
import { importInto } from "../../plugin/fill.ts";
import type { FactLine } from "../../recall/conversations.ts";
import { EMBEDDER_MODEL } from "../embedder.ts";
import { Gateway } from "../gateway.ts";
import type { Answer, Place, Running, System } from "../system.ts";

const PLUGIN = "helmdeck-memory";
const READY_WITHIN_MS = 180_000;
const LOOK_AGAIN_MS = 200;
const COMMON = { version: packageJson.version, settings: "docs/howto/openclaw-memory.md" };

export const helmdeck: System = {
  ...COMMON,
  id: "helmdeck",
  title: "helmdeck, keywords",
  note: '`embeddings: "none"`. Its own tool is `helmdeck__memory_search` of its MCP server.',
  groups: ["recall", "costs", "care", "prompt"],
  start: (place) => startHelmdeck(place, { provider: "none" }),
};

export const helmdeckModel: System = {
  ...COMMON,
  id: "helmdeck-model",
  title: "helmdeck, built-in model",
  note: "As its installer sets it up.",
  groups: ["recall", "costs", "care", "prompt"],
  hasVectors: true,
  start: (place) => startHelmdeck(place, { provider: "builtin" }),
};

export const helmdeckEager: System = {
  ...COMMON,
  id: "helmdeck-eager",
  title: "helmdeck, built-in model, eager",
  note: 'With `recall: "eager"`, which shows three facts that it is not sure of instead of two. The setting is one of `memory_search`; the own tool takes it with each question.',
  groups: ["recall"],
  hasVectors: true,
  start: async (place) => {
    const running = await startHelmdeck(place, { provider: "builtin" }, { recall: "eager" });
    const { memory_search } = running.ways;
    return { ...running, ways: { ...(memory_search && { memory_search }) } };
  },
};

export const helmdeckEmbedder: System = {
  ...COMMON,
  id: "helmdeck-embedder",
  title: "helmdeck, shared embedder",
  note: "The same model as the built-in one, at the address that the others get.",
  groups: ["recall", "provider"],
  hasVectors: true,
  start: (place) => {
    const url = `${place.embedder.url}/v1`;
    return startHelmdeck(place, { provider: "openai-compatible", url, model: EMBEDDER_MODEL });
  },
};

async function startHelmdeck(place: Place, embeddings: JsonObject, more: JsonObject = {}): Promise<Running> {
  const gateway = await Gateway.start(place, {
    config: { plugins: { entries: { [PLUGIN]: { config: { ...more, embeddings } } } } },
    prepare: async ({ host }) => {
      const { stateDir } = host.home;
      if (embeddings.provider === "builtin") await installModel(MODEL_DIST, stateDir);
      const folder = mkdtempSync(join(tmpdir(), "helmdeck-plugin-"));
      try {
        await host.installPlugin(await packPlugin(folder));
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
      for (const [agent, facts] of Object.entries(place.memory))
        if (facts.length > 0) await importInto(stateDir, agent, linesOf(facts));
    },
  });
  const clients = new Map<string, Promise<Client>>();
  const disconnect = async () => {
    for (const client of clients.values()) await (await client).close();
    clients.clear();
  };
  const own = async (agent: string, query: string): Promise<Answer> => {
    const client = await (clients.get(agent) ?? connect(agent));
    const reply = await client.callTool({ name: "helmdeck__memory_search", arguments: { query } });
    const [{ text }] = reply.content as [{ text: string }]; // our own server's answer
    const { results } = JSON.parse(text) as { results: readonly { key?: string; snippet: string }[] };
    return { hits: results.map(({ key = "", snippet }) => ({ key, text: snippet })), text };
  };
  const connect = (agent: string): Promise<Client> => {
    const client = connectMcp(gateway, agent);
    clients.set(agent, client);
    return client;
  };
  const ready = async (agent: string) => {
    for (const until = performance.now() + READY_WITHIN_MS; ; ) {
      const { text } = await gateway.memorySearch(agent, "ready", { corpus: "wiki" });
      const status = (await gateway.host.rpc("helmdeck.status", {})) as { embeddings?: { waiting?: number } };
      const isIndexed = !text.includes("in part") && !text.includes("being indexed");
      if (isIndexed && (embeddings.provider === "none" || status.embeddings?.waiting === 0)) return;
      if (performance.now() > until) throw new Error(`not ready within ${READY_WITHIN_MS} ms: ${text}`);
      await pause(LOOK_AGAIN_MS);
    }
  };
  return {
    ...gateway.part(disconnect),
    ways: { memory_search: (agent, question) => gateway.memorySearch(agent, question), "own tool": own },
    store: async (agent, { key, value }) =>
      void (await gateway.invoke("helmdeck__memory_store", { key, value }, agent)),
    forget: async (agent, { key }) =>
      void (await gateway.invoke("helmdeck__memory_forget", { scope: `key:${key}` }, agent)),
    ready,
    storeExpiring: (agent, fact, seconds) => {
      const expiring = { ...fact, expires_at: new Date(Date.now() + seconds * 1_000).toISOString() };
      return importInto(gateway.host.home.stateDir, agent, linesOf([expiring]));
    },
  };
}

/** It reads the plugin's settings of embeddings. */
async function connectMcp({ host }: Gateway, agent: string): Promise<Client> {
  const client = new Client({ name: "bench", version: "1" });
  const args = [join(DIST, "helmdeck-memory.mjs"), "mcp", "--caller", agent];
  const env = { ...host.home.env, NODE_OPTIONS: "" };
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }));
  return client;
}

async function* linesOf(facts: readonly FactLine[]): AsyncGenerator<Uint8Array> {
  for (const fact of facts) yield Buffer.from(`${JSON.stringify(fact)}\n`);
}
