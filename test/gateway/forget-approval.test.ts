/**
 * Before an agent forgets all entries of a kind, OpenClaw asks a person, who approves or denies it. If nobody can be asked, nothing is
 * deleted.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connectGateway, type GatewaySession } from "../../scripts/openclaw-host/rpc.ts";
import { agentTurn, member, sharedOpenClaw } from "./shared.ts";
import { scriptFor } from "./stand-in-model.ts";

const openclaw = await sharedOpenClaw();
const TOOL = "helmdeck__memory_forget";
const SCOPE = "category:harvest";
const FACT = { key: "harvest/pears", value: "The pears are picked in October.", category: "harvest" };
const PATH = "helmdeck/harvest/harvest/pears.md";

const isThere = async () => (await openclaw.invokeTool("memory_get", { path: PATH })).details.status === "ok";

beforeEach(async () => {
  await openclaw.invokeTool("helmdeck__memory_store", FACT);
});

// verifies P-forget-asks
describe("a person at the Control UI", () => {
  let person: GatewaySession;
  beforeAll(async () => {
    person = await connectGateway(openclaw.home, { caps: ["approvals"] });
  });
  afterAll(() => person?.close());

  /** The agent forgets entries in a chat. Returns the question to the person, and the agent's answer after the decision. */
  async function asked(
    scope: string,
    decision: "allow-once" | "deny",
    meanwhile: () => Promise<unknown> = async () => {},
  ) {
    const asking = person.next("plugin.approval.requested");
    const message = scriptFor(`Forget it. ${randomUUID()}`, [{ tool: TOOL, args: { scope } }]);
    const runId = randomUUID();
    await openclaw.rpc("chat.send", { sessionKey: "agent:main:main", message, idempotencyKey: runId });
    const approval = await asking;
    await meanwhile();
    await person.call("plugin.approval.resolve", { id: member(approval, "id") ?? "", decision });
    await openclaw.rpc("agent.wait", { runId, timeoutMs: 60_000 }, { timeoutMs: 70_000 });
    return member(approval, "request");
  }

  it("sees a preview, denies it, and nothing is deleted", async () => {
    const request = await asked(` ${SCOPE} `, "deny");
    expect(request).toMatchObject({
      pluginId: "helmdeck-memory",
      title: `Forget for good: ${SCOPE}`,
      severity: "critical",
      allowedDecisions: ["allow-once", "deny"],
    });
    expect(member(request, "description")).toMatch(
      /^This would delete the only fact of .* of main for good; .*\n> harvest\/pears: The pears are picked in October\.$/,
    );
    expect(await isThere()).toBe(true);
  });

  it("approves, and the facts are deleted", async () => {
    await asked(SCOPE, "allow-once");
    expect(await isThere()).toBe(false);
  });

  // verifies P-forget-exact
  it("approves what was shown, and nothing that was stored while the question was open", async () => {
    const late = { key: "harvest/plums", value: "The plums are picked in August.", category: "harvest" };
    await asked(SCOPE, "allow-once", () => openclaw.invokeTool("helmdeck__memory_store", late));
    expect(await isThere()).toBe(false);
    const path = "helmdeck/harvest/harvest/plums.md";
    expect((await openclaw.invokeTool("memory_get", { path })).details.status).toBe("ok");
    await openclaw.invokeTool(TOOL, { scope: `key:${late.key}` });
  });
});

// verifies P-forget-asks
describe("if no person can be asked", () => {
  it.each(["all", "everything", SCOPE, "packs", "pipelines", "tools"])(
    "forgetting %s is refused, and the refusal names the command",
    async (scope) => {
      const refused = await openclaw.invokeTool(TOOL, { scope });
      expect(refused).toMatchObject({ status: 403, ok: false });
      expect(refused.error?.message).toContain(
        `openclaw helmdeck forget ${scope}, or: helmdeck-memory forget ${scope}`,
      );
      expect(await isThere()).toBe(true);
    },
  );

  it("a dry run shows keys and first words, and one fact is deleted without asking", async () => {
    const dry = await openclaw.invokeTool(TOOL, { scope: SCOPE, dry_run: true });
    expect(dry.text).toContain("> harvest/pears: The pears are picked in October.");
    expect(await isThere()).toBe(true);
    const one = await openclaw.invokeTool(TOOL, { scope: `key:${FACT.key}` });
    expect(one.details).toMatchObject({ deleted: 1 });
  });

  it("a closed group learns nothing about the memory", async () => {
    const call = { sessionKey: "agent:main:telegram:group:-100888" };
    const refused = await openclaw.invokeTool(TOOL, { scope: SCOPE }, call);
    expect(refused).toMatchObject({ status: 403 });
    expect(refused.error?.message).toMatch(/^identity_refused: /);
  });

  it.each([TOOL, `helmdeck-engine__${TOOL}`])(
    "an agent run without a person changes nothing through %s",
    async (tool) => {
      const call = { tool, args: { scope: SCOPE } };
      const { text } = await agentTurn(openclaw, {
        sessionKey: "agent:main:explicit:alone",
        message: scriptFor(`Forget it. ${randomUUID()}`, [call]),
      });
      expect(text).toMatch(/Nothing was forgotten|Plugin approval unavailable/);
      expect(await isThere()).toBe(true);
    },
  );
});

it("an unknown argument of a tool is refused on every surface", async () => {
  const args = { ...FACT, subject: "other" };
  const invoked = await openclaw.invokeTool("helmdeck__memory_store", args);
  expect(invoked).toMatchObject({
    status: 400,
    error: { message: expect.stringContaining("subject is not known") },
  });
  const turn = await agentTurn(openclaw, {
    sessionKey: "agent:main:explicit:unknown-argument",
    message: scriptFor("Store it.", [{ tool: "helmdeck__memory_store", args }]),
  });
  expect(turn.text).toMatch(/must not have additional properties/);
});
