import { Command } from "commander";
import { describe, expect, test, vi } from "vitest";
import type { Memory } from "../../app/memory.ts";
import { AGENT_TOOLS } from "../../plugin/agent-tools.ts";
import type { HostApi, Service, ServiceContext } from "../../plugin/openclaw-api.ts";
import type { CliParts } from "../../plugin/openclaw-commands.ts";
import { register, type StartMemory } from "../../plugin/register.ts";
import { CHAT_COMMANDS } from "../../plugin/tool-names.ts";
import { GROUP_CONTEXT, MAIN, MAIN_CONTEXT, recordingLogger } from "./fake-host.ts";
import { fakeMemory } from "./fake-memory.ts";

const MODES = ["full", "discovery", "tool-discovery", "setup-only", "setup-runtime", "cli-metadata"] as const;

/** The host's records: two sub-agents, one of which a group started. */
const RECORDS: Readonly<Record<string, object>> = {
  "agent:main:subagent:of-group": { spawnedBy: GROUP_CONTEXT.sessionKey },
  "agent:main:subagent:of-main": { spawnedBy: MAIN_CONTEXT.sessionKey },
};
const getSessionEntry = ({ sessionKey }: { sessionKey: string }) => RECORDS[sessionKey];

/** Records all registrations. Like the host's, its runtime throws if only metadata is requested. */
function recordingApi(
  pluginConfig: unknown,
  registrationMode: (typeof MODES)[number] = "full",
  version = "2026.9.6",
) {
  const registered: Record<string, unknown[][]> = {};
  const disposals: (() => unknown)[] = [];
  const lifecycle = { onDispose: (dispose: () => unknown) => void disposals.push(dispose) };
  const runtime = new Proxy(
    {},
    {
      get: (_, name) => {
        if (registrationMode === "cli-metadata")
          throw new Error("The runtime is not available in this mode.");
        if (name === "version") return version;
        if (name === "agent") return { session: { getSessionEntry } };
        return name === "config" ? { current: () => ({}) } : undefined;
      },
    },
  );
  const known: Record<string, unknown> = {
    pluginConfig,
    registrationMode,
    config: {},
    runtime,
    lifecycle,
    session: {
      controls: {
        registerControlUiDescriptor: (...args: unknown[]) => note("registerControlUiDescriptor", args),
      },
    },
    logger: recordingLogger(),
  };
  const note = (name: string, args: unknown[]) => {
    registered[name] = [...(registered[name] ?? []), args];
  };
  const api = new Proxy(known, {
    get: (target, name: string) => target[name] ?? ((...args: unknown[]) => note(name, args)),
  });
  return {
    api: api as unknown as HostApi, // only the parts that register uses
    registered,
    dispose: () => Promise.all(disposals.map((dispose) => dispose())),
  };
}

function startCounting(memory: Memory) {
  const counts = { started: 0, released: 0 };
  const start: StartMemory = async () => {
    counts.started += 1;
    const release = async () => {
      counts.released += 1;
    };
    return { memory, release };
  };
  return { counts, start };
}

test.each(MODES)("in mode %s everything is registered and nothing is opened", (mode) => {
  const { api, registered } = recordingApi({}, mode);
  const { start, counts } = startCounting(fakeMemory());
  register(api, start);
  expect(Object.fromEntries(Object.entries(registered).map(([name, calls]) => [name, calls.length]))).toEqual(
    {
      registerMemoryCorpusSupplement: 1,
      registerMemoryPromptPreparation: 1,
      on: 3,
      registerTool: Object.keys(AGENT_TOOLS).length,
      registerCommand: Object.keys(CHAT_COMMANDS).length,
      registerService: 1,
      registerGatewayMethod: 1,
      registerHttpRoute: 1,
      registerControlUiDescriptor: 1,
      registerCli: 1,
    },
  );
  expect(counts.started).toBe(0);
});

test("a hot reload waits for no memory: meanwhile OpenClaw blocks the tools that a hook of the plugin sees", () => {
  const { api, registered } = recordingApi({});
  register(api, () => new Promise(() => {}));
  const [[service] = []] = registered.registerService ?? [];
  expect((service as Service).start({} as ServiceContext)).toBeUndefined();
});

describe("the hooks that see messages", () => {
  const hooksOf = (config: object, version?: string) => {
    const { api, registered } = recordingApi(config, "full", version);
    register(api, startCounting(fakeMemory()).start);
    const hooks = (registered.on ?? []).map(([name, , options]) => [name, options] as const);
    return hooks.filter(([name]) => ["before_prompt_build", "llm_input", "agent_end"].includes(String(name)));
  };
  const RECALL = ["before_prompt_build", { requiresToolAuthority: true }] as const;

  // verifies P-unasked-person
  test("are registered only if they are turned on, and never on a host that tells too little", () => {
    expect(hooksOf({})).toEqual([]);
    expect(hooksOf({ autoRecall: "on", captureRequests: true })).toEqual([]);
    expect(hooksOf({ autoRecall: "sure" })).toEqual([RECALL]);
    expect(hooksOf({ captureRequests: "store" })).toEqual([
      ...[RECALL, ["llm_input", undefined], ["agent_end", undefined]],
    ]);
    expect(hooksOf({ autoRecall: "sure", captureRequests: "store" }, "2026.9.5")).toEqual([]);
  });
});

