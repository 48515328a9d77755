/** MCP as a client sees it: tools, answers, refusals, progress and cancelling, with the SDK's own client in memory. */
import { existsSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { CallToolResult, Progress } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { HelmdeckError } from "../../engine/errors.ts";
import type { Pack } from "../../packs/engine/pack-contract.ts";
import { openLocalSessions } from "../../packs/local/local-sessions.ts";
import type { ServerContext } from "../../packs/server-context.ts";
import { memoryPack } from "../../packs/shipped/memory-packs.ts";
import { type McpServiceOptions, makeMcpService } from "../../server/mcp/mcp-service.ts";
import { openTestMemory } from "../app/fixtures/memories.ts";
import { mcpClientOf } from "./fixtures/mcp-client.ts";
import {
  packThat,
  SlowPack,
  SlowPipeline,
  type TestServerContextParts,
  testServerContext,
} from "./fixtures/mcp-context.ts";

async function connect(
  serverContext: ServerContext,
  subject = "ada",
  options: McpServiceOptions = {},
): Promise<Client> {
  const client = await mcpClientOf(makeMcpService(serverContext, options), subject);
  onTestFinished(() => client.close());
  return client;
}

async function contextWith(...packs: readonly Pack[]): Promise<ServerContext> {
  return testServerContext({ memory: await openTestMemory(), packs });
}

async function connectTo(parts: Partial<TestServerContextParts>): Promise<Client> {
  return connect(testServerContext({ memory: await openTestMemory(), ...parts }));
}

function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> {
  return client.callTool({ name, arguments: args }) as Promise<CallToolResult>; // no task was requested
}

function textIn({ content }: CallToolResult): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

describe("tools", () => {
  test("include every pack and pipeline, with schemas and hints, under names without dots", async () => {
    const memory = await openTestMemory();
    const packs = [memoryPack("store", memory), new SlowPack()];
    const client = await connectTo({ memory, packs, pipelines: new SlowPipeline() });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "helmdeck__memory_store",
      "paint__slow_wall",
      "pipeline__house",
    ]);
    expect(tools[0]).toMatchObject({
      description: expect.stringContaining("Remember one fact"),
      inputSchema: { type: "object", required: ["key", "value"], additionalProperties: false },
      outputSchema: { type: "object", required: expect.arrayContaining(["key", "expires_at"]) },
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
    });
    expect(tools[1]?.annotations).toEqual({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    });
    expect(tools[2]?.inputSchema).toMatchObject({
      required: ["theme"],
      properties: { coats: { default: 2 } },
    });
  });

  test("answer with the output as data and the same as text", async () => {
    const memory = await openTestMemory();
    const client = await connectTo({ memory, packs: [memoryPack("store", memory)] });
    const result = await call(client, "helmdeck__memory_store", { key: "tea", value: "oolong" });
    expect(result.structuredContent).toMatchObject({ key: "tea", category: "user_facts" });
    expect(JSON.parse(textIn(result))).toEqual(result.structuredContent);
    expect(result._meta).toMatchObject({ "helmdeck/run": { pack: "helmdeck.memory_store", cached: false } });
    expect((await memory.getFact("ada", { key: "tea" }))?.value).toBe("oolong");
  });

  test.each([
    ["a pack would be a pipeline's tool", ["pipeline.house"], /would both be the MCP tool "pipeline__house"/],
  ])("are refused at the start if %s", async (_, names, message) => {
    const packs = names.map((name) => packThat(name, async () => ({})));
    const serverContext = testServerContext({
      memory: await openTestMemory(),
      packs,
      pipelines: new SlowPipeline(),
    });
    expect(() => makeMcpService(serverContext)).toThrow(message);
  });

  test("refuse with a code, a message and a remedy in a result that a model can read", async () => {
    const refuse = async () => {
      throw new HelmdeckError("rate_limited", "GitHub allows no more requests until 14:00.\u001b[2J");
    };
    const client = await connect(await contextWith(packThat("github.list_issues", refuse)));
    const result = await call(client, "github__list_issues");
    expect(result.isError).toBe(true);
    expect(textIn(result)).toMatch(
      /^rate_limited: GitHub allows no more requests until 14:00\..*Wait, then try again\.$/,
    );
    expect(textIn(result)).not.toContain("\u001b");
    expect(result._meta).toMatchObject({ "helmdeck/error": { error: "rate_limited" } });
  });

  test("hide the text of an unexpected error, but report it", async () => {
    const broken = new TypeError("cannot read SECRET-VALUE-4711");
    const defects: unknown[] = [];
    const fail = () => Promise.reject(broken);
    const client = await connect(await contextWith(packThat("odd.pack", fail)), "ada", {
      onFailure: (error) => defects.push(error),
    });
    const result = await call(client, "odd__pack");
    expect(textIn(result)).toMatch(/^internal: /);
    expect(JSON.stringify(result)).not.toContain("4711");
    expect(defects).toMatchObject([{ code: "internal", cause: broken }]);
  });

  test.each([
    ["rm__-rf", 'Unknown tool "rm__-rf". See tools/list for the names.'],
    [`a\n\u001b[2J${"b".repeat(500)}`, `Unknown tool "a [U+001B][2J${"b".repeat(74)}". See`],
  ])("that do not exist give a protocol error that names %j", async (name, message) => {
    const client = await connect(await contextWith());
    await expect(call(client, name)).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining(message),
    });
  });

  test("with long names are listed under shorter ones, which do not depend on other tools, and take both", async () => {
    const long = [`a.${"b".repeat(62)}`, "team.report_of_the_week.may", "team.report_of_the_year.may"];
    const packs = long.map((name) => packThat(name, async () => ({ name })));
    const client = await connect(await contextWith(...packs));
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual([
      `a__${"b".repeat(16)}_f1b12c`,
      "team__report_of_the_2e141e",
      "team__report_of_the_ddedae",
    ]);
    for (const [at, dotted] of long.entries())
      for (const name of [names[at] ?? "", dotted, dotted.replaceAll(".", "__")])
        expect((await call(client, name)).structuredContent).toEqual({ name: dotted });
  });

  test("link a pack's artifacts, which only the caller can read, as text or bytes", async () => {
    const make: Pack["run"] = async ({ artifacts }) => {
      await artifacts.put({
        name: "notes.md",
        mediaType: "text/markdown",
        content: Buffer.from("# Für Ada"),
      });
      await artifacts.put({ name: "dot.png", mediaType: "image/png", content: new Uint8Array([137, 80]) });
      return {};
    };
    const serverContext = await contextWith(packThat("paint.draw", make));
    const [ada, bob] = await Promise.all([connect(serverContext), connect(serverContext, "bob")]);
    const links = (await call(ada, "paint__draw")).content.filter((part) => part.type === "resource_link");
    expect(links.map(({ name, mimeType, size }) => ({ name, mimeType, size }))).toEqual([
      { name: "notes.md", mimeType: "text/markdown", size: 10 },
      { name: "dot.png", mimeType: "image/png", size: 2 },
    ]);
    const [notes = "", dot = ""] = links.map(({ uri }) => uri);
    expect((await ada.readResource({ uri: notes })).contents).toMatchObject([{ text: "# Für Ada" }]);
    expect((await ada.readResource({ uri: dot })).contents).toMatchObject([{ blob: "iVA=" }]);
    await expect(bob.readResource({ uri: notes })).rejects.toMatchObject({ code: -32_002 });
    await expect(ada.readResource({ uri: `${notes}%` })).rejects.toMatchObject({ code: -32_002 });
  });

  test("of a pack that only reads are divided, if it says where", async () => {
    const issues = Array.from({ length: 40 }, (_, number) => ({ number, body: "🦓".repeat(1_000) }));
    const pack: Pack = {
      ...packThat("paint.list", async () => ({ issues })),
      output: z.object({ issues: z.array(z.object({ number: z.int(), body: z.string() })) }),
      effects: { readOnly: true },
      pages: { items: "issues", text: "body" },
    };
    const client = await connect(await contextWith(pack));
    expect((await client.listTools()).tools[0]?.inputSchema.properties).toHaveProperty("cursor");
    const read: unknown[] = [];
    for (let args = {}; ; ) {
      const page = Object((await call(client, "paint__list", args)).structuredContent);
      read.push(...page.issues);
      if (page.next_cursor === undefined) break;
      args = { cursor: page.next_cursor };
    }
    expect(read).toEqual(issues);
  });

  test.each([
    ["text/plain", Buffer.from(`${"\u0001".repeat(9_001)}${"字😀".repeat(9_000)}`)],
    ["image/png", Buffer.alloc(100_001, 7)],
  ])("give a long artifact (%s) in parts only, to whom asks for parts", async (mediaType, content) => {
    const make: Pack["run"] = async ({ artifacts }) => {
      await artifacts.put({ name: "long", mediaType, content });
      return {};
    };
    const ada = await connect(await contextWith(packThat("paint.draw", make)));
    const link = (await call(ada, "paint__draw")).content.find((part) => part.type === "resource_link");
    const uri = link?.uri ?? "";
    await expect(ada.readResource({ uri })).rejects.toThrow("too_large: The file is too long");
    const read: Buffer[] = [];
    for (let next: unknown = `${uri}?from=0`; typeof next === "string"; ) {
      const result = await ada.readResource({ uri: next });
      expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(60_000);
      const [part = { uri, text: "" }] = result.contents;
      read.push("text" in part ? Buffer.from(part.text) : Buffer.from(part.blob, "base64"));
      next = part._meta?.next;
    }
    expect(Buffer.concat(read).equals(content)).toBe(true);
  });
});

