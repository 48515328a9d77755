/** MCP clients by other authors: the official inspector's command line and mcporter, over HTTP and over standard streams. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findStorage } from "../../app/storage-location.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { openServerContext } from "../../packs/server-context.ts";
import { createServer } from "../../server/create-server.ts";
import { mcpMount } from "../../server/mcp/mcp-over-http.ts";
import { mintToken } from "../../server/tokens.ts";
import { BUNDLED_COMMAND } from "../cli/command.ts";
import { type ClientRun, runClient, tempHome } from "./fixtures/clients.ts";
import { atPlace, configBlock } from "./fixtures/howto.ts";

const SECRET = Buffer.from("0123456789abcdef0123456789abcdef");
const MEMORY_TOOLS = ["search", "get", "store", "list", "forget", "history", "corpus"].map(
  (name) => `helmdeck__memory_${name}`,
);
const TEA = { key: "ada/tea", value: "Oolong in the morning, nothing after four." };

interface Reached {
  readonly subject: string;
  readonly home: string;
  /** How each client gets the address of the server. */
  readonly inspector: readonly string[];
  readonly mcporter: readonly string[];
}

describe.each([
  ["standard streams", () => overStdio()],
  ["standard streams, with packs", () => overStdio("--packs")],
  ["HTTP with a token", overHttp],
])("over %s", (_, reach) => {
  test("the inspector accepts the tools, stores and reads, and gets the reason of a refusal", async () => {
    const { home, inspector, subject } = await reach();
    const ask = (...args: readonly string[]) =>
      runClient(home, "mcp-inspector", ["--cli", ...inspector, "--format", "json", "--quiet", ...args]);
    const call = (name: string, input: object) =>
      ask("--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(input));

    // `--strict` ends with 6 if some clients cannot use a schema.
    const listed = await ask("--method", "tools/list", "--strict");
    expect(listed).toMatchObject({ code: 0 });
    const { tools } = resultOf(listed);
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(MEMORY_TOOLS));

    const stored = resultOf(await call("helmdeck__memory_store", TEA));
    expect(JSON.parse(stored.content[0].text)).toMatchObject({ key: TEA.key, category: "user_facts" });
    const { prompts } = resultOf(await ask("--method", "prompts/list"));
    expect(prompts.map(({ name }: { name: string }) => name)).toEqual([
      "remember_conversation",
      "what_you_know",
    ]);
    const read = resultOf(await ask("--method", "resources/read", "--uri", "helmdeck://my-memory"));
    expect(JSON.parse(read.contents[0].text)).toMatchObject({
      scope: `caller=${subject}`,
      categories: [{ name: "user_facts", count: 1, recent_keys: [TEA.key] }],
    });
    const refused = await call("helmdeck__memory_store", { key: "k", value: "v", ttl_seconds: 60 });
    expect(refused.stdout + refused.stderr).toMatch(/invalid_input: .*ttl/);
  });

  test("mcporter lists, stores and finds", async () => {
    const { home, mcporter } = await reach();
    const ask = (command: string, ...args: readonly string[]) =>
      runClient(home, "mcporter", [command, ...mcporter, "--no-oauth", ...args]);
    const listed = await ask("list", "--json");
    expect(listed).toMatchObject({ code: 0 });
    const { tools } = JSON.parse(listed.stdout);
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(MEMORY_TOOLS));
    const call = (tool: string, input: object) =>
      ask("call", "--output", "json", tool, "--args", JSON.stringify(input));
    expect(await call("helmdeck__memory_store", TEA)).toMatchObject({ code: 0 });
    const found = await call("helmdeck__memory_corpus", { query: "how does Ada take her tea" });
    expect(JSON.parse(found.stdout).chunks).toMatchObject([{ docid: `user_facts/${TEA.key}` }]);
  });
});

describe("the shipped configuration for", () => {
  test.each([
    ["Claude Code", "claude-code.md", ".mcp.json"],
    ["Gemini CLI", "coding-agents.md", "settings.json"],
    ["Claude Desktop", "claude-desktop.md", "claude_desktop_config.json"],
  ])("%s starts a server that lists its tools", async (_, howto, block) => {
    const home = await tempHome();
    const { mcpServers } = (await configBlock(howto, block)) as { mcpServers: { helmdeck: unknown } };
    const config = { mcpServers: { helmdeck: atPlace(mcpServers.helmdeck, BUNDLED_COMMAND) } };
    const path = join(home, "mcp.json");
    await writeFile(path, JSON.stringify(config));
    const listed = await runClient(home, "mcporter", ["--config", path, "list", "helmdeck", "--json"]);
    expect(listed).toMatchObject({ code: 0 });
    expect(listed.stdout).toContain("helmdeck__memory_store");
  });
});

async function overStdio(...options: readonly string[]): Promise<Reached> {
  const home = await tempHome();
  const command = [process.execPath, BUNDLED_COMMAND, "mcp", ...options];
  const args = command.slice(1).flatMap((arg) => ["--stdio-arg", arg]);
  return { subject: "main", home, inspector: command, mcporter: ["--stdio", process.execPath, ...args] };
}

async function overHttp(): Promise<Reached> {
  const home = await tempHome();
  const place = findStorage({ env: {}, homeDir: home });
  const serverContext = await openServerContext({
    ...place,
    env: {},
    driver: betterSqliteDriver,
    withoutKey: "make",
  });
  onTestFinished(() => serverContext.close());
  const server = createServer(serverContext, { secret: SECRET, mounts: [mcpMount(serverContext)] });
  const listening = await server.listen({ port: 0, graceMs: 1_000 });
  onTestFinished(() => listening.close());
  const { token } = await mintToken(SECRET, { subject: "ada", ttlSeconds: 3_600 }, Date.now());
  const url = `${listening.url}/api/v1/mcp`;
  return {
    subject: "ada",
    home,
    inspector: [url, "--transport", "http", "--header", `Authorization: Bearer ${token}`],
    mcporter: ["--http-url", url, "--allow-http", "--header", `Authorization=Bearer ${token}`],
  };
}

function resultOf(run: ClientRun) {
  expect(run.stdout, run.stderr).toMatch(/^\{/);
  return JSON.parse(run.stdout).result;
}
