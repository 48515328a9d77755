/**
 * A complete agent turn in the real OpenClaw, with a stand-in for the language model: the agent stores and recalls a fact, and its calls
 * are recorded.
 */
import { describe, expect, it } from "vitest";
import { agentTurn, type Hit, hitsOf, promptOf, sharedOpenClaw } from "./shared.ts";
import { scriptFor } from "./stand-in-model.ts";

const openclaw = await sharedOpenClaw();
const PATH = "helmdeck/user_facts/ada/tea.md";
const FACT = "Ada drinks oolong in the morning and nothing after four.";

describe("an agent turn", () => {
  it("has the plugin's prompt lines, and stores a fact with the tool", async () => {
    const call = { tool: "helmdeck__memory_store", args: { key: "ada/tea", value: FACT } };
    const turn = await agentTurn(openclaw, {
      sessionKey: "agent:main:explicit:tea",
      message: scriptFor("Please remember how I take my tea.", [call]),
    });
    expect(turn.text).toMatch(/Remembered \\*"ada\/tea\\*"/);
    const prompt = await promptOf("Please remember how I take my tea.");
    expect(prompt).toContain("## Helmdeck memory");
    expect(prompt).toContain("helmdeck/my-memory.md");
    expect(prompt).toContain("helmdeck__memory_store");
    expect((await openclaw.invokeTool("memory_get", { path: PATH })).details.text).toContain(FACT);
  });

  it("finds the fact in a new conversation with a plain memory_search", async () => {
    const call = { tool: "memory_search", args: { query: "how does Ada take her tea" } };
    const turn = await agentTurn(openclaw, {
      sessionKey: "agent:main:explicit:weeks-later",
      message: scriptFor("How do I take my tea?", [call]),
    });
    expect(turn.text).toContain(FACT);
    expect(turn.text).toContain(PATH);
    expect(await promptOf("How do I take my tea?")).toMatch(/Stored so far, by category: .*user_facts/);
  });

  it("in a group has neither the plugin's prompt lines nor the fact", async () => {
    const call = { tool: "memory_search", args: { query: "how does Ada take her tea" } };
    const turn = await agentTurn(openclaw, {
      sessionKey: "agent:main:telegram:group:-100777",
      message: scriptFor("How does Ada take her tea, in the group?", [call]),
    });
    expect(turn.text).not.toContain("oolong");
    expect(await promptOf("in the group?")).not.toContain("Helmdeck memory");
  });
});

describe("a call of a helmdeck MCP tool", () => {
  it("becomes one audit row that memory_search finds, with only harmless inputs", async () => {
    const args = { title: "On lichens", persona: "botanist", body: "SECRET-BODY-7731" };
    const turn = await agentTurn(openclaw, {
      sessionKey: "agent:main:explicit:draft",
      message: scriptFor("Draft something about lichens.", [{ tool: "helmdeck__content-draft", args }]),
    });
    expect(turn.text).toContain("draft");
    const rows = await auditRows("content.draft persona botanist", "persona: botanist");
    expect(rows).toHaveLength(1);
    expect(rows[0]?.snippet).toMatch(
      /^pack call "pack_history\/content\.draft\/\d{20}" in pack_history, stored /,
    );
    expect(rows[0]?.snippet).toContain("Outcome: ok");
    expect(rows[0]?.snippet).not.toContain("SECRET-BODY-7731");
  });

  it("that fails is recorded with its error code", async () => {
    await agentTurn(openclaw, {
      sessionKey: "agent:main:explicit:fetch",
      message: scriptFor("Fetch it.", [
        { tool: "helmdeck__repo-fetch", args: { url: "https://example.org/x" } },
      ]),
    });
    const rows = await auditRows("repo.fetch session_unavailable", 'pack call "pack_history/repo.fetch/');
    expect(rows).toHaveLength(1);
    expect(rows[0]?.snippet).toContain("Outcome: session_unavailable");
    expect(rows[0]?.snippet).not.toContain("example.org");
  });

  /** The rows that contain the text, because other files' calls are in the same memory. The host does not wait until a row is written. */
  async function auditRows(query: string, text: string): Promise<readonly Hit[]> {
    let rows: readonly Hit[] = [];
    const search = async () => {
      const reply = await openclaw.invokeTool("memory_search", { query, maxResults: 20, corpus: "wiki" });
      rows = hitsOf(reply).filter((hit) => hit.snippet.includes(text));
      return rows;
    };
    await expect.poll(search).not.toEqual([]);
    return rows;
  }
});
