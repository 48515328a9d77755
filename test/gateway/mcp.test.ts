/** OpenClaw's own memory_search finds facts that MCP clients store: Claude Code, and OpenClaw itself as a client. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { DIST, ROOT } from "../../scripts/build/build.ts";
import { atPlace, configBlock } from "../server/fixtures/howto.ts";
import { agentTurn, hitsOf, sharedOpenClaw } from "./shared.ts";
import { scriptFor } from "./stand-in-model.ts";

const openclaw = await sharedOpenClaw();
const MCPORTER = join(ROOT, "node_modules", ".bin", "mcporter");

it("a fact stored with the shipped configuration for Claude Code is found by the plugin", async () => {
  const fact = {
    key: "crates/returns",
    value: "Empty apple crates go back to the co-operative on Thursdays.",
  };
  const { mcpServers } = (await configBlock("claude-code.md", ".mcp.json")) as {
    mcpServers: { helmdeck: unknown };
  };
  const config = join(openclaw.home.root, "claude-code.mcp.json");
  const helmdeck = atPlace(mcpServers.helmdeck, join(DIST, "helmdeck-memory.mjs"));
  await writeFile(config, JSON.stringify({ mcpServers: { helmdeck } }));
  const call = ["call", "helmdeck.helmdeck__memory_store", "--args", JSON.stringify(fact)];
  const stored = await openclaw.run(process.execPath, [MCPORTER, "--config", config, ...call]);
  expect(stored).toMatchObject({ code: 0 });
  expect(await found("when do the empty crates go back")).toContain(fact.value);
});

it("a fact that OpenClaw's own agent stores over MCP is found by the plugin", async () => {
  const fact = {
    key: "beehive/entrance",
    value: "The beehive's entrance faces the orchard, away from the path.",
  };
  const turn = await agentTurn(openclaw, {
    sessionKey: "agent:main:explicit:bees",
    message: scriptFor("Please remember which way the beehive faces.", [
      { tool: "helmdeck-engine__helmdeck__memory_store", args: fact },
    ]),
  });
  expect(turn.text).toContain("beehive/entrance");
  expect(await found("which way does the beehive face")).toContain(fact.value);
});

async function found(query: string): Promise<string> {
  const hits = hitsOf(await openclaw.invokeTool("memory_search", { query }));
  return hits
    .filter(({ corpus }) => corpus === "helmdeck")
    .map(({ snippet }) => snippet)
    .join("\n");
}
