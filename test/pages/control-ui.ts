/** OpenClaw's gateway with the plugin, and its Control UI in a browser, as an operator uses them. */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, FrameLocator, Page } from "playwright-core";
import { expect } from "vitest";
import {
  type JsonObject,
  type OpenClawClient,
  type OpenClawHost,
  startOpenClaw,
} from "../../scripts/openclaw-host/openclaw-host.ts";
import { packPlugin } from "../../scripts/pack.ts";
import { MODEL_ID, providerAt } from "../gateway/stand-in-model.ts";

/** Long enough to start a gateway and install a plugin. */
export const GATEWAY_WITHIN_MS = 180_000;
export const PAGES = "/plugins/helmdeck-memory";
/** Failed requests of the host's own interface: the tab's icon, and a picture of the operator. */
export const HOSTS_OWN_TROUBLES = [
  /ERR_FAILED.*\/favicon-32\.png/,
  /404.*\/api\/users\/gateway-owner\/avatar/,
];

export interface GatewayOptions {
  /** The plugin's configuration. */
  readonly config?: JsonObject;
  readonly modelUrl?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Has the agents `main` and `work`. Without a model, the Control UI only shows how to set one up. */
export async function startGateway(options: GatewayOptions = {}): Promise<OpenClawHost> {
  const { config = {}, modelUrl = "http://127.0.0.1:9/v1", env = {} } = options;
  const folder = await mkdtemp(join(await realpath(tmpdir()), "helmdeck-pack-"));
  try {
    return await startOpenClaw({
      plugins: [await packPlugin(folder)],
      otherAgents: ["work"],
      env,
      config: {
        agents: { defaults: { model: { primary: `stand-in/${MODEL_ID}` } } },
        models: { providers: { "stand-in": providerAt(modelUrl) } },
        plugins: { entries: { "helmdeck-memory": { config } } },
      },
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Stores a fact as an agent does. Returns the tool's answer. */
export async function store(
  gateway: OpenClawClient,
  agentId: string,
  fact: { readonly key: string; readonly value: string; readonly ttl_seconds?: number },
) {
  const args: JsonObject = { ...fact };
  const sessionKey = `agent:${agentId}:main`;
  const reply = await gateway.invokeTool("helmdeck__memory_store", args, { agentId, sessionKey });
  expect(reply, JSON.stringify(reply)).toMatchObject({ status: 200, ok: true });
  return reply;
}

/** The Control UI, signed in with the gateway's token. */
export async function signIn(context: BrowserContext, { url, home }: OpenClawClient): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${url}/#token=${home.token}`);
  await tabOf(page).waitFor();
  return page;
}

/** The tab in the sidebar. */
export function tabOf(page: Page) {
  return page.getByRole("link", { name: "Agent memory", exact: true });
}

/** Opens the tab. Returns its frame with the first page in it. */
export async function openTab(page: Page): Promise<FrameLocator> {
  await tabOf(page).click();
  const frame = page.frameLocator('iframe[title="Agent memory"]');
  await frame.getByRole("main").waitFor();
  return frame;
}