test("importing the plugin's modules starts nothing", async () => {
  const timers = vi.spyOn(globalThis, "setTimeout");
  const before = process.getActiveResourcesInfo().length;
  await import("../../plugin/index.ts");
  expect(timers).not.toHaveBeenCalled();
  expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before);
  timers.mockRestore();
});

describe("every entry point", () => {
  const searching = () => fakeMemory({ search: async () => ({ results: [], mode: "keyword" }) });

  test("shares one lease per registration, which ends with the registration", async () => {
    const { api, registered, dispose } = recordingApi({});
    const { start, counts } = startCounting(searching());
    register(api, start);
    const [[supplement]] = registered.registerMemoryCorpusSupplement as [
      [{ search(params: object): Promise<unknown> }],
    ];
    await Promise.all([
      supplement.search({ ...MAIN, query: "a" }),
      supplement.search({ ...MAIN, query: "b" }),
    ]);
    expect(counts).toEqual({ started: 1, released: 0 });
    await dispose();
    expect(counts).toEqual({ started: 1, released: 1 });
    await expect(supplement.search({ ...MAIN, query: "c" })).rejects.toThrow("not available");
    expect(counts.started).toBe(1);
  });

  /** Calls every registered entry point to memory, as a caller in this context. */
  async function callEverything(context: { agentId?: string; sessionKey?: string }, memory: Memory) {
    const { api, registered } = recordingApi({});
    register(api, startCounting(memory).start);
    const asked = { agentId: context.agentId, agentSessionKey: context.sessionKey, sandboxed: false };
    // Each is called as the host would call it. The lines below have the types.
    const call = (name: string, index = 0, at = 0) => registered[name]?.[index]?.[at] as never;
    const supplement: { search(params: object): Promise<unknown>; get(params: object): Promise<unknown> } =
      call("registerMemoryCorpusSupplement");
    const prepare: (params: object) => Promise<unknown> = call("registerMemoryPromptPreparation");
    const approval: (event: object, context: object) => Promise<unknown> = call("on", 1, 1);
    const audit: (event: object, context: object) => Promise<unknown> = call("on", 2, 1);
    const tool = (index: number): { execute(id: string, params: object): Promise<unknown> } =>
      (call("registerTool", index) as (context: object) => never)(context);
    const command = (index: number): { handler(context: object): Promise<unknown> } =>
      call("registerCommand", index);
    const event = { toolName: "helmdeck__web-scrape", params: {}, toolCallId: "1" };
    const wide = { toolName: "helmdeck__memory_forget", params: { scope: "all" } };
    const atAScreen = { ...context, requester: { channel: "webchat" } };
    return Promise.allSettled([
      approval(wide, atAScreen),
      approval({ toolName: "helmdeck__memory_pin", params: { key: "a" } }, atAScreen),
      supplement.search({ ...asked, query: "x" }),
      supplement.get({ ...asked, lookup: "helmdeck/user_facts/x.md" }),
      prepare({ ...asked, availableTools: new Set(["memory_search"]) }),
      audit(event, context),
      tool(0).execute("1", { key: "a", value: "b" }),
      tool(1).execute("1", { scope: "all" }),
      tool(2).execute("1", { key: "a" }),
      tool(3).execute("1", { key: "a" }),
      command(0).handler({ ...context, args: "search x" }),
      command(0).handler({ ...context, args: "" }),
      command(1).handler({ ...context, args: "x = y" }),
      command(2).handler({ ...context, args: "x" }),
      command(3).handler({ ...context, args: "all --yes" }),
      command(4).handler({ ...context, args: "x" }),
      command(5).handler({ ...context, args: "x" }),
      command(6).handler({ ...context, args: "" }),
      command(6).handler({ ...context, args: "x" }),
    ]);
  }

  test("is closed to a group, its sub-agents, a hook, another agent's session and a caller without identity", async () => {
    const strangers = [
      GROUP_CONTEXT,
      { agentId: "main", sessionKey: "agent:main:hook:1" },
      { agentId: "main", sessionKey: "agent:main:subagent:of-group" },
      { agentId: "main", sessionKey: "agent:main:subagent:of-nobody" },
      { agentId: "main", sessionKey: "agent:main:cron:1:run:2" },
      { agentId: "other", sessionKey: "agent:main:main" },
      {},
    ];
    for (const context of strangers) {
      const memory = fakeMemory();
      await callEverything(context, memory);
      expect(memory.calls).toEqual([]);
    }
  });

  test.each([
    ["the agent itself", MAIN_CONTEXT],
    ["its sub-agent", { agentId: "main", sessionKey: "agent:main:subagent:of-main" }],
  ])("is open to %s, and accesses only the agent's memory", async (_, context) => {
    const memory = fakeMemory();
    await callEverything(context, memory);
    expect(memory.calls.map(({ method }) => method).sort()).toEqual(
      [
        "factHistory",
        ...["forget", "forget"],
        ...["listFacts", "listFacts"],
        // If a person can be asked, what is to be forgotten or pinned is looked up first.
        ...(context === MAIN_CONTEXT ? ["forget", "getFact"] : []),
        "myMemory",
        ...["pinFact", "pinFact", "pinFact"],
        "readDocument",
        "recordPackRun",
        ...["search", "search", "search"],
        "status",
        ...["storeFact", "storeFact"],
        "undoFact",
      ].sort(),
    );
    expect(new Set(memory.calls.map(({ args }) => args[0]))).toEqual(new Set(["main"]));
  });

  test("is listed here: a new registration needs a case", () => {
    const { api, registered } = recordingApi({});
    register(api, startCounting(fakeMemory()).start);
    expect(Object.keys(registered).sort()).toEqual([
      "on", // routing only reads its argument; audit is called above
      "registerCli", // the operator's own shell
      "registerCommand",
      "registerControlUiDescriptor", // only describes the position of the pages in the sidebar
      "registerGatewayMethod", // requires the scope operator.read
      "registerHttpRoute", // for operators: the gateway requires its token, or the cookie of the tab's frame
      "registerMemoryCorpusSupplement",
      "registerMemoryPromptPreparation",
      "registerService", // has no caller
      "registerTool",
    ]);
    expect(registered.registerGatewayMethod).toMatchObject([
      ["helmdeck.status", {}, { scope: "operator.read" }],
    ]);
    expect(registered.registerHttpRoute).toMatchObject([
      [{ path: "/plugins/helmdeck-memory", auth: "gateway", match: "prefix" }],
    ]);
    expect(registered.registerControlUiDescriptor).toMatchObject([
      [{ surface: "tab", path: "/plugins/helmdeck-memory", requiredScopes: ["operator.read"] }],
    ]);
  });
});

