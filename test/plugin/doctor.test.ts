import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import type { ModelCheck } from "../../model/artefact.ts";
import { answersInTime, hostFindings, TESTED_HOSTS, unaskedWarnings } from "../../plugin/examine-plugin.ts";
import type { HostConfig } from "../../plugin/openclaw-api.ts";
import { configOf } from "./fake-host.ts";

interface More {
  readonly version?: string;
  readonly plugin?: unknown;
  readonly tellsOrigins?: boolean;
  readonly answers?: boolean;
  readonly model?: ModelCheck;
}

const findings = (config: HostConfig, more: More = {}) =>
  hostFindings({
    config,
    version: more.version ?? TESTED_HOSTS.newest,
    plugin: configOf(more.plugin),
    tellsOrigins: more.tellsOrigins ?? true,
    answers: async () => more.answers ?? true,
    findModel: async () => more.model ?? { ok: true },
  });

async function finding(check: string, ...args: Parameters<typeof findings>) {
  return (await findings(...args)).find((one) => one.check === check);
}

test("a plain installation has no warning", async () => {
  const all = await findings({});
  expect(all.filter(({ level }) => level !== "ok")).toEqual([]);
});

test("every problem has a remedy", async () => {
  const all = await findings(
    {
      plugins: { enabled: false, allow: ["other"], entries: { "memory-wiki": { enabled: true } } },
      session: { groupScope: "main", scope: "global" },
      channels: { telegram: { dmPolicy: "open", allowFrom: ["*"] } },
      memory: { search: { provider: "ollama", remote: { baseUrl: "http://127.0.0.1:9" } } },
    },
    { plugin: { searchByDefault: false }, tellsOrigins: false, answers: false },
  );
  const notWell = all.filter(({ level }) => level !== "ok");
  expect(notWell.map(({ level, check }) => [level, check])).toEqual([
    ["error", "plugin enabled"],
    ["error", "plugins.allow"],
    ["warning", "searches without a corpus"],
    ["warning", "direct chats"],
    ["warning", "groups"],
    ["warning", "global session"],
    ["warning", "sub-agents and scheduled runs"],
    ["warning", "memory-wiki"],
    ["warning", "OpenClaw's own embeddings"],
  ]);
  expect(notWell.every(({ remedy }) => remedy !== undefined)).toBe(true);
});

test.each([
  [{}, 'those of MCP server helmdeck; auditTools "all" records every tool'],
  [{ auditServers: [] }, 'none; auditTools "all" records every tool'],
  [
    { auditTools: "all" },
    "those of every tool: name, time, outcome, of inputs only path of read, path of write, path of edit; none in groups, hooks and sandboxed runs",
  ],
  [
    { auditTools: "all", auditDeny: ["exec", "bank__*"], auditInputs: { read: [], write: [], edit: [] } },
    "those of every tool, but for exec, bank__*: name, time, outcome, no inputs; none in groups, hooks and sandboxed runs",
  ],
])("reports which tool calls are recorded: %j", async (plugin, message) => {
  expect(await finding("recorded tool calls", {}, { plugin })).toEqual({
    level: "ok",
    check: "recorded tool calls",
    message,
  });
});

test("the host's version is shown with the tested ones, and is not a problem", async () => {
  expect(await finding("OpenClaw version", {}, { version: "2025.1.1" })).toEqual({
    level: "ok",
    check: "OpenClaw version",
    message: "2025.1.1; the tests run with 2026.8.1 and 2026.9.6",
  });
});

