/** MCP over real HTTP: session ownership and expiry, and runs whose client cancels or disconnects. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import pino from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { HelmdeckError } from "../../engine/errors.ts";
import type { ServerContext } from "../../packs/server-context.ts";
import { memoryPack } from "../../packs/shipped/memory-packs.ts";
import { createServer, type ServerOptions } from "../../server/create-server.ts";
import {
  type McpMountOptions,
  MOST_IN_BATCH,
  mcpMount,
  SESSION_LIMITS,
} from "../../server/mcp/mcp-over-http.ts";
import { makeMcpService } from "../../server/mcp/mcp-service.ts";
import { type McpSession, McpSessions, type SessionLimits } from "../../server/mcp/mcp-sessions.ts";
import { rulesOf } from "../../server/token-files.ts";
import { mintToken } from "../../server/tokens.ts";
import { openTestMemory, TestClock, tempPlace } from "../app/fixtures/memories.ts";
import { packThat, SlowPack, testServerContext } from "./fixtures/mcp-context.ts";

const SECRET = Buffer.from("0123456789abcdef0123456789abcdef");
const MEMORY = "helmdeck://my-memory";
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

interface Serving {
  readonly url: URL;
  close: () => Promise<void>;
}

async function serve(
  serverContext: ServerContext,
  options: McpMountOptions = {},
  {
    secret = SECRET,
    port = 0,
  }: { readonly secret?: ServerOptions["secret"] | "none"; readonly port?: number } = {},
): Promise<Serving> {
  const server = createServer(serverContext, {
    ...(secret !== "none" && { secret }),
    mounts: [mcpMount(serverContext, options)],
  });
  const listening = await server.listen({ port, graceMs: 1_000 });
  onTestFinished(() => listening.close());
  return { url: new URL(`${listening.url}/api/v1/mcp`), close: () => listening.close() };
}

async function tokenOf(subject: string): Promise<string> {
  return (await mintToken(SECRET, { subject, ttlSeconds: 3_600 }, Date.now())).token;
}

async function connect(
  url: URL,
  subject: string,
  fetchFrom: FetchLike = fetch,
): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> {
  const headers = { authorization: `Bearer ${await tokenOf(subject)}` };
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers }, fetch: fetchFrom });
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, transport };
}

interface Sending {
  readonly token?: string | undefined;
  readonly session?: string | undefined;
  readonly method?: "GET" | "POST" | "DELETE";
  readonly message?: object;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request as a custom client might write it. */
function send(
  url: URL,
  { token, session, method = "POST", message, signal, headers }: Sending,
): Promise<Response> {
  return fetch(url, {
    method,
    headers: {
      accept: method === "GET" ? "text/event-stream" : "application/json, text/event-stream",
      "content-type": "application/json",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(session !== undefined && { "mcp-session-id": session }),
      ...headers,
    },
    ...(message && { body: JSON.stringify(message) }),
    ...(signal && { signal }),
  });
}

async function open(url: URL, token: string | undefined): Promise<string> {
  const response = await send(url, { token, message: INITIALIZE });
  await response.text();
  expect(response.status).toBe(200);
  return response.headers.get("mcp-session-id") ?? "";
}

const PING = { jsonrpc: "2.0", id: 2, method: "ping" };

/** The status of a ping in this session. It is 200 if the session exists for this token. */
async function ping(url: URL, token: string | undefined, session: string): Promise<number> {
  const response = await send(url, { token, session, message: PING });
  await response.text();
  return response.status;
}