describe("configuration", () => {
  test("prompt hints and audit can be disabled", () => {
    const { api, registered } = recordingApi({ promptHints: false, auditServers: [] });
    register(api, startCounting(fakeMemory()).start);
    expect(registered).not.toHaveProperty("registerMemoryPromptPreparation");
    expect(registered.on?.map(([name]) => name)).toEqual(["before_tool_call", "before_tool_call"]);
    const all = recordingApi({ auditServers: [], auditTools: "all" });
    register(all.api, startCounting(fakeMemory()).start);
    expect(all.registered.on?.map(([name]) => name)).toContain("after_tool_call");
  });

  test("records no runs if a running helmdeck records them", () => {
    const source = { kind: "helmdeck", url: "http://127.0.0.1:3000" };
    const { api, registered } = recordingApi({ source, auditTools: "all" });
    register(api, startCounting(fakeMemory()).start);
    expect(registered.on?.map(([name]) => name)).not.toContain("after_tool_call");
  });
});

describe("the tab with the pages", () => {
  test.each([false, "yes", null])("is absent if pages is %j", (pages) => {
    const { api, registered } = recordingApi({ pages });
    register(api, startCounting(fakeMemory()).start);
    expect(registered).not.toHaveProperty("registerHttpRoute");
    expect(registered).not.toHaveProperty("registerControlUiDescriptor");
  });

  test("is absent on a host without tabs, where everything else is registered", () => {
    const { api, registered } = recordingApi({});
    register(Object.assign(Object.create(api), { session: undefined }), startCounting(fakeMemory()).start);
    expect(registered).not.toHaveProperty("registerHttpRoute");
    expect(registered.registerCli).toHaveLength(1);
  });
});

test("`openclaw helmdeck status` does not make the host load its whole runtime", async () => {
  vi.doMock("../../plugin/openclaw-commands.ts", () => ({
    runHelmdeck: async (_: unknown, { hostWarnings }: CliParts) => hostWarnings().length,
  }));
  const { api, registered } = recordingApi({});
  const asked = new Set<PropertyKey>();
  const seen: ProxyHandler<HostApi["runtime"]> = {
    get: (runtime, name) => asked.add(name) && Reflect.get(runtime, name),
  };
  const runtime = new Proxy(api.runtime, seen);
  register(Object.assign(Object.create(api), { runtime }), startCounting(fakeMemory()).start);
  const [[declare]] = registered.registerCli as [[(context: object) => void]];
  const program = new Command().enablePositionalOptions();
  declare({ program });
  await program.parseAsync(["helmdeck", "status"], { from: "user" });
  expect(asked.has("agent")).toBe(false);
});

test("the gateway's status shows the failure but no secret", async () => {
  const { api, registered } = recordingApi({});
  register(api, () => Promise.reject(new Error("s3cr3t")));
  const [[, method]] = registered.registerGatewayMethod as [[string, (options: object) => Promise<void>]];
  const replies: unknown[] = [];
  await method({ params: {}, respond: (...reply: unknown[]) => void replies.push(reply) });
  expect(replies).toMatchObject([[true, { state: "failed", error: { code: "internal" } }]]);
  expect(JSON.stringify(replies)).not.toContain("s3cr3t");
});