describe("a long run", () => {
  test("reports growing progress to a client that asked for it", async () => {
    const pack = new SlowPack();
    const client = await connect(await contextWith(pack));
    const seen: Progress[] = [];
    const halfway = Promise.withResolvers<void>();
    const running = client.callTool({ name: "paint__slow_wall", arguments: { theme: "blue" } }, undefined, {
      onprogress: (progress) => {
        seen.push(progress);
        if (progress.progress === 0.5) halfway.resolve();
      },
    });
    await halfway.promise;
    pack.letGo();
    expect(await running).toMatchObject({ structuredContent: { theme: "blue" } });
    expect(seen).toEqual([
      { progress: 0.25, total: 1, message: "primer" },
      { progress: 0.5, total: 1, message: "first coat" },
    ]);
  });

  test("reports none to a client that did not ask", async () => {
    const pack = new SlowPack();
    const client = await connect(await contextWith(pack));
    const strays: unknown[] = [];
    client.fallbackNotificationHandler = async (notification) => void strays.push(notification);
    client.onerror = (error) => strays.push(error);
    const running = call(client, "paint__slow_wall", { theme: "blue" });
    await pack.begun;
    pack.letGo();
    await running;
    expect(strays).toEqual([]);
  });

  test.each<[string, (client: Client, cancelling: AbortController) => unknown]>([
    ["cancels", (_, cancelling) => cancelling.abort()],
    ["disconnects", (client) => client.close()],
  ])("is aborted when the client %s, and leaves its audit row (fault 10)", async (_, leave) => {
    const pack = new SlowPack();
    const serverContext = await contextWith(pack);
    const client = await connect(serverContext);
    const cancelling = new AbortController();
    const { signal } = cancelling;
    const params = { name: "paint__slow_wall", arguments: { theme: "blue" } };
    const running = client.callTool(params, undefined, { signal });
    await pack.begun;
    await leave(client, cancelling);
    await expect(running).rejects.toThrow();
    await expect
      .poll(async () => (await serverContext.memory.defaults("ada")).recent)
      .toMatchObject([{ id: "paint.slow_wall", outcome: "cancelled" }]);
  });
});

