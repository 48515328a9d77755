/** Nobody reads or changes another's memory: two agents, and the contexts that strangers can enter, through the real OpenClaw. */
import { beforeAll, describe, expect, it } from "vitest";
import { helmdeckMemory, hitsOf, pathsOf, sharedOpenClaw } from "../gateway/shared.ts";

const openclaw = await sharedOpenClaw();
/** The same key exists in each agent's memory, so that every probe has something to find. */
const KEY = "lighthouse/lamp";
const PATH = `helmdeck/user_facts/${KEY}.md`;
const QUERY = "which lamp does the lighthouse have";
const lampOf = (agent: string) => `The lighthouse of ${agent} has the lamp ${agent}-lamp.`;

/** Contexts in which others than the agent's owner may write. /tools/invoke accepts any of them. */
const CLOSED_SESSIONS = [
  "agent:main:telegram:group:-100123",
  "agent:main:telegram:group:-100123:topic:7",
  "agent:main:slack:channel:c0123",
  "agent:main:slack:channel:c0123:thread:1700000000.1",
  "agent:main:discord:guild-1:channel-2",
  "agent:main:whatsapp:120363@g.us",
  "agent:main:hook:0b1c",
  "agent:main:matrix:room:!x:example.org",
  "agent:main:subagent:telegram:group:1",
  "agent:main:cron:x:group:1:run:2",
  // Sessions of unknown origin. children.test.ts covers sessions that OpenClaw really starts.
  "agent:main:subagent:0b1c",
  "agent:main:acp:0b1c",
  "agent:main:cron:nightly:run:3",
];
const OWN_SESSIONS = ["agent:main:main", "agent:main:telegram:direct:42", "agent:main:explicit:0b1c"];

beforeAll(async () => {
  for (const agent of ["main", "work"]) {
    const reply = await openclaw.invokeTool(
      "helmdeck__memory_store",
      { key: KEY, value: lampOf(agent) },
      { agentId: agent },
    );
    expect(reply.status).toBe(200);
  }
  // The sandboxed agent may not store, so its owner stores on the command line.
  const stored = await helmdeckMemory(openclaw, "store", KEY, lampOf("boxed"), "--caller", "boxed");
  expect(stored).toMatchObject({ code: 0 });
});

// verifies P-alone-subjects
describe("two agents", () => {
  it.each(["main", "work"])("%s finds only its own fact", async (agent) => {
    const reply = await openclaw.invokeTool("memory_search", { query: QUERY }, { agentId: agent });
    const ours = hitsOf(reply).filter((hit) => hit.corpus === "helmdeck");
    expect(ours.map((hit) => hit.path)).toEqual([PATH]);
    expect(ours[0]?.snippet).toContain(`${agent}-lamp`);
    const other = agent === "main" ? "work-lamp" : "main-lamp";
    expect(reply.text).not.toContain(other);
  });

  it.each(["main", "work"])("%s reads its own fact under a path that both have", async (agent) => {
    const { details } = await openclaw.invokeTool("memory_get", { path: PATH }, { agentId: agent });
    expect(details.text).toContain(lampOf(agent));
  });

  it("cannot name each other in a search", async () => {
    const query = "work-lamp lighthouse of work";
    const reply = await openclaw.invokeTool("memory_search", { query, agentId: "work", namespace: "work" });
    expect(reply.text).not.toContain("has the lamp work-lamp");
  });

  it("can each forget only their own fact", async () => {
    const key = "lighthouse/spare";
    for (const agentId of ["main", "work"]) {
      await openclaw.invokeTool(
        "helmdeck__memory_store",
        { key, value: `spare lamp of ${agentId}` },
        { agentId },
      );
    }
    const forgotten = await openclaw.invokeTool(
      "helmdeck__memory_forget",
      { scope: `key:${key}` },
      { agentId: "work" },
    );
    expect(forgotten.details).toMatchObject({ deleted: 1 });
    const path = `helmdeck/user_facts/${key}.md`;
    expect((await openclaw.invokeTool("memory_get", { path })).details.status).toBe("ok");
    const gone = await openclaw.invokeTool("memory_get", { path }, { agentId: "work" });
    expect(gone.details.status).toBe("not_found");
  });

  it("an agent that is not configured can neither read nor store", async () => {
    const call = { sessionKey: "agent:nosuch:main" };
    const found = await openclaw.invokeTool("memory_search", { query: QUERY }, call);
    expect(pathsOf(found, "helmdeck")).toEqual([]);
    const stored = await openclaw.invokeTool("helmdeck__memory_store", { key: "x", value: "y" }, call);
    expect(stored).toMatchObject({ status: 403 });
  });
});

