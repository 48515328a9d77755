/** In the real OpenClaw: an agent's pin asks a person, and a pinned value stands in the agent's prompts, but in no group's. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectGateway, type GatewaySession } from "../../scripts/openclaw-host/rpc.ts";
import { agentTurn, member, promptOf, sharedOpenClaw } from "./shared.ts";
import { scriptFor } from "./stand-in-model.ts";

const openclaw = await sharedOpenClaw();
const TOOL = "helmdeck__memory_pin";
const FACT = { key: "pears/allergy", value: "Ada must not eat pears." };
const LINES = 'fact "pears/allergy":\n> Ada must not eat pears.';

const store = (value: string) => openclaw.invokeTool("helmdeck__memory_store", { ...FACT, value });

/** The system prompt of a new turn in this session. */
async function promptIn(sessionKey: string): Promise<string> {
  const message = `What may Ada eat? ${randomUUID()}`;
  await agentTurn(openclaw, { sessionKey, message });
  return promptOf(message);
}

// verifies P-pin-asks
describe("a person at the Control UI", () => {
  let person: GatewaySession;
  beforeAll(async () => {
    person = await connectGateway(openclaw.home, { caps: ["approvals"] });
    await store(FACT.value);
  });
  afterAll(() => person?.close());

  /** The agent pins the fact in a chat. Returns the question to the person. */
  async function asked(decision: "allow-once" | "deny", meanwhile: () => Promise<unknown> = async () => {}) {
    const asking = person.next("plugin.approval.requested");
    const message = scriptFor(`Keep it in view. ${randomUUID()}`, [{ tool: TOOL, args: { key: FACT.key } }]);
    const runId = randomUUID();
    await openclaw.rpc("chat.send", { sessionKey: "agent:main:main", message, idempotencyKey: runId });
    const approval = await asking;
    await meanwhile();
    await person.call("plugin.approval.resolve", { id: member(approval, "id") ?? "", decision });
    await openclaw.rpc("agent.wait", { runId, timeoutMs: 60_000 }, { timeoutMs: 70_000 });
    return member(approval, "request");
  }

  it("sees the value, denies it, and nothing is pinned", async () => {
    const request = await asked("deny");
    expect(request).toMatchObject({ pluginId: "helmdeck-memory", title: `Pin to every prompt: ${FACT.key}` });
    expect(member(request, "description")).toContain("> Ada must not eat pears.");
    expect(await promptIn("agent:main:explicit:denied")).not.toContain(LINES);
  });

  it("approves what was shown, and not what was stored while the question was open", async () => {
    await asked("allow-once", () => store("Ada eats everything."));
    expect(await promptIn("agent:main:explicit:changed")).not.toContain("> Ada eats everything.");
    await store(FACT.value);
  });

  // verifies P-pin-prompt
  it("approves, and the value stands in the agent's prompts, but in no group's", async () => {
    await asked("allow-once");
    expect(await promptIn("agent:main:explicit:approved")).toContain(LINES);
    expect(await promptIn("agent:main:telegram:group:-100778")).not.toContain("must not eat pears");
  });
});

// verifies P-pin-asks
it("if no person can be asked, a pin is refused and names the command; an unpin is done", async () => {
  await store(FACT.value);
  const refused = await openclaw.invokeTool(TOOL, { key: FACT.key });
  expect(refused).toMatchObject({ status: 403, ok: false });
  expect(refused.error?.message).toContain("openclaw helmdeck pin pears/allergy");
  expect((await openclaw.invokeTool(TOOL, { key: FACT.key, pinned: false })).ok).toBe(true);
  expect(await promptIn("agent:main:explicit:unpinned")).not.toContain(LINES);
});
