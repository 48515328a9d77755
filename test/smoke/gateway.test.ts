/** The main promise, in the real OpenClaw with the packed plugin: a fact stored in one conversation is found in the next. */
import { describe, expect, it } from "vitest";
import { agentTurn, pathsOf, promptOf, sharedOpenClaw } from "../gateway/shared.ts";
import { scriptFor } from "../gateway/stand-in-model.ts";

const openclaw = await sharedOpenClaw();
const PATH = "helmdeck/user_facts/deploy/preference.md";
const FACT = "We always deploy through Konflux, by merging to main.";
const QUERY = "what was that thing about my Konflux deployment preference";

// verifies P-recall-found
describe("a fact that the agent stored in a conversation", () => {
  it("is found in a new conversation by a plain memory_search", async () => {
    const store = { tool: "helmdeck__memory_store", args: { key: "deploy/preference", value: FACT } };
    const told = await agentTurn(openclaw, {
      sessionKey: "agent:main:explicit:telling",
      message: scriptFor("Please remember how we deploy.", [store]),
    });
    expect(told.text).toMatch(/Remembered \\*"deploy\/preference\\*"/);
    expect(await promptOf("Please remember how we deploy.")).toContain("## Helmdeck memory");

    const asked = await agentTurn(openclaw, {
      sessionKey: "agent:main:explicit:weeks-later",
      message: scriptFor("How do we deploy?", [{ tool: "memory_search", args: { query: QUERY } }]),
    });
    expect(asked.text).toContain(FACT);
    expect(asked.text).toContain(PATH);
  });

  it("is read in full by its path, beside OpenClaw's own notes", async () => {
    expect((await openclaw.invokeTool("memory_get", { path: PATH })).details.text).toContain(FACT);
    expect((await openclaw.invokeTool("memory_get", { path: "MEMORY.md" })).details.text).toContain("GitOps");
  });

  it.each([
    ["a group", { sessionKey: "agent:main:telegram:group:-100555" }],
    ["another agent", { agentId: "work" }],
  ])("is not found for %s", async (_who, caller) => {
    const found = await openclaw.invokeTool("memory_search", { query: QUERY, corpus: "all" }, caller);
    expect(pathsOf(found, "helmdeck")).toEqual([]);
    const read = await openclaw.invokeTool("memory_get", { path: PATH, corpus: "wiki" }, caller);
    expect(read.text).not.toContain(FACT);
  });

  it("is not found after it was forgotten", async () => {
    await openclaw.invokeTool("helmdeck__memory_forget", { scope: "key:deploy/preference" });
    expect(pathsOf(await openclaw.invokeTool("memory_search", { query: QUERY }), "helmdeck")).toEqual([]);
  });
});
