/**
 * One isolation case for each entry point that the plugin registers with OpenClaw.
 *
 * `reaches` uses an entry point from a session of the agent `main`, and returns whether main's memory was read or changed. The conformance
 * test requires a probe for every entry point in the manifest and in `openclaw plugins inspect`.
 */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { OpenClawClient } from "../../scripts/openclaw-host/openclaw-host.ts";
import { agentTurn, helmdeckMemory, member, pathsOf, promptOf } from "./shared.ts";
import { scriptFor } from "./stand-in-model.ts";

/** In main's memory before any probe runs. */
export const TREASURE = {
  key: "treasure/map",
  value: "The treasure is buried under the third oak.",
  path: "helmdeck/user_facts/treasure/map.md",
  query: "where is the treasure buried",
} as const;

export type Reaches = (openclaw: OpenClawClient, sessionKey: string) => Promise<boolean>;

/** Entry points that carry a caller, by surface. */
export const PROBES: Readonly<Record<string, Reaches>> = {
  "tool helmdeck__memory_store": async (openclaw, sessionKey) => {
    const args = { key: `probe/${randomUUID()}`, value: "stored by a probe" };
    const stored = await openclaw.invokeTool("helmdeck__memory_store", args, { sessionKey });
    const read = await openclaw.invokeTool("memory_get", { path: `helmdeck/user_facts/${args.key}.md` });
    return stored.ok || read.details.status === "ok";
  },
  "tool helmdeck__memory_forget": async (openclaw, sessionKey) => {
    const key = `probe/${randomUUID()}`;
    await openclaw.invokeTool("helmdeck__memory_store", { key, value: "to be forgotten by a probe" });
    await openclaw.invokeTool("helmdeck__memory_forget", { scope: `key:${key}` }, { sessionKey });
    const read = await openclaw.invokeTool("memory_get", { path: `helmdeck/user_facts/${key}.md` });
    return read.details.status !== "ok";
  },
  "tool helmdeck__memory_history": async (openclaw, sessionKey) => {
    const [key, former] = [`probe/${randomUUID()}`, `held before by a probe ${randomUUID()}`];
    await openclaw.invokeTool("helmdeck__memory_store", { key, value: former });
    await openclaw.invokeTool("helmdeck__memory_store", { key, value: "held now by a probe" });
    const history = await openclaw.invokeTool("helmdeck__memory_history", { key }, { sessionKey });
    return history.text.includes(former);
  },
  "tool helmdeck__memory_pin": (openclaw, sessionKey) =>
    unpins(openclaw, (key) =>
      openclaw.invokeTool("helmdeck__memory_pin", { key, pinned: false }, { sessionKey }),
    ),
  "supplement search": async (openclaw, sessionKey) => {
    const args = { query: TREASURE.query, corpus: "all" };
    return pathsOf(await openclaw.invokeTool("memory_search", args, { sessionKey }), "helmdeck").length > 0;
  },
  "supplement get": async (openclaw, sessionKey) => {
    const args = { path: TREASURE.path, corpus: "wiki" };
    return (await openclaw.invokeTool("memory_get", args, { sessionKey })).text.includes(TREASURE.value);
  },
  "hook before_tool_call": async (openclaw, sessionKey) => {
    const found = await openclaw.invokeTool("memory_search", { query: TREASURE.query }, { sessionKey });
    const read = await openclaw.invokeTool("memory_get", { path: TREASURE.path }, { sessionKey });
    return pathsOf(found, "helmdeck").length > 0 || read.text.includes(TREASURE.value);
  },
  "hook after_tool_call": async (openclaw, sessionKey) => {
    const before = await auditRowsOf(openclaw);
    const args = { title: `Probe ${randomUUID()}`, persona: "prober" };
    const message = scriptFor("Draft it.", [{ tool: "helmdeck__content-draft", args }]);
    const turn = await agentTurn(openclaw, { sessionKey, message });
    expect(turn.text).toContain("draft"); // the tool did run
    return (await auditRowsOf(openclaw)) > before;
  },
  "prompt lines": async (openclaw, sessionKey) => {
    const message = `What is new? ${randomUUID()}`;
    await agentTurn(openclaw, { sessionKey, message });
    return (await promptOf(message)).includes("Helmdeck memory");
  },
  "slash command helmdeck": async (openclaw, sessionKey) => {
    const reply = await chat(openclaw, sessionKey, `/helmdeck search ${TREASURE.query}`);
    return reply.includes(TREASURE.value);
  },
  "slash command remember": async (openclaw, sessionKey) => {
    const key = `probe/${randomUUID()}`;
    await chat(openclaw, sessionKey, `/remember ${key} = remembered by a probe`);
    const read = await openclaw.invokeTool("memory_get", { path: `helmdeck/user_facts/${key}.md` });
    return read.details.status === "ok";
  },
  "slash command undo": async (openclaw, sessionKey) => {
    const key = `probe/${randomUUID()}`;
    for (const value of ["right", "wrong"])
      await openclaw.invokeTool("helmdeck__memory_store", { key, value });
    await chat(openclaw, sessionKey, `/undo ${key}`);
    const read = await openclaw.invokeTool("memory_get", { path: `helmdeck/user_facts/${key}.md` });
    return JSON.stringify(read).includes("right");
  },
  "slash command forget": async (openclaw, sessionKey) => {
    const key = `probe/${randomUUID()}`;
    await openclaw.invokeTool("helmdeck__memory_store", { key, value: "to be forgotten by a probe" });
    await chat(openclaw, sessionKey, `/forget ${key}`);
    const read = await openclaw.invokeTool("memory_get", { path: `helmdeck/user_facts/${key}.md` });
    return read.details.status !== "ok";
  },
  "slash command pin": async (openclaw, sessionKey) => {
    const key = `probe/${randomUUID()}`;
    await openclaw.invokeTool("helmdeck__memory_store", { key, value: "to be pinned by a probe" });
    await chat(openclaw, sessionKey, `/pin ${key}`);
    const wasPinned = await isPinned(openclaw, key);
    await helmdeckMemory(openclaw, "unpin", key);
    return wasPinned;
  },
  "slash command unpin": (openclaw, sessionKey) =>
    unpins(openclaw, (key) => chat(openclaw, sessionKey, `/unpin ${key}`)),
  "slash command memories": async (openclaw, sessionKey) => {
    const reply = await chat(openclaw, sessionKey, `/memories ${TREASURE.query}`);
    return reply.includes(TREASURE.value);
  },
};

