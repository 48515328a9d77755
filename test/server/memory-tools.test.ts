/** The MCP tool list in every mode: small, with titles, with widely accepted schemas, and without repeated text. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createMcpServer } from "../../server/mcp/mcp-server.ts";
import { makeMcpService } from "../../server/mcp/mcp-service.ts";
import { WholeServer } from "./fixtures/whole-server.ts";

/** The list is part of the context of every conversation. */
const MOST_BYTES = 7_000;
const NAMES = ["search", "get", "store", "list", "forget", "history", "undo", "renew", "pin", "corpus"].map(
  (name) => `helmdeck__memory_${name}`,
);
const CLAUDE_PLUGIN_PREFIX = "mcp__plugin_helmdeck-memory_helmdeck__";
const MARK = "quagga";
const AT = "2026-11-18T11:06:40Z";
const CALLER = { subject: "ada", authenticated: true, scopes: [] };

let whole: WholeServer;
beforeAll(async () => {
  whole = await WholeServer.open();
  const { memory } = whole.serverContext;
  await memory.storeFact("ada", { key: "animals/best", value: "The zebra." });
  await memory.storeFact("ada", { key: "animals/best", value: `The ${MARK}.` });
  await memory.storeFact("ada", { key: "animals/best", value: "The okapi." });
  await memory.storeFact("ada", { key: "animals/second", value: `After that the ${MARK}, says Ada.` });
  await memory.recordPackRun("ada", { pack: "zoo.feed", outcome: "ok", at_unix: Date.parse(AT) / 1_000 });
});
afterAll(async () => {
  await whole.close();
  expect(whole.defects).toEqual([]);
});

async function connect(memoryOnly: boolean): Promise<Client> {
  const service = makeMcpService(whole.serverContext, { memoryOnly });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "test", version: "1.0.0" });
  await Promise.all([createMcpServer(service, CALLER).connect(ours), client.connect(theirs)]);
  onTestFinished(async () => {
    await client.close();
    service.watch.close();
  });
  return client;
}

function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> {
  return client.callTool({ name, arguments: args }) as Promise<CallToolResult>; // no task was requested
}

function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}

describe("a server without packs", () => {
  test("lists the memory tools in at most 7 KB", async () => {
    const result = await (await connect(true)).listTools();
    const sent = JSON.stringify({ jsonrpc: "2.0", id: 100, result });
    expect(result.tools.map(({ name }) => name)).toEqual(NAMES);
    expect(Buffer.byteLength(sent)).toBeLessThanOrEqual(MOST_BYTES);
    expect(sent).not.toContain("outputSchema");
  });

  test("hints which tools only read and which delete, so that clients ask a person about these alone", async () => {
    const { tools } = await (await connect(true)).listTools();
    const kinds = tools.map(({ name, annotations = {} }) => {
      // As Codex reads them.
      const { readOnlyHint = false, destructiveHint = true, openWorldHint = true } = annotations;
      const asks = !readOnlyHint && (destructiveHint || openWorldHint);
      return [name.replace("helmdeck__memory_", ""), readOnlyHint ? "reads" : asks ? "asks" : "adds"];
    });
    expect(Object.fromEntries(kinds)).toEqual({
      ...{ search: "reads", get: "reads", list: "reads", history: "reads", corpus: "reads" },
      ...{ store: "adds", renew: "adds", pin: "adds", forget: "asks", undo: "asks" },
    });
  });

  test("lists at least its own tools if it lists everything", async () => {
    const { tools } = await (await connect(false)).listTools();
    const others = ["github__list_issues", "swe__solve", "pipeline__github__o_7140a0"];
    const names = tools.map(({ name }) => name);
    expect(names.sort()).toEqual([...NAMES, ...others].sort());
    expect(names.map((name) => CLAUDE_PLUGIN_PREFIX + name).filter(({ length }) => length > 64)).toEqual([]);
  });

  test("has no packs and no pipelines", async () => {
    const client = await connect(true);
    for (const name of ["github__list_issues", "swe__solve", "swe.solve", "pipeline__github__open-issues"])
      await expect(call(client, name)).rejects.toMatchObject({ code: -32_602 });
  });
});