describe("settings", () => {
  test("plugins.allow is ok if it lists the plugin", async () => {
    expect(await finding("plugins.allow", { plugins: { allow: ["helmdeck-memory"] } })).toMatchObject({
      level: "ok",
    });
  });

  test("a disabled plugin is an error", async () => {
    const config = { plugins: { entries: { "helmdeck-memory": { enabled: false } } } };
    expect(await finding("plugin enabled", config)).toMatchObject({ level: "error" });
  });

  test.each([
    ["no channel", {}],
    ["one person on a list", { signal: { dmPolicy: "allowlist", allowFrom: ["+1"] } }],
    ["an empty list", { signal: { dmPolicy: "allowlist" } }],
    ["a channel that is off", { signal: { enabled: false, dmPolicy: "open" } }],
    ["direct chats that are off", { slack: { dm: { policy: "disabled" } } }],
    ["settings of all channels only", { defaults: { groupPolicy: "allowlist" }, modelByChannel: {} }],
  ])("direct chats are ok with %s", async (_, channels) => {
    const shown = await finding("direct chats", { channels } as HostConfig);
    expect(shown).toMatchObject({ level: "ok", message: expect.stringContaining("session.dmScope is main") });
  });

  test.each([
    ["pairs, as by default", { telegram: {} }],
    ["is open", { telegram: { dmPolicy: "open", allowFrom: ["*"] } }],
    ["lists two people", { signal: { dmPolicy: "allowlist", allowFrom: ["+1", "+2"] } }],
    ["lists everybody", { slack: { dm: { policy: "allowlist", allowFrom: ["*"] } } }],
    [
      "has an open account",
      { signal: { dmPolicy: "disabled", accounts: { a: {}, b: { dmPolicy: "open" } } } },
    ],
  ])("direct chats are a warning with a channel that %s", async (_, channels) => {
    expect(await finding("direct chats", { channels } as HostConfig)).toMatchObject({ level: "warning" });
  });

  test("separate direct chats still share the memory", async () => {
    const shown = await finding("direct chats", { session: { dmScope: "per-channel-peer" } });
    expect(shown?.message).toContain("shares that agent's memory");
    expect(shown?.message).not.toContain("dmScope");
  });

  test("a global session is ok if groups are open", async () => {
    const config: HostConfig = { session: { scope: "global" } };
    expect(await finding("global session", config, { plugin: { allow: ["groups"] } })).toBeUndefined();
  });
});

describe("OpenClaw's own embeddings", () => {
  const search = (provider: string, baseUrl?: string): HostConfig => ({
    memory: { search: { provider, ...(baseUrl === undefined ? {} : { remote: { baseUrl } }) } },
  });
  const CHECK = "OpenClaw's own embeddings";

  test.each([
    ["none named", {}, "ok"],
    ["switched off", search("none"), "ok"],
    ["found by OpenClaw", search("auto"), "ok"],
    ["a provider without an address", search("openai"), "ok"],
    ["a provider that answers", search("ollama", "http://127.0.0.1:9"), "ok"],
  ])("the setting is ok: %s", async (_, config, level) => {
    expect(await finding(CHECK, config)).toMatchObject({ level });
  });

  test.each<[string, NonNullable<HostConfig["plugins"]>]>([
    ["is not allowed", { allow: ["memory-core", "helmdeck-memory"] }],
    ["is denied", { deny: ["ollama"] }],
    ["is switched off", { entries: { ollama: { enabled: false } } }],
  ])("a provider whose plugin %s is not used by the gateway", async (_, plugins) => {
    const shown = await finding(CHECK, { ...search("ollama", "http://127.0.0.1:9"), plugins });
    expect(shown).toMatchObject({ level: "warning", remedy: expect.stringContaining("plugins.allow") });
  });

  test("a provider whose plugin is allowed is ok", async () => {
    const plugins = { allow: ["ollama"] };
    expect(await finding(CHECK, { ...search("ollama", "http://127.0.0.1:9"), plugins })).toMatchObject({
      level: "ok",
    });
  });

  test("a provider that is down is reported, with the delay of 30 s per search and the remedy", async () => {
    const shown = await finding(CHECK, search("ollama", "http://user:pw@127.0.0.1:9/x?key=s3cr3t"), {
      answers: false,
    });
    expect(shown).toMatchObject({
      level: "warning",
      remedy: expect.stringMatching(/memory\.search\.provider none, then openclaw memory index --force/),
    });
    expect(shown?.message).toContain("up to 30 s");
    expect(JSON.stringify(shown)).not.toMatch(/pw|s3cr3t/);
  });

  test("an invalid address is not shown", async () => {
    const shown = await finding(CHECK, search("ollama", "s3cr3t"), { answers: false });
    expect(JSON.stringify(shown)).not.toContain("s3cr3t");
  });

  test("an address counts as reachable if anything answers, even with an error; a closed port and an invalid address do not", async () => {
    const server = createServer((_, response) => void response.writeHead(500).end("no"));
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // a TCP server's address is never a string
    expect(await answersInTime(`http://127.0.0.1:${port}`)).toBe(true);
    await new Promise((resolve) => void server.close(resolve));
    expect(await answersInTime(`http://127.0.0.1:${port}`)).toBe(false);
    expect(await answersInTime("nonsense")).toBe(false);
  });
});

