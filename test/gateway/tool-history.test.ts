/** If the operator turned on records of all tools, `memory_search` finds them after an agent's turn. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentTurn, hitsOf, patchConfig, sharedOpenClaw } from "./shared.ts";
import { scriptFor } from "./stand-in-model.ts";

const openclaw = await sharedOpenClaw();
const BODY = "BODY-OF-THE-FILE-4471";

beforeAll(() => configure({ auditTools: "all", auditDeny: ["read"] }));
afterAll(() => configure({ auditTools: null, auditDeny: null }));

// verifies P-audit-tools
describe("calls of tools that are not helmdeck's", () => {
  it("are found by time and by keywords, except calls of a denied tool or in a group", async () => {
    expect(await turn("agent:main:telegram:group:-100888", "group-sketch.md")).toContain(BODY);
    expect(await turn("agent:main:explicit:sketch", "own-sketch.md")).toContain(BODY);
    await expect.poll(() => calls("what did you do today?")).toMatch(/own-sketch\.md/);
    const call = await calls("which tool did you use for own-sketch.md?");
    expect(call).toMatch(
      /^tool call "tool_history\/write\/\d{20}" in tool_history, stored .* by agent main/m,
    );
    expect(call).toMatch(/^> Outcome: ok$/m);
    const all = [call, await calls("what did you do today?"), await calls("group-sketch read")].join("\n");
    expect(all).not.toMatch(/group-sketch|tool_history\/(?:read|memory_|tool_|helmdeck)/);
    expect(all).not.toContain(BODY);
  });
});

/** The agent writes a file and reads it, which shows that both tools ran. */
async function turn(sessionKey: string, path: string): Promise<string> {
  const message = scriptFor(`Sketch ${path}.`, [
    { tool: "write", args: { path, content: BODY } },
    { tool: "read", args: { path } },
  ]);
  return (await agentTurn(openclaw, { sessionKey, message })).text;
}

/** The records of tool calls among the hits. */
async function calls(query: string): Promise<string> {
  const reply = await openclaw.invokeTool("memory_search", { query, maxResults: 20, corpus: "wiki" });
  const hits = hitsOf(reply).filter(({ path }) => path.includes("/tool_history/"));
  return hits.map(({ snippet }) => snippet).join("\n");
}

function configure(config: Parameters<typeof patchConfig>[1]): Promise<void> {
  const replacePaths = ["plugins.entries.helmdeck-memory.config.auditDeny"];
  return patchConfig(openclaw, { plugins: { entries: { "helmdeck-memory": { config } } } }, replacePaths);
}