describe("a session", () => {
  test("serves the memory of the token's subject", async () => {
    const memory = await openTestMemory();
    const { url } = await serve(testServerContext({ memory, packs: [memoryPack("store", memory)] }));
    const { client } = await connect(url, "ada");
    await client.callTool({ name: "helmdeck__memory_store", arguments: { key: "tea", value: "oolong" } });
    expect((await memory.getFact("ada", { key: "tea" }))?.value).toBe("oolong");
    const { contents } = await client.readResource({ uri: MEMORY });
    expect(contents).toMatchObject([{ text: expect.stringContaining('"scope":"caller=ada"') }]);
  });

  test("is not found for another caller's token, and stays open for its owner", async () => {
    const { url } = await serve(testServerContext({ memory: await openTestMemory() }));
    const [ada, eve] = [await tokenOf("ada"), await tokenOf("eve")];
    const session = await open(url, ada);
    const stranger = { token: eve, session };
    const refusals = [
      await send(url, { ...stranger, message: PING }),
      await send(url, {
        ...stranger,
        message: { ...PING, method: "resources/read", params: { uri: MEMORY } },
      }),
      await send(url, { ...stranger, method: "GET" }),
      await send(url, { ...stranger, method: "DELETE" }),
    ];
    const missing = await send(url, { token: eve, session: crypto.randomUUID(), message: PING });
    const answers = await Promise.all([...refusals, missing].map(async (r) => [r.status, await r.text()]));
    expect(new Set(answers.map(String)).size).toBe(1);
    expect(missing.status).toBe(404);
    expect(await ping(url, ada, session)).toBe(200);
  });

  test("accepts a small batch, and refuses one that would bypass the caller's rate limit", async () => {
    const memory = await openTestMemory();
    const { url } = await serve(testServerContext({ memory, packs: [memoryPack("store", memory)] }));
    const token = await tokenOf("ada");
    const session = await open(url, token);
    const stores = (count: number) =>
      Array.from({ length: count }, (_, id) => ({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: "helmdeck__memory_store", arguments: { key: `tea/${id}`, value: "oolong" } },
      }));
    const tooMany = await send(url, { token, session, message: stores(MOST_IN_BATCH + 1) });
    expect([tooMany.status, await tooMany.text()]).toEqual([400, expect.stringContaining("-32600")]);
    expect((await memory.listFacts("ada", {})).facts).toEqual([]);
    await (await send(url, { token, session, message: stores(MOST_IN_BATCH) })).text();
    expect((await memory.listFacts("ada", {})).facts).toHaveLength(MOST_IN_BATCH);
  });

  test("is refused without a token, with or without its id", async () => {
    const { url } = await serve(testServerContext({ memory: await openTestMemory() }));
    const session = await open(url, await tokenOf("ada"));
    for (const sent of [
      { message: INITIALIZE },
      { session, message: PING },
      { session, method: "GET" as const },
    ]) {
      const response = await send(url, sent);
      expect([response.status, await response.json()]).toMatchObject([
        401,
        { jsonrpc: "2.0", id: null, error: { code: -32_000, data: { error: "missing_bearer" } } },
      ]);
    }
  });

  test.each([
    ["names it as 2026-07-28 does", "2026-07-28", "2026-07-28"],
    ["names it in the request alone", undefined, "2026-07-28"],
    ["names it in the header alone", "1900-01-01", undefined],
  ])("is told the versions that are spoken if it wants another and %s", async (_, header, version) => {
    const memory = await openTestMemory();
    const { url } = await serve(testServerContext({ memory, packs: [memoryPack("store", memory)] }));
    const token = await tokenOf("ada");
    const session = await open(url, token);
    const _meta = version && { "io.modelcontextprotocol/protocolVersion": version };
    const store = { name: "helmdeck__memory_store", arguments: { key: "tea", value: "oolong" } };
    for (const sent of [
      { message: { ...PING, method: "server/discover", params: { _meta } } },
      { message: { ...PING, method: "tools/call", params: { ...store, _meta } } },
      { session, message: { ...PING, method: "tools/call", params: { ...store, _meta } } },
    ]) {
      const headers = header === undefined ? {} : { "mcp-protocol-version": header };
      const response = await send(url, { token, headers, ...sent });
      const error = { code: -32_022, message: expect.stringContaining("This server speaks MCP 2025-11-25,") };
      expect([response.status, await response.json()]).toMatchObject([
        400,
        {
          jsonrpc: "2.0",
          id: PING.id,
          error: {
            ...error,
            data: { requested: version ?? header, supported: expect.arrayContaining(["2024-11-05"]) },
          },
        },
      ]);
    }
    expect((await memory.listFacts("ada", {})).facts).toEqual([]);
  });

  test("begins with initialize and nothing else", async () => {
    const { url } = await serve(testServerContext({ memory: await openTestMemory() }));
    const token = await tokenOf("ada");
    for (const sent of [
      { message: PING },
      { message: [INITIALIZE] },
      { method: "GET" },
      { method: "DELETE" },
    ] as const) {
      const response = await send(url, { token, ...sent });
      expect([response.status, (await response.text()).length > 0]).toEqual([400, true]);
    }
  });

  test("ends with DELETE", async () => {
    const { url } = await serve(testServerContext({ memory: await openTestMemory() }));
    const token = await tokenOf("ada");
    const session = await open(url, token);
    expect((await send(url, { token, session, method: "DELETE" })).status).toBe(200);
    expect(await ping(url, token, session)).toBe(404);
  });

  test("leaves memory after half an hour without requests, and not before", async () => {
    const { clock, sessions, open, held } = await sessionsInMemory();
    const opened = [await open("ada"), await open("ada")];
    clock.pass(20 * 60_000);
    await held(opened.slice(1));
    sessions.endIdle();
    clock.pass(10 * 60_000);
    sessions.endIdle();
    expect(await held(opened)).toEqual([false, true]);
  });

  test("first closes its event stream, so that the client must send its token again", async () => {
    const clock = new TestClock();
    const { url, tick } = await serveWithTicks(clock);
    const token = await tokenOf("ada");
    const session = await open(url, token);
    const stream = await send(url, { token, session, method: "GET" });
    clock.pass(31 * 60_000);
    tick();
    expect(await stream.text()).toBe("");
    const again = await send(url, { token, session, method: "GET" });
    expect(again.status).toBe(200);
    await again.body?.cancel();
  });

  test("beyond the caller's limit replaces the caller's own longest-idle session", async () => {
    const { open, held } = await sessionsInMemory({ perCaller: 2 });
    const bobs = await open("bob");
    const opened = [await open("ada"), await open("ada"), await open("ada")];
    expect(await held([...opened, bobs])).toEqual([false, true, true, true]);
  });

  test("is never ended for another caller, however many callers reach their limit", async () => {
    const clock = new TestClock();
    const { url } = await serve(testServerContext({ memory: await openTestMemory() }), {
      now: clock.now,
      limits: { perCaller: 3, total: 12 },
    });
    const ada = await tokenOf("ada");
    const adas = await open(url, ada);
    const others = await Promise.all(Array.from({ length: 5 }, (_, n) => tokenOf(`other-${n}`)));
    for (let round = 0; round < 4; round += 1) {
      clock.pass(1_000);
      for (const token of others) await open(url, token);
    }
    expect(await ping(url, ada, adas)).toBe(200);
    const newcomer = await tokenOf("newcomer");
    expect(await ping(url, newcomer, await open(url, newcomer))).toBe(200);
  });

  test("replaces one of the caller with the most sessions if the server's limit is reached", async () => {
    const { open, held } = await sessionsInMemory({ perCaller: 4, total: 4 });
    const bobs = await open("bob");
    const opened = [await open("ada"), await open("ada"), await open("ada"), await open("ada")];
    expect(await held([...opened, bobs])).toEqual([false, true, true, true, true]);
  });

  test("in use outlives sessions that its caller only opens", async () => {
    const clock = new TestClock();
    const limits = { perCaller: 3 };
    const { url } = await serve(testServerContext({ memory: await openTestMemory() }), {
      now: clock.now,
      limits,
    });
    const token = await tokenOf("ada");
    const used = await open(url, token);
    expect(await ping(url, token, used)).toBe(200);
    for (let n = 0; n < 6; n += 1) {
      clock.pass(1_000);
      await open(url, token);
    }
    expect(await ping(url, token, used)).toBe(200);
  });

  test("is limited to 64 for each caller and 1,024 in total", () => {
    expect(SESSION_LIMITS).toEqual({ idleMs: 30 * 60_000, perCaller: 64, total: 1_024 });
  });

  test("is refused with 429 if all of the caller's other sessions are in use", async () => {
    const { url } = await serve(testServerContext({ memory: await openTestMemory() }), {
      limits: { perCaller: 1 },
    });
    const token = await tokenOf("ada");
    const stream = await send(url, { token, session: await open(url, token), method: "GET" });
    const refused = await send(url, { token, message: INITIALIZE });
    expect([refused.status, await refused.json()]).toMatchObject([429, { error: { code: -32_000 } }]);
    await stream.body?.cancel();
    await expect.poll(async () => (await send(url, { token, message: INITIALIZE })).status).toBe(200);
  });
});