/** Entry points that require the gateway's token or access to the machine, and that no chat can use. */
export const OPERATORS_ONLY: Readonly<Record<string, (openclaw: OpenClawClient) => Promise<void>>> = {
  "gateway method helmdeck.status": async (openclaw) => {
    await expect(openclaw.rpc("helmdeck.status", {}, { scopes: [] })).rejects.toThrow(/scope/);
    const status = await openclaw.rpc("helmdeck.status", { agentId: "main" }, { scopes: ["operator.read"] });
    expect(JSON.stringify(status)).not.toContain(TREASURE.key);
    expect(JSON.stringify(status)).not.toContain(TREASURE.value);
  },
  "command line helmdeck": async (openclaw) => {
    const query = TREASURE.query.split(" ");
    const other = await openclaw.openclaw(["helmdeck", "search", ...query, "--agent", "work"]);
    expect(other).toMatchObject({ code: 0 });
    expect(other.stdout).not.toContain(TREASURE.value);
    const own = await openclaw.openclaw(["helmdeck", "search", ...query]);
    expect(own.stdout).toContain(TREASURE.value);
  },
  "HTTP route 1": async ({ url, home }) => {
    const page = (headers: Readonly<Record<string, string>>) =>
      fetch(`${url}/plugins/helmdeck-memory/facts`, { headers });
    expect((await page({})).status).toBe(401);
    const own = await page({ authorization: `Bearer ${home.token}` });
    expect(await own.text()).toContain(TREASURE.value);
  },
  // The gateway itself starts and stops it, so there is no caller.
  "service helmdeck-memory": async () => {},
};

/** Whether it unpins a fact that a person pinned. */
async function unpins(openclaw: OpenClawClient, unpin: (key: string) => Promise<unknown>): Promise<boolean> {
  const key = `probe/${randomUUID()}`;
  await openclaw.invokeTool("helmdeck__memory_store", { key, value: "to be unpinned by a probe" });
  await helmdeckMemory(openclaw, "pin", key);
  expect(await isPinned(openclaw, key)).toBe(true);
  await unpin(key);
  const isGone = !(await isPinned(openclaw, key));
  await helmdeckMemory(openclaw, "unpin", key);
  return isGone;
}

async function isPinned(openclaw: OpenClawClient, key: string): Promise<boolean> {
  const { stdout } = await helmdeckMemory(openclaw, "get", key, "--json");
  return member(JSON.parse(stdout), "pinned") === true;
}

/** The gateway's answer in a chat. */
export async function chat(openclaw: OpenClawClient, sessionKey: string, message: string): Promise<string> {
  const runId = randomUUID();
  await openclaw.rpc("chat.send", { sessionKey, message, idempotencyKey: runId });
  let reply: string | undefined;
  const ask = async () => {
    reply = await replyTo(openclaw, sessionKey, runId);
    return reply;
  };
  await expect.poll(ask).toBeDefined();
  return reply ?? "";
}

async function replyTo(
  openclaw: OpenClawClient,
  sessionKey: string,
  runId: string,
): Promise<string | undefined> {
  const messages = member(await openclaw.rpc("chat.history", { sessionKey }), "messages");
  const list = Array.isArray(messages) ? messages : [];
  const reply = list.find((m) => member(m, "role") === "assistant" && member(m, "idempotencyKey") === runId);
  return reply === undefined ? undefined : JSON.stringify(member(reply, "content"));
}

async function auditRowsOf(openclaw: OpenClawClient): Promise<number> {
  const status = await openclaw.rpc("helmdeck.status", { agentId: "main" });
  return Number(member(member(status, "subject"), "audit_rows"));
}