describe("the agent's own sessions", () => {
  it.each(OWN_SESSIONS)("%s reads and writes", async (sessionKey) => {
    const found = await openclaw.invokeTool("memory_search", { query: QUERY }, { sessionKey });
    expect(pathsOf(found, "helmdeck")).toContain(PATH);
    const stored = await openclaw.invokeTool(
      "helmdeck__memory_store",
      { key: `session/${OWN_SESSIONS.indexOf(sessionKey)}`, value: "stored from a session of its own" },
      { sessionKey },
    );
    expect(stored.status).toBe(200);
  });
});

// verifies P-alone-closed-contexts, P-alone-invisible
describe("a group, a channel, a hook or a run of unknown origin", () => {
  it.each(CLOSED_SESSIONS)("%s finds nothing", async (sessionKey) => {
    const reply = await openclaw.invokeTool("memory_search", { query: QUERY, corpus: "all" }, { sessionKey });
    expect(pathsOf(reply, "helmdeck")).toEqual([]);
    expect(reply.details.warning ?? "").not.toContain("helmdeck");
    expect(reply.text).not.toContain("main-lamp");
  });

  it.each(CLOSED_SESSIONS)(
    "%s reads nothing, and an existing document looks like a missing one",
    async (sessionKey) => {
      const there = await openclaw.invokeTool("memory_get", { path: PATH }, { sessionKey });
      const missing = await openclaw.invokeTool(
        "memory_get",
        { path: "helmdeck/user_facts/none.md" },
        { sessionKey },
      );
      expect(there.details).toMatchObject({ status: "not_found", text: "" });
      expect({ ...there.details, path: "" }).toEqual({ ...missing.details, path: "" });
      const mine = await openclaw.invokeTool("memory_get", { path: "helmdeck/my-memory.md" }, { sessionKey });
      expect(mine.details).toMatchObject({ status: "not_found" });
    },
  );

  it.each(CLOSED_SESSIONS)("%s neither stores nor forgets", async (sessionKey) => {
    const key = `planted/${CLOSED_SESSIONS.indexOf(sessionKey)}`;
    const stored = await openclaw.invokeTool(
      "helmdeck__memory_store",
      { key, value: "planted" },
      { sessionKey },
    );
    expect(stored).toMatchObject({ status: 403, ok: false });
    expect(stored.error?.message).toContain("identity_refused");
    const forgotten = await openclaw.invokeTool(
      "helmdeck__memory_forget",
      { scope: "everything" },
      { sessionKey },
    );
    expect(forgotten).toMatchObject({ status: 403, ok: false });
    const planted = await openclaw.invokeTool("memory_get", { path: `helmdeck/user_facts/${key}.md` });
    expect(planted.details.status).toBe("not_found");
    expect((await openclaw.invokeTool("memory_get", { path: PATH })).details.status).toBe("ok");
  });
});

// verifies P-alone-closed-contexts
describe("a sandboxed agent", () => {
  const call = { agentId: "boxed" };

  it("has a memory that its owner sees (control)", async () => {
    const got = await helmdeckMemory(openclaw, "get", KEY, "--caller", "boxed");
    expect(got.stdout).toContain("boxed-lamp");
  });

  it("finds and reads nothing", async () => {
    const found = await openclaw.invokeTool("memory_search", { query: QUERY, corpus: "all" }, call);
    expect(pathsOf(found, "helmdeck")).toEqual([]);
    const read = await openclaw.invokeTool("memory_get", { path: PATH }, call);
    expect(read.details).toMatchObject({ status: "not_found" });
  });

  it("neither stores nor forgets", async () => {
    const stored = await openclaw.invokeTool("helmdeck__memory_store", { key: "x", value: "y" }, call);
    expect(stored).toMatchObject({ status: 403 });
    expect(stored.error?.message).toContain("sandboxed");
    const forgotten = await openclaw.invokeTool("helmdeck__memory_forget", { scope: `key:${KEY}` }, call);
    expect(forgotten).toMatchObject({ status: 403 });
    expect((await helmdeckMemory(openclaw, "get", KEY, "--caller", "boxed")).code).toBe(0);
  });
});