describe("a session that this process does not hold", () => {
  const twoSecrets = (first: Buffer, second: Buffer) => async () => {
    const {
      secrets: [signing],
    } = rulesOf(first);
    return { ...rulesOf(second), secrets: [signing, ...rulesOf(second).secrets] as const };
  };

  // verifies P-alone-subjects
  test("continues at another engine with its secret, for its caller only, and until its client ends it", async () => {
    const context = testServerContext({ memory: await openTestMemory() });
    const [one, two] = [await serve(context), await serve(context)];
    const [ada, eve] = [await tokenOf("ada"), await tokenOf("eve")];
    const session = await open(one.url, ada);
    expect(await ping(two.url, eve, session)).toBe(404);
    const both = await Promise.all([ping(two.url, ada, session), ping(two.url, ada, session)]);
    expect(both).toEqual([200, 200]);
    await one.close();
    const stream = await send(two.url, { token: ada, session, method: "GET" });
    expect([stream.status, await ping(two.url, eve, session)]).toEqual([200, 404]);
    await stream.body?.cancel();
    expect((await send(two.url, { token: ada, session, method: "DELETE" })).status).toBe(200);
    expect(await ping(two.url, ada, session)).toBe(404);
  });

  test("continues while its secret is listed, and then says what to do", async () => {
    const context = testServerContext({ memory: await openTestMemory() });
    const [former, next] = [SECRET, Buffer.from("fedcba9876543210fedcba9876543210")];
    const session = await open((await serve(context)).url, await tokenOf("ada"));
    const token = (await mintToken(next, { subject: "ada", ttlSeconds: 3_600 }, Date.now())).token;
    const during = await serve(context, {}, { secret: twoSecrets(next, former) });
    expect(await ping(during.url, token, session)).toBe(200);
    const after = await serve(context, {}, { secret: next });
    const refused = await send(after.url, { token, session, message: PING });
    expect([refused.status, await refused.text()]).toEqual([404, expect.stringContaining("reconnect")]);
  });

  test("continues without authentication too, for the clients of this machine", async () => {
    const context = testServerContext({ memory: await openTestMemory() });
    const [one, two] = [
      await serve(context, {}, { secret: "none" }),
      await serve(context, {}, { secret: "none" }),
    ];
    const session = await open(one.url, undefined);
    expect(await ping(two.url, undefined, session)).toBe(200);
    expect(await ping(two.url, undefined, `${crypto.randomUUID()}.x`)).toBe(404);
  });

  test("serves the SDK's client at two engines in turn, while each is restarted five times", async () => {
    const memory = await openTestMemory();
    const context = testServerContext({ memory, packs: [memoryPack("store", memory)] });
    const [one, two] = [await serve(context), await serve(context)];
    let asked = 0;
    const inTurn = (_: unknown, init?: RequestInit) => fetch((asked++ % 2 === 0 ? one : two).url, init);
    const { client } = await connect(one.url, "ada", inTurn);
    const keys = Array.from({ length: 10 }, (_, at) => `tea/${at}`);
    for (const [at, key] of keys.entries()) {
      const engine = at % 2 === 0 ? one : two;
      await engine.close();
      engine.close = (await serve(context, {}, { port: Number(engine.url.port) })).close;
      await client.callTool({ name: "helmdeck__memory_store", arguments: { key, value: "oolong" } });
    }
    const { facts } = await memory.listFacts("ada", { limit: 50 });
    expect(facts.map(({ key }) => key).sort()).toEqual(keys);
  });
});

