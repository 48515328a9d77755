/** The shipped pipelines are available in the bundle, which has no folder for them, and when the program runs from its sources. */
import { afterEach, expect, test } from "vitest";
import { BUNDLED_COMMAND, COMMAND_FROM_SOURCE, CommandHome } from "./command.ts";

const homes: CommandHome[] = [];
afterEach(() => {
  for (const home of homes.splice(0)) home.remove();
});

const ASK = [
  {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "pipe", version: "1" } },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
  { jsonrpc: "2.0", id: 2, method: "tools/list" },
];

test.each([
  ["bundled", BUNDLED_COMMAND],
  ["from its sources", COMMAND_FROM_SOURCE],
])("%s, the program serves the pipelines that ship", async (_, entry) => {
  const home = new CommandHome(entry);
  homes.push(home);
  const input = ASK.map((message) => `${JSON.stringify(message)}\n`).join("");
  const { code, stdout } = await home.run(["mcp", "--packs"], { input });
  expect(code).toBe(0);
  const answers = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const { tools } = answers.find(({ id }) => id === 2).result;
  expect(tools).toContainEqual(
    expect.objectContaining({
      name: "pipeline__github__open-issues",
      inputSchema: expect.objectContaining({ required: ["owner", "repo"] }),
    }),
  );
});
