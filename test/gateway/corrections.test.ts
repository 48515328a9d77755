/** A correction in the real OpenClaw: a model is told of a similar fact and supersedes it, and only the new fact is found. */
import { describe, expect, it } from "vitest";
import { agentTurn, helmdeckMemory, sharedOpenClaw } from "./shared.ts";
import { scriptFor } from "./stand-in-model.ts";

const openclaw = await sharedOpenClaw();
const OLD = { key: "ferry/timetable", value: "The ferry to Brygge leaves at seven in the morning." };
const NEW = { key: "ferry/summer", value: "The ferry to Brygge leaves at nine in the morning." };
const QUESTION = "when does the ferry to Brygge leave in the morning";
const HISTORY_TOOL = "helmdeck__memory_history";

async function turn(
  session: string,
  text: string,
  tool: string,
  args: Readonly<Record<string, string | string[]>>,
) {
  const message = scriptFor(text, [{ tool, args }]);
  return (await agentTurn(openclaw, { sessionKey: `agent:main:explicit:${session}`, message })).text;
}

// verifies P-history-hidden, P-supersede-scope
describe("a correction", () => {
  it("is answered with similar facts, supersedes one of them, and is then the only one found", async () => {
    await turn("ferry", "Remember the ferry.", "helmdeck__memory_store", OLD);
    const told = await turn("ferry-now", "It changed.", "helmdeck__memory_store", NEW);
    expect(told).toContain("Similar facts exist");
    expect(told).toContain("leaves at seven");
    const args = { ...NEW, supersedes: [OLD.key] };
    expect(await turn("ferry-now", "Seven is over.", "helmdeck__memory_store", args)).toContain("It retired");

    const found = await turn("weeks-later-ferry", "When is the ferry?", "memory_search", { query: QUESTION });
    expect(found).toContain("leaves at nine");
    expect(found).not.toContain("leaves at seven");
    const path = `helmdeck/user_facts/${OLD.key}.md`;
    expect((await openclaw.invokeTool("memory_get", { path })).details.status).toBe("not_found");
    const listed = await openclaw.invokeTool("memory_get", { path: "helmdeck/my-memory.md" });
    expect(listed.details.text).toContain(NEW.key);
    expect(listed.details.text).not.toContain(OLD.key);
  });

  it("appears in the history, and can be undone by a person, which restores both facts", async () => {
    const told = await turn("ferry-before", "What was it before?", HISTORY_TOOL, { key: OLD.key });
    expect(told).toContain("leaves at seven");
    expect(told).toContain(OLD.key);
    // The superseding store had renewed the same value, so the undo leaves it unchanged.
    expect(await helmdeckMemory(openclaw, "undo", NEW.key)).toMatchObject({ code: 0 });
    const reply = await openclaw.invokeTool("memory_search", { query: QUESTION });
    expect(JSON.stringify(reply.details.results)).toContain("leaves at seven");
    expect(JSON.stringify(reply.details.results)).toContain("leaves at nine");
  });
});