describe("a run over HTTP", () => {
  const CALL = {
    jsonrpc: "2.0",
    id: 7,
    method: "tools/call",
    params: { name: "paint__slow_wall", arguments: { theme: "blue" } },
  };

  test("ends when it is cancelled: its stream closes and it leaves its audit row", async () => {
    const pack = new SlowPack();
    const memory = await openTestMemory();
    const { url } = await serve(testServerContext({ memory, packs: [pack] }));
    const token = await tokenOf("ada");
    const session = await open(url, token);
    const answer = await send(url, { token, session, message: CALL });
    await pack.begun;
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } };
    expect((await send(url, { token, session, message: cancel })).status).toBe(202);
    expect(await answer.text()).toBe("");
    await expect
      .poll(async () => (await memory.defaults("ada")).recent)
      .toMatchObject([{ id: "paint.slow_wall", outcome: "cancelled" }]);
  });

  test("continues to its end after the connection breaks, and leaves its audit row (fault 10)", async () => {
    const pack = new SlowPack();
    const memory = await openTestMemory();
    const { url } = await serve(testServerContext({ memory, packs: [pack] }));
    const token = await tokenOf("ada");
    const session = await open(url, token);
    const leaving = new AbortController();
    const answer = await send(url, { token, session, message: CALL, signal: leaving.signal });
    await pack.begun;
    leaving.abort();
    await expect(answer.text()).rejects.toThrow();
    pack.letGo();
    await expect
      .poll(async () => (await memory.defaults("ada")).recent)
      .toMatchObject([{ id: "paint.slow_wall", outcome: "ok" }]);
  });

  test("is finished and answered before the server stops", async () => {
    const pack = new SlowPack();
    const { url, close } = await serve(testServerContext({ memory: await openTestMemory(), packs: [pack] }));
    const token = await tokenOf("ada");
    const answer = await send(url, { token, session: await open(url, token), message: CALL });
    await pack.begun;
    const closing = close();
    pack.letGo();
    expect(await answer.text()).toContain('"structuredContent":{"theme":"blue"}');
    await closing;
  });

  test("is cancelled after the server's grace period, and leaves its audit row", async () => {
    const pack = new SlowPack();
    const memory = await openTestMemory();
    const { url, close } = await serve(testServerContext({ memory, packs: [pack] }), { closeGraceMs: 1 });
    const token = await tokenOf("ada");
    const answer = await send(url, { token, session: await open(url, token), message: CALL });
    await pack.begun;
    await close();
    expect(await answer.text()).toBe("");
    await expect
      .poll(async () => (await memory.defaults("ada")).recent)
      .toMatchObject([{ outcome: "cancelled" }]);
  });
});

