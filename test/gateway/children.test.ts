/**
 * Runs that an agent starts from a closed session have no access to memory either: sub-agents, scheduled jobs and web hooks, each really
 * started.
 */
import { beforeAll, describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../scripts/openclaw-host/openclaw-host.ts";
import { HOOK_TOKEN } from "./setup.ts";
import {
  agentTurn,
  endOfRun,
  member,
  promptOf,
  sharedOpenClaw,
  spawnSubAgent,
  subAgentIn,
} from "./shared.ts";
import { type ScriptedCall, scriptFor } from "./stand-in-model.ts";

const openclaw = await sharedOpenClaw();
const FACT = { key: "harbour/crane", value: "The harbour crane is called Wilhelmina and painted green." };
const PATH = `helmdeck/user_facts/${FACT.key}.md`;
const OWN = "agent:main:telegram:direct:4711";
const GROUP = "agent:main:telegram:group:-4711";

/** All memory operations of an agent. `name` distinguishes the traces of different tests. */
function everything(name: string): readonly ScriptedCall[] {
  return [
    { tool: "memory_search", args: { query: "what is the harbour crane called" } },
    { tool: "memory_get", args: { path: PATH } },
    { tool: "helmdeck__memory_forget", args: { scope: `key:victim/${name}` } },
    { tool: "helmdeck__memory_store", args: { key: `planted/${name}`, value: "planted" } },
  ];
}

const isStored = async (key: string) => {
  const read = await openclaw.invokeTool("memory_get", { path: `helmdeck/user_facts/${key}.md` });
  return read.details.status === "ok";
};

async function store(key: string, value: string): Promise<void> {
  const stored = await openclaw.invokeTool("helmdeck__memory_store", { key, value });
  expect(stored, stored.text).toMatchObject({ status: 200 });
}

/** The traces of the run in memory: either none or both. */
async function tracesOf(name: string) {
  return { stored: await isStored(`planted/${name}`), forgot: !(await isStored(`victim/${name}`)) };
}
const NOTHING = { stored: false, forgot: false };
const BOTH = { stored: true, forgot: true };

/** All messages of a session, including the tools' answers. */
async function said(sessionKey: string): Promise<string> {
  const history = await openclaw.rpc("chat.history", { sessionKey });
  return JSON.stringify(member(history, "messages"));
}

beforeAll(async () => {
  await store(FACT.key, FACT.value);
});

// verifies P-alone-closed-contexts
describe("a sub-agent", () => {
  it("of a direct chat finds the fact, stores and forgets", async () => {
    await store("victim/direct", "to be forgotten");
    const child = await spawnSubAgent(
      openclaw,
      OWN,
      scriptFor("Look after the crane, directly.", everything("direct")),
    );
    await endOfRun(openclaw, child.runId);
    const log = `The end of the gateway's log:\n${await openclaw.logTail()}`;
    expect(await said(child.sessionKey), log).toContain(FACT.value);
    expect(await tracesOf("direct")).toEqual(BOTH);
  });

  it.each([
    ["group", {}],
    ["group-visible", { visible: true }],
  ])("of a %s finds, reads, stores and forgets nothing", async (name, how) => {
    await store(`victim/${name}`, "to be kept");
    const task = scriptFor(`Look after the crane, ${name}.`, everything(name));
    const child = await spawnSubAgent(openclaw, `${GROUP}-${name}`, task, how);
    await endOfRun(openclaw, child.runId);
    const transcript = await said(child.sessionKey);
    expect(transcript).toContain("identity_refused");
    expect(transcript).not.toContain("Wilhelmina");
    expect(await tracesOf(name)).toEqual(NOTHING);
  });

  it("of a group's sub-agent has no access either", async () => {
    await store("victim/nested", "to be kept");
    const task = scriptFor("Look after the crane, nested.", everything("nested"));
    const args = { task, expectsCompletionMessage: false };
    const passOn = scriptFor("Pass it on.", [{ tool: "sessions_spawn", args }]);
    const middle = await spawnSubAgent(openclaw, `${GROUP}-nested`, passOn);
    const child = subAgentIn((await endOfRun(openclaw, middle.runId)).text);
    await endOfRun(openclaw, child.runId);
    expect(await said(child.sessionKey)).toContain("identity_refused");
    expect(await said(child.sessionKey)).not.toContain("Wilhelmina");
    expect(await tracesOf("nested")).toEqual(NOTHING);
  });
});

describe("a scheduled job", () => {
  const A_YEAR_MS = 365 * 24 * 3_600_000;
  const job = (name: string) => ({
    name,
    schedule: { kind: "at", at: new Date(Date.now() + A_YEAR_MS).toISOString() },
    deleteAfterRun: false,
    payload: { kind: "agentTurn", message: scriptFor(`Crane duty, ${name}.`, everything(name)) },
    delivery: { mode: "none" },
  });

  /** Starts the job now and waits for its end. */
  async function run(name: string): Promise<void> {
    const id = await idOf(name);
    expect(await openclaw.rpc("cron.run", { id, mode: "force" })).toMatchObject({ ok: true });
    await expect
      .poll(async () => member(member(await openclaw.rpc("cron.get", { id }), "state"), "lastRunStatus"))
      .toBeDefined();
  }

  async function idOf(name: string): Promise<Json> {
    const jobs = member(await openclaw.rpc("cron.list", { includeDisabled: true }), "jobs");
    const found = Array.isArray(jobs) ? jobs.find((each) => member(each, "name") === name) : undefined;
    return member(found, "id") ?? null;
  }

  async function addFrom(sessionKey: string, name: string, target: JsonObject): Promise<void> {
    const args = { action: "add", job: { ...job(name), ...target } };
    const message = scriptFor("Set it up.", [{ tool: "automations", args }]);
    await agentTurn(openclaw, { sessionKey, message });
  }

  it.each([
    ["operator-job", { sessionTarget: "isolated" }],
    ["operator-named", { sessionTarget: "session:crane-duty" }],
  ])("of the operator (%s) has the agent's memory", async (name, target) => {
    await store(`victim/${name}`, "to be forgotten");
    await openclaw.rpc("cron.add", { ...job(name), wakeMode: "now", ...target });
    await run(name);
    expect(await tracesOf(name)).toEqual(BOTH);
  });

  it.each([
    ["group-job", { sessionTarget: "isolated" }],
    ["group-named", { sessionTarget: "session:crane-club" }],
  ])("created in a group (%s) has no access to memory", async (name, target) => {
    await store(`victim/${name}`, "to be kept");
    await addFrom(`${GROUP}-${name}`, name, target);
    await run(name);
    expect(await promptOf(`Crane duty, ${name}.`)).not.toContain("Helmdeck memory");
    expect(await tracesOf(name)).toEqual(NOTHING);
  });
});

describe("a web hook", () => {
  it("has no access to memory, although OpenClaw runs it under the key of a scheduled job", async () => {
    await store("victim/hook", "to be kept");
    const message = scriptFor("Crane duty, by hook.", everything("hook"));
    const reply = await openclaw.fetch("/hooks/agent", {
      method: "POST",
      headers: { authorization: `Bearer ${HOOK_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({
        agentId: "main",
        message,
        name: "crane",
        deliver: false,
        waitForCompletion: true,
      }),
    });
    const body = await reply.text();
    expect(reply.status, body).toBe(200);
    expect(await promptOf("Crane duty, by hook.")).not.toContain("Helmdeck memory");
    expect(await tracesOf("hook")).toEqual(NOTHING);
  });
});