describe("a pack's session", () => {
  async function connectAll() {
    const root = await mkdtemp(join(tmpdir(), "helmdeck-mcp-sessions-"));
    const sessions = await openLocalSessions({ root, keepMs: 60_000 });
    onTestFinished(async () => {
      await sessions.close();
      await rm(root, { recursive: true });
    });
    const look: Pack["run"] = async ({ session }) => {
      const path = join(session?.folder ?? "", "been-here");
      const wasHere = existsSync(path);
      writeFileSync(path, "");
      return { wasHere };
    };
    const pack: Pack = { ...packThat("desk.look", look), session: true };
    const serverContext = testServerContext({ memory: await openTestMemory(), packs: [pack], sessions });
    return Promise.all([connect(serverContext), connect(serverContext, "bob")]);
  }

  function look(client: Client, sessionId?: unknown): Promise<CallToolResult> {
    const _meta = sessionId === undefined ? {} : { "helmdeck/session_id": sessionId };
    return client.callTool({ name: "desk__look", arguments: {}, _meta }) as Promise<CallToolResult>;
  }

  test("can be continued with the id in the answer, only by its caller", async () => {
    const [ada, bob] = await connectAll();
    const first = await look(ada);
    const run = first._meta?.["helmdeck/run"] as { readonly session_id: string };
    expect([first.structuredContent, run.session_id]).toEqual([{ wasHere: false }, expect.any(String)]);
    expect(textIn(await look(bob, run.session_id))).toMatch(/^not_found: /);
    expect((await look(ada, run.session_id)).structuredContent).toEqual({ wasHere: true });
    expect((await look(ada)).structuredContent).toEqual({ wasHere: false });
  });

  test("requires a string as its id", async () => {
    const [ada] = await connectAll();
    expect(textIn(await look(ada, { id: 7 }))).toMatch(
      /^invalid_input: _meta\["helmdeck\/session_id"\] must be a string/,
    );
  });
});