describe("a subscriber over HTTP", () => {
  async function subscribed() {
    const place = await tempPlace();
    const [ours, theirs] = [await openTestMemory(place), await openTestMemory(place)];
    const { url, tick } = await serveWithTicks(new TestClock(), testServerContext({ memory: ours }));
    const store = async (key: string) => {
      await theirs.storeFact("ada", { key, value: "oolong" });
      tick();
    };
    return { url, store };
  }

  test("is notified over its event stream about another process's write", async () => {
    const { url, store } = await subscribed();
    const { client } = await connect(url, "ada");
    const heard = Promise.withResolvers<string>();
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) =>
      heard.resolve(params.uri),
    );
    await client.subscribeResource({ uri: MEMORY });
    await store("tea");
    expect(await heard.promise).toBe(MEMORY);
  });

  test("is notified about earlier changes when it opens an event stream", async () => {
    const { url, store } = await subscribed();
    const token = await tokenOf("ada");
    const session = await open(url, token);
    const subscribe = { jsonrpc: "2.0", id: 3, method: "resources/subscribe", params: { uri: MEMORY } };
    await (await send(url, { token, session, message: subscribe })).text();
    await store("tea");
    await store("cake");
    // The answer comes after the check that the ticks started.
    await (await send(url, { token, session, message: { ...subscribe, id: 4 } })).text();
    const stream = await send(url, { token, session, method: "GET" });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    const first = await reader?.read();
    expect(first?.value?.match(/resources\/updated/g)).toHaveLength(1);
    await reader?.cancel();
  });
});

