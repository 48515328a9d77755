/** Checks on each supported OpenClaw, in addition to the smoke test and the other files that vitest.config.ts lists with this one. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canSpeak } from "../../plugin/persons-turn.ts";
import {
  type JsonObject,
  type OpenClawClient,
  OpenClawHost,
} from "../../scripts/openclaw-host/openclaw-host.ts";
import { environmentOf, installerIn } from "./installer.ts";
import { timesOpen } from "./process-facts.ts";
import {
  agentTurn,
  member,
  messageWith,
  patchConfig,
  pathsOf,
  resultOfSetUp,
  sharedGateway,
  sharedOpenClaw,
} from "./shared.ts";

const INSTALLER_TIMEOUT_MS = 600_000;
const FACT = { key: "ferry/timetable", value: "The ferry to the island leaves at seven." };
const PATH = "helmdeck/user_facts/ferry/timetable.md";
const openclaw = await sharedOpenClaw();
const QUERY = "when does the ferry to the island leave";

async function found(openclaw: OpenClawClient): Promise<readonly string[]> {
  return pathsOf(await openclaw.invokeTool("memory_search", { query: QUERY }), "helmdeck");
}

describe("the plugin", () => {
  it("is loaded without diagnostics", async () => {
    const asked = ["plugins", "inspect", "helmdeck-memory", "--runtime", "--json"];
    const { stdout } = await openclaw.openclaw(asked);
    expect(JSON.parse(stdout)).toMatchObject({ plugin: { status: "loaded" }, diagnostics: [] });
  });

  it("answers a gateway method", async () => {
    expect(member(await openclaw.rpc("helmdeck.status", { agentId: "main" }), "state")).toBe("ready");
  });

  it("applies a changed setting at once, and opens its database only once", async () => {
    await openclaw.invokeTool("helmdeck__memory_store", FACT);
    expect(await found(openclaw)).toContain(PATH);
    await configure(openclaw, { searchByDefault: false });
    expect(await found(openclaw)).toEqual([]);
    await configure(openclaw, { searchByDefault: true });
    expect(await found(openclaw)).toContain(PATH);
    const database = join(openclaw.home.stateDir, "helmdeck-memory", "memory.sqlite");
    expect(await timesOpen((await sharedGateway()).pid, database)).toBe(1);
  });
});

// verifies P-unasked-person
describe("memory that speaks up", () => {
  it("adds a sure fact if OpenClaw tells whose words begin a turn; else doctor says that it cannot", async () => {
    const { runtime } = await resultOfSetUp();
    await openclaw.invokeTool("helmdeck__memory_store", FACT);
    await configure(openclaw, { autoRecall: "sure" });
    try {
      const question = `${QUERY}, by itself`;
      await agentTurn(openclaw, { message: question, sessionKey: "agent:main:telegram:direct:4711" });
      const message = await messageWith(question);
      expect(message.includes(FACT.value)).toBe(canSpeak(runtime.version));
      const { stdout } = await openclaw.openclaw(["helmdeck", "doctor"]);
      expect(stdout.includes(`do nothing on OpenClaw ${runtime.version}`)).toBe(!canSpeak(runtime.version));
    } finally {
      await configure(openclaw, { autoRecall: "off" });
    }
  });
});

describe("the tab in the Control UI", () => {
  const PAGES = "/plugins/helmdeck-memory";

  it("can be read in its frame with its cookie, but not without", async () => {
    const config = await openclaw.fetch("/control-ui-config.json");
    const cookies = config.headers.getSetCookie().filter((cookie) => cookie.includes(`Path=${PAGES};`));
    const [cookie = ""] = cookies.map((one) => one.split(";")[0]);
    const ask = (init: RequestInit) => fetch(`${openclaw.url}${PAGES}`, init);
    const shown = await ask({ headers: { cookie } });
    expect([shown.status, (await shown.text()).includes("<h1>Facts</h1>")]).toEqual([200, true]);
    expect((await ask({})).status).toBe(401);
    expect((await ask({ method: "POST", headers: { cookie } })).status).toBe(401);
  });
});

describe("the installer with the built-in model", () => {
  let host: OpenClawHost;
  beforeAll(async () => {
    host = await OpenClawHost.make({ runtime: (await resultOfSetUp()).runtime });
  });
  afterAll(() => host?.stop());

  it("installs the plugin, and removes it again", { timeout: INSTALLER_TIMEOUT_MS }, async () => {
    expect(await install("--embeddings", "builtin")).toEqual([0, undefined]);
    await host.startGateway();
    expect((await host.invokeTool("helmdeck__memory_store", FACT)).status).toBe(200);
    expect(await found(host)).toContain(PATH);
    await host.stopGateway();
    expect(await install("--uninstall")).toEqual([0, undefined]);
    await host.startGateway();
    expect(await found(host)).toEqual([]);
  });

  async function install(...args: readonly string[]) {
    const { code, report } = await installerIn(await environmentOf(host.home), ...args, "--yes");
    return [code, report.steps.at(-1)?.error];
  }
});

function configure(openclaw: OpenClawClient, config: JsonObject): Promise<void> {
  return patchConfig(openclaw, { plugins: { entries: { "helmdeck-memory": { config } } } });
}