describe("a pipeline", () => {
  test("has no session", async () => {
    const client = await connectTo({ pipelines: new SlowPipeline() });
    const _meta = { "helmdeck/session_id": "ses_1" };
    const params = { name: "pipeline__house", arguments: { theme: "blue" }, _meta };
    expect(textIn((await client.callTool(params)) as CallToolResult)).toMatch(/^invalid_input: /);
  });

  test("reports its progress to a client that asked for it", async () => {
    const pipelines = new SlowPipeline();
    const client = await connectTo({ pipelines });
    const told = Promise.withResolvers<Progress>();
    const params = { name: "pipeline__house", arguments: { theme: "blue" } };
    const running = client.callTool(params, undefined, { onprogress: told.resolve });
    expect(await told.promise).toEqual({ progress: 0.5, total: 1, message: "wall: first coat" });
    pipelines.letGo({});
    await running;
  });

  test("answers after its last step", async () => {
    const pipelines = new SlowPipeline();
    const client = await connectTo({ pipelines });
    const running = call(client, "pipeline__house", { theme: "blue" });
    await pipelines.begun;
    pipelines.letGo({ windows: 3 });
    expect(await running).toMatchObject({
      structuredContent: { run_id: "run_1", state: "succeeded", output: { windows: 3 } },
    });
  });

  test("is cancelled with the call", async () => {
    const pipelines = new SlowPipeline();
    const client = await connectTo({ pipelines });
    const cancelling = new AbortController();
    const params = { name: "pipeline__house", arguments: { theme: "blue" } };
    const running = client.callTool(params, undefined, { signal: cancelling.signal });
    await pipelines.begun;
    cancelling.abort();
    await expect(running).rejects.toThrow();
    expect(await pipelines.ended("ada", "run_1")).toMatchObject({ state: "cancelled" });
  });

  test("that fails gives an error result with the failed step's code and the whole run", async () => {
    const pipelines = new SlowPipeline();
    const client = await connectTo({ pipelines });
    const running = call(client, "pipeline__house", { theme: "blue" });
    await pipelines.begun;
    await pipelines.cancel("ada", "run_1");
    const result = await running;
    expect(result.isError).toBe(true);
    expect(textIn(result)).toMatch(/^cancelled: /);
    expect(textIn(result)).toContain('"run_id":"run_1"');
  });
});