describe("settings without effect if an engine keeps the memory", () => {
  const source = { kind: "engine", url: "https://memory.example", tokens: {} };
  const set = (config: Readonly<Record<string, unknown>>) =>
    finding(
      "settings without effect",
      { plugins: { entries: { "helmdeck-memory": { config } } } },
      { plugin: config },
    );

  test("are named, each with the command to remove it, and never with their values", async () => {
    const idle = { encryptionKey: "s3cr3t", databasePath: "/s3cr3t", embeddings: { provider: "ollama" } };
    const found = await set({ source, ...idle, recall: "quiet" });
    expect(found).toMatchObject({
      level: "ok",
      message: expect.stringMatching(/^embeddings, databasePath, encryptionKey: an engine keeps memory/),
      remedy: expect.stringContaining(
        "openclaw config unset plugins.entries.helmdeck-memory.config.encryptionKey",
      ),
    });
    expect(JSON.stringify(found)).not.toContain("s3cr3t");
  });

  test("are a warning if they map an agent to a subject", async () => {
    expect(await set({ source, subjects: { work: "main" } })).toMatchObject({ level: "warning" });
  });

  test("are not mentioned if they have an effect, or if there are none", async () => {
    expect(await set({ subjects: { work: "main" }, databasePath: "/x" })).toBeUndefined();
    expect(await set({ source, recall: "quiet", subjects: null })).toBeUndefined();
  });
});

describe("OpenClaw's notes with the built-in model", () => {
  const check = "OpenClaw's own embeddings";
  const search = { memory: { search: { provider: "helmdeck-builtin" } } };

  test("is fine while its plugin may load and the model is there", async () => {
    expect(await finding(check, search)).toMatchObject({
      level: "ok",
      message: expect.stringContaining("installed"),
    });
  });

  test.each([
    { allow: ["helmdeck-memory"] },
    { deny: ["helmdeck-memory-notes"] },
    { entries: { "helmdeck-memory-notes": { enabled: false } } },
  ])("finds none while its plugin may not load: %j", async (plugins) => {
    expect(await finding(check, { ...search, plugins })).toMatchObject({
      level: "warning",
      message: expect.stringContaining("finds none of its notes"),
      remedy: expect.stringContaining("openclaw plugins enable helmdeck-memory-notes"),
    });
  });

  test("searches by keywords while the model is missing", async () => {
    const model: ModelCheck = { ok: false, why: "missing", problem: "There is no model.ort." };
    expect(await finding(check, search, { model })).toMatchObject({
      level: "warning",
      message: expect.stringMatching(/by keywords: There is no model\.ort\.$/),
      remedy: expect.stringContaining("openclaw helmdeck model install"),
    });
  });
});

describe("memory that speaks up", () => {
  const CHECK = "recall unasked, kept requests";
  const ON = { autoRecall: "sure" };
  const withHooks = (hooks: object): HostConfig =>
    ({ plugins: { entries: { "helmdeck-memory": { hooks } } } }) as HostConfig;

  test("is off without a warning", async () => {
    expect(await finding(CHECK, {})).toMatchObject({ level: "ok" });
    expect(unaskedWarnings({ plugin: configOf(), config: {}, version: "2026.8.1" })).toEqual([]);
  });

  test("works with OpenClaw's consent", async () => {
    const allowed = withHooks({ allowConversationAccess: true });
    expect(await finding(CHECK, allowed, { plugin: ON })).toMatchObject({ level: "ok" });
  });

  test.each<[string, object, string]>([
    ["no consent", {}, "hooks.allowConversationAccess true"],
    ["a refused consent", { allowConversationAccess: false }, "hooks.allowConversationAccess true"],
    [
      "prompts that may not be changed",
      { allowConversationAccess: true, allowPromptInjection: false },
      "config unset plugins.entries.helmdeck-memory.hooks.allowPromptInjection",
    ],
  ])("with %s is a warning with the exact command, in doctor and in status", async (_, hooks, command) => {
    for (const plugin of [ON, { captureRequests: "store" }]) {
      const found = await finding(CHECK, withHooks(hooks), { plugin });
      expect(found).toMatchObject({ level: "warning", remedy: expect.stringContaining(command) });
      const facts = { plugin: configOf(plugin), config: withHooks(hooks), version: TESTED_HOSTS.newest };
      expect(unaskedWarnings(facts)).toEqual([expect.stringContaining(command)]);
    }
  });

  test("does nothing on a host that is too old to tell who writes, and doctor says why", async () => {
    const allowed = withHooks({ allowConversationAccess: true });
    const found = await finding(CHECK, allowed, { plugin: ON, version: TESTED_HOSTS.oldest });
    expect(found).toMatchObject({ level: "warning", remedy: expect.stringContaining("2026.9.6") });
    expect(found?.message).toContain("whose words begin a turn");
  });
});