describe.each([
  ["memory alone", true],
  ["everything", false],
])("if %s is listed", (_, memoryOnly) => {
  test("helmdeck's tool names can still be called", async () => {
    const client = await connect(memoryOnly);
    for (const [at, dot] of ["helmdeck__", "helmdeck."].entries()) {
      const key = `called/${at}`;
      expect((await call(client, `${dot}memory_store`, { key, value: "v" })).isError).toBeUndefined();
      expect(textOf(await call(client, `${dot}memory_corpus`, { limit: 1 }))).toContain(key);
      expect(textOf(await call(client, `${dot}memory_renew`, { key }))).toContain(key);
      await call(client, `${dot}memory_store`, { key, value: "w" });
      expect(textOf(await call(client, `${dot}memory_undo`, { key }))).toMatch(
        /"undone":.*"value": ?"w".*"restored":.*"value": ?"v"/s,
      );
      expect(textOf(await call(client, `${dot}memory_undo`, { key }))).toMatch(
        /^not_found: .*nothing to undo/,
      );
      expect(textOf(await call(client, `${dot}memory_forget`, { scope: key }))).toMatch(/"deleted": ?1\b/);
    }
  });

  test("every tool has a title, and no schema contains a list of types", async () => {
    const { tools } = await (await connect(memoryOnly)).listTools();
    for (const tool of tools) {
      expect([tool.name, tool.title]).toEqual([tool.name, expect.stringMatching(/\S/)]);
      expect([tool.name, listsOfTypes(tool)]).toEqual([tool.name, 0]);
    }
  });

  test.each([
    ["list", { prefix: null, category: null, expiring: null, limit: "1", cursor: null }, /"facts"/],
    ["list", { expiring: "true", prefix: true, _reason: "to see" }, /"facts": ?\[\]/],
    ["search", { query: 2_026, limit: "5", chatInput: "x" }, /"results"/],
    ["get", { key: "animals/second", toolCallId: 1 }, /After that/],
    ["get", { path: "helmdeck/user_facts/animals/second.md" }, /After that/],
    ["get", { key: null, path: "animals/second" }, /After that/],
    ["get", { path: null }, /^invalid_input: .*key/],
    ["store", { key: 7, value: true, tags: '["a", "b"]', ttl_seconds: "7200" }, /"key": ?"7"/],
    ["get", { key: 7 }, /"value": ?"true",.*"tags": ?\["a", ?"b"\]|"tags": \[\s+"a",\s+"b"\s+\]/s],
    ["store", { key: "7", value: "w", tags: "c d" }, /"key": ?"7"/],
    ["forget", { scope: 7, dry_run: "true" }, /"deleted": ?1,\s*"dry_run": ?true/],
    ["pin", { key: 7, pinned: "false" }, /"key": ?"7"/],
    ["forget", { scope: 7, dry_run: "false" }, /"deleted": ?1,\s*"dry_run": ?false/],
    ["forget", { scope: '["all"]' }, /"deleted": ?0/],
    ["forget", { scope: ["all"] }, /^invalid_input: .*scope: must be of type string/],
    ["forget", { scope: "all", dry_run: "no" }, /^invalid_input: .*dry_run/],
    ["forget", { scope: "all", dryRun: true }, /^invalid_input: .*dryRun: is not a known field/],
    ["store", { key: "x", value: "y", tags: "a, b" }, /^invalid_input: .*tags/],
    ["store", { key: "x", value: null }, /^invalid_input: .*value/],
    ["list", { limit: "5 facts" }, /^invalid_input: .*limit/],
  ])("memory_%s %j answers %s", async (name, args, answer) => {
    const client = await connect(memoryOnly);
    expect(textOf(await call(client, `helmdeck__memory_${name}`, args))).toMatch(answer);
  });

  const most = memoryOnly ? 1 : 2;
  test.each([
    ["search", { query: `what does Ada say of the ${MARK}` }],
    ["get", { key: "animals/second" }],
    ["list", { prefix: "animals/second" }],
    ["corpus", { query: `what does Ada say of the ${MARK}`, limit: 1 }],
    ["history", { key: "animals/best" }],
  ])(`memory_%s sends a text ${most === 1 ? "once" : "as text and as data"}`, async (name, args) => {
    const sent = JSON.stringify(await call(await connect(memoryOnly), `helmdeck__memory_${name}`, args));
    expect(countOf(sent, `the ${MARK}`) + countOf(sent, `The ${MARK}`)).toBe(most);
  });

  test("OpenClaw shows each answer only once", async () => {
    const { content, structuredContent } = await call(await connect(memoryOnly), "helmdeck__memory_list");
    // OpenClaw leaves the text out if it is the same data in this format.
    const asOpenClawWrites = JSON.stringify(structuredContent, null, 2);
    const shown = [
      structuredContent,
      ...content.filter((part) => part.type !== "text" || part.text !== asOpenClawWrites),
    ];
    expect(shown.filter((part) => part !== undefined)).toHaveLength(1);
  });

  test("memory_get reads each hit by the path that it shows, a record of a run too", async () => {
    const client = await connect(memoryOnly);
    const read = async (query: string) => {
      const hits = JSON.parse(textOf(await call(client, "helmdeck__memory_search", { query, limit: 1 })));
      const [{ path: key }] = hits.results;
      return JSON.parse(textOf(await call(client, "helmdeck__memory_get", { key })));
    };
    expect(await read("animals second")).toMatchObject({ key: "animals/second", tags: [] });
    const record = { kind: "pack", value: expect.stringContaining(`zoo.feed\n\nOutcome: ok\nAt: ${AT}`) };
    expect(await read("zoo feed")).toMatchObject(record);
  });

  test("a refusal states the reason and the remedy", async () => {
    const refused = await call(await connect(memoryOnly), "helmdeck__memory_get", { key: "animals/none" });
    expect(refused).toMatchObject({ isError: true });
    expect(textOf(refused)).toMatch(/^not_found: There is no fact with that key\. List the facts/);
  });

  test("prompts name only listed tools, and an unknown prompt is refused", async () => {
    const client = await connect(memoryOnly);
    const listed = new Set((await client.listTools()).tools.map(({ name }) => name));
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ title }) => title)).toEqual([
      "Remember this conversation",
      "What do you know about me?",
    ]);
    for (const { name } of prompts) {
      const text = JSON.stringify((await client.getPrompt({ name })).messages);
      const named = text.match(/helmdeck__\w+/g) ?? [];
      expect(named.length).toBeGreaterThan(0);
      expect(named.filter((tool) => !listed.has(tool))).toEqual([]);
    }
    await expect(client.getPrompt({ name: "none" })).rejects.toMatchObject({ code: -32_602 });
  });
});

function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/** Counts lists in a member "type", at any depth. */
function listsOfTypes(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [name, member]) => sum + (name === "type" && Array.isArray(member) ? 1 : listsOfTypes(member)),
    0,
  );
}
