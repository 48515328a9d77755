/** Every entry point that OpenClaw lists for the plugin has an isolation case, and each case passes in the real gateway. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { PLUGIN_DIST } from "../../scripts/build/build.ts";
import { OPERATORS_ONLY, PROBES, TREASURE } from "./probes.ts";
import { endOfRun, sharedOpenClaw, spawnSubAgent } from "./shared.ts";

const openclaw = await sharedOpenClaw();
const GROUP = "agent:main:telegram:group:-100555";
/** `plugins inspect` lists none of these. test/plugin checks that they are registered. */
const UNLISTED = ["supplement search", "supplement get", "prompt lines"];

interface Inspected {
  readonly plugin: { readonly status: string; readonly toolNames: readonly string[] };
  readonly typedHooks: readonly { readonly name: string }[];
  readonly customHooks: readonly unknown[];
  readonly commands: readonly string[];
  readonly cliCommands: readonly string[];
  readonly services: readonly string[];
  readonly gatewayMethods: readonly string[];
  readonly mcpServers: readonly unknown[];
  readonly httpRouteCount: number;
  readonly diagnostics: readonly unknown[];
}

interface Manifest {
  readonly contracts: { readonly tools: readonly string[] };
  readonly cliCommands: readonly { readonly name: string }[];
  readonly commandAliases: readonly { readonly name: string }[];
}

let inspected: Inspected;
let groupsSubAgent: string;
let manifest: Manifest;

beforeAll(async () => {
  const { stdout } = await openclaw.openclaw([
    "plugins",
    "inspect",
    "helmdeck-memory",
    "--runtime",
    "--json",
  ]);
  inspected = JSON.parse(stdout);
  manifest = JSON.parse(await readFile(join(PLUGIN_DIST, "openclaw.plugin.json"), "utf8"));
  await openclaw.invokeTool("helmdeck__memory_store", { key: TREASURE.key, value: TREASURE.value });
  const subAgent = await spawnSubAgent(openclaw, `${GROUP}1`, "Wait for orders.");
  await endOfRun(openclaw, subAgent.runId);
  groupsSubAgent = subAgent.sessionKey;
});

describe("openclaw plugins inspect", () => {
  it("shows the plugin loaded, without warnings", () => {
    expect(inspected.plugin.status).toBe("loaded");
    expect(inspected.diagnostics).toEqual([]);
  });

  it("lists what the manifest declares", () => {
    expect([...inspected.plugin.toolNames].sort()).toEqual([...manifest.contracts.tools].sort());
    expect(inspected.cliCommands).toEqual(manifest.cliCommands.map(({ name }) => name));
    expect(inspected.commands).toEqual(manifest.commandAliases.map(({ name }) => name));
  });

  it("lists no entry point without an isolation test", () => {
    const cases = [...Object.keys(PROBES), ...Object.keys(OPERATORS_ONLY)].sort();
    expect([...surfacesOf(inspected), ...UNLISTED].sort()).toEqual(cases);
    expect(inspected).toMatchObject({ mcpServers: [], customHooks: [] });
  });
});

describe("main's memory", () => {
  it.each(Object.entries(PROBES))("is accessible from its own session: %s", async (_surface, reaches) => {
    expect(await reaches(openclaw, "agent:main:main")).toBe(true);
  });

  it.each(Object.entries(PROBES))("is not accessible from a group: %s", async (_surface, reaches) => {
    expect(await reaches(openclaw, GROUP)).toBe(false);
  });

  it.each(Object.entries(PROBES))(
    "is not accessible from a group's sub-agent: %s",
    async (_surface, reaches) => {
      expect(await reaches(openclaw, groupsSubAgent)).toBe(false);
    },
  );

  it.each(Object.entries(OPERATORS_ONLY))("is accessible to the operator: %s", async (_surface, check) => {
    await check(openclaw);
  });
});

function surfacesOf(listed: Inspected): readonly string[] {
  return [
    ...listed.plugin.toolNames.map((name) => `tool ${name}`),
    ...new Set(listed.typedHooks.map(({ name }) => `hook ${name}`)),
    ...listed.commands.map((name) => `slash command ${name}`),
    ...listed.cliCommands.map((name) => `command line ${name}`),
    ...listed.services.map((name) => `service ${name}`),
    ...listed.gatewayMethods.map((name) => `gateway method ${name}`),
    ...Array.from({ length: listed.httpRouteCount }, (_, index) => `HTTP route ${index + 1}`),
  ];
}