describe("failures", () => {
  test("of tools and resources are in the metrics as those of routes are, and the log has the server's", async () => {
    const lines: string[] = [];
    const memory = await openTestMemory();
    const locked = async () => {
      throw new HelmdeckError("store_locked", "Somebody writes.");
    };
    const packs = [memoryPack("store", memory), packThat("test.locked", locked)];
    const serverContext = testServerContext({ memory, packs });
    const server = createServer(serverContext, {
      mounts: [mcpMount(serverContext)],
      log: pino({}, { write: (line: string) => lines.push(line) }),
    });
    const listening = await server.listen({ port: 0, graceMs: 1_000 });
    onTestFinished(() => listening.close());
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${listening.url}/api/v1/mcp`)));
    onTestFinished(() => client.close());
    const nothing = { key: "k", value: "" };
    await client.callTool({ name: "helmdeck__memory_store", arguments: nothing });
    await client.callTool({ name: "test__locked" });
    const body = JSON.stringify(nothing);
    await fetch(`${listening.url}/api/v1/memory/store`, {
      ...{ method: "POST", body, headers: { "content-type": "application/json" } },
    });
    const metrics = await (await fetch(`${listening.url}/metrics`)).text();
    expect(metrics).toContain('helmdeck_failures_total{code="invalid_input"} 2\n');
    expect(metrics).toContain('helmdeck_failures_total{code="store_locked"} 1\n');
    expect(lines.filter((line) => line.includes("a tool failed"))).toEqual([
      expect.stringContaining('"code":"store_locked","problem":"Somebody writes."'),
    ]);
  });
});

/** Sessions without a server; `open` lets a second pass, and `held` says which of them still are the same. */
async function sessionsInMemory(limits: Partial<SessionLimits> = {}) {
  const clock = new TestClock();
  const service = makeMcpService(testServerContext({ memory: await openTestMemory() }));
  const sessions = new McpSessions(service, { ...SESSION_LIMITS, ...limits }, clock.now);
  const askingAs = (subject: string) => ({
    caller: { subject, authenticated: true, scopes: [] },
    secrets: rulesOf(SECRET).secrets,
    onFailure: () => {},
  });
  const open = async (subject: string) => {
    clock.pass(1_000);
    const session = await sessions.open(askingAs(subject));
    if (session === undefined) throw new Error("no room");
    return session;
  };
  const held = async (opened: readonly McpSession[]) => {
    const answers = [];
    // From the last, since one that continues takes another's place.
    for (const session of opened.toReversed())
      answers.unshift((await sessions.find(session.id, askingAs(session.caller.subject))) === session);
    return answers;
  };
  onTestFinished(() => sessions.close(0));
  return { clock, sessions, open, held };
}

async function serveWithTicks(clock: TestClock, serverContext?: ServerContext) {
  const callbacks = new Set<() => void>();
  const ticker = (callback: () => void) => {
    callbacks.add(callback);
    return () => callbacks.delete(callback);
  };
  const { url } = await serve(serverContext ?? testServerContext({ memory: await openTestMemory() }), {
    now: clock.now,
    ticker,
  });
  const tick = () => {
    for (const callback of callbacks) callback();
  };
  return { url, tick };
}
