/** Set-up of the tests that share a gateway: packs the plugin and starts the gateway. */
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { z } from "zod";
import { DIST } from "../../scripts/build/build.ts";
import { startOpenClaw } from "../../scripts/openclaw-host/openclaw-host.ts";
import { LOCKED_OPENCLAW, type OpenClawRuntime } from "../../scripts/openclaw-host/runtime.ts";
import { packPlugin } from "../../scripts/pack.ts";
import { atPlace, configBlock } from "../server/fixtures/howto.ts";
import { beginSetUp, type Make, type SetUp } from "./set-up.ts";
import { MODEL_ID, providerAt, startStandInModel } from "./stand-in-model.ts";

/** For web hooks, which strangers can call. */
export const HOOK_TOKEN = "a-token-that-web-hooks-share";

export const NOTES = {
  "MEMORY.md": "# Notes\n\nKonflux is the build system at work. Its deployment goes through GitOps.\n",
  "memory/2026-11-02.md": "# Standup\n\nTalked about the harvest of the pear trees with the neighbours.\n",
};

export default function setup(project: TestProject): Promise<() => Promise<void>> {
  return beginSetUp(project, (...given) => startSharedGateway(LOCKED_OPENCLAW, ...given));
}

/** Starts the same gateway on any OpenClaw version. */
export async function startSharedGateway(
  runtime: OpenClawRuntime,
  ...[folder, onEnd]: Parameters<Make>
): Promise<SetUp> {
  const tarball = await packPlugin(folder);
  const model = await startStandInModel();
  onEnd(() => model.close());
  const host = await startOpenClaw({
    runtime,
    plugins: [tarball],
    notes: NOTES,
    otherAgents: ["work", "boxed"],
    config: {
      agents: {
        defaults: { model: { primary: `stand-in/${MODEL_ID}` } },
        entries: { boxed: { sandbox: { mode: "all" } } },
      },
      tools: { sandbox: { tools: { allow: ["memory_search", "memory_get", "helmdeck__*"] } } },
      models: { providers: { "stand-in": providerAt(model.baseUrl) } },
      hooks: { enabled: true, token: HOOK_TOKEN },
      // OpenClaw's consent to recall unasked, which each-host.test.ts turns on. It reads this when a plugin is loaded.
      plugins: { entries: { "helmdeck-memory": { hooks: { allowConversationAccess: true } } } },
      mcp: {
        servers: {
          helmdeck: { command: process.execPath, args: [join(import.meta.dirname, "mcp-server.ts")] },
          "helmdeck-engine": await shippedMcpServer(),
        },
      },
    },
  });
  onEnd(() => host.stop());
  return { tarball, runtime, gateway: { home: host.home, pid: host.pid, modelUrl: model.baseUrl } };
}

/** Our own MCP server, configured as docs/howto/openclaw-mcp.md describes. */
async function shippedMcpServer() {
  const { mcp } = openclawConfig.parse(await configBlock("openclaw-mcp.md", "openclaw.json"));
  return atPlace(mcp.servers["helmdeck-engine"], join(DIST, "helmdeck-memory.mjs"));
}

const openclawConfig = z.object({
  mcp: z.object({ servers: z.object({ "helmdeck-engine": z.unknown() }) }),
});
