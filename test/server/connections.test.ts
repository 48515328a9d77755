/** Clients that hold connections: each kind is closed in time, none blocks other clients, and long streams continue. */
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { buffer, json, text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { memoryPack } from "../../packs/shipped/memory-packs.ts";
import { peerOf } from "../../server/connections.ts";
import { createServer, type HelmdeckServer, type Listening } from "../../server/create-server.ts";
import { IN_FLIGHT_LIMITS } from "../../server/guards/rate.ts";
import { SOCKET_LIMITS, type SocketLimits } from "../../server/listening.ts";
import { mcpMount } from "../../server/mcp/mcp-over-http.ts";
import { mintToken } from "../../server/tokens.ts";
import { openTestMemory } from "../app/fixtures/memories.ts";
import { packThat, testServerContext } from "./fixtures/mcp-context.ts";

const SECRET = Buffer.from("0123456789abcdef0123456789abcdef");

/** The server's own limits, divided by fifty. */
const QUICK: Partial<SocketLimits> = {
  headersTimeoutMs: 200,
  requestTimeoutMs: 200,
  keepAliveTimeoutMs: 100,
  keepAliveBufferMs: 100,
  waitMs: 240,
  lingerMs: 40,
  stalledMs: 200,
  answerMs: 600_000,
  checkTimeoutsEveryMs: 20,
};
/** Limits that no test reaches, so that nothing is freed because of a timeout. */
const NEVER: Partial<SocketLimits> = {
  ...{ headersTimeoutMs: 600_000, requestTimeoutMs: 600_000, keepAliveTimeoutMs: 600_000 },
  ...{ waitMs: 600_000, lingerMs: 600_000, stalledMs: 600_000, answerMs: 600_000 },
};
/** Far longer than the quick limits, and far shorter than NEVER. */
const SOON = { timeout: 15_000, interval: 25 };

const HOST = "Host: localhost\r\n";
const FACTS = "/api/v1/memory/facts";
const MEMORY = "helmdeck://my-memory";
const MCP = "/api/v1/mcp";
/** More than the system buffers for a client that does not read. */
const LARGE = "x".repeat(12 * 1_024 * 1_024);

const get = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\n${HOST}${headers}\r\n`;
const asAda = () => `Authorization: Bearer ${token}\r\n`;

/** Each holds one connection and never closes it. */
const HOSTILE: Readonly<Record<string, (socket: Socket) => void>> = {
  "says nothing": () => {},
  "stops in its headers": (socket) => socket.write(`GET /version HTTP/1.1\r\n${HOST}X: `),
  "sends its headers byte by byte": (socket) => {
    socket.write(`GET /version HTTP/1.1\r\n${HOST}X: `);
    again(socket, "x");
  },
  "speaks TLS": (socket) => socket.write(Buffer.from("160301020001000001fc0303", "hex")),
  "continues after invalid HTTP": (socket) => again(socket, "nonsense\r\n"),
  "stops in the body of an unauthenticated request": (socket) => socket.write(post("{", 500)),
  "sends a caller's body byte by byte": (socket) => {
    socket.write(post("{", 500, asAda()));
    again(socket, " ");
  },
  "half-closes the connection in the middle of a request": (socket) => socket.end(post("{", 500)),
  "is idle after its answer": (socket) => socket.write(get("/version")),
  "sends blank lines after its answer": (socket) => {
    socket.write(get("/version"));
    again(socket, "\r\n");
  },
  "reads none of its answers": (socket) => {
    socket.pause();
    socket.write(get("/api/v1/openapi.json").repeat(SOCKET_LIMITS.pipelined));
  },
  "reads none of a caller's large answer": (socket) => {
    socket.pause();
    socket.write(post("{}", 2, asAda(), "test.large"));
  },
  "asks for an upgrade and waits": (socket) =>
    socket.write(`GET /version HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`),
  "asks for a tunnel and waits": (socket) => socket.write(`CONNECT localhost:80 HTTP/1.1\r\n${HOST}\r\n`),
};

function post(body: string, length: number, headers = "", pack = "test.do"): string {
  return `POST /api/v1/packs/${pack} HTTP/1.1\r\n${HOST}${headers}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;
}

function again(socket: Socket, bytes: string): void {
  const sending = setInterval(() => socket.write(bytes), 20);
  socket.once("close", () => clearInterval(sending));
}

let token: string;
let metrics: string;
let url: string;
let port: number;
let address: string;
let app: HelmdeckServer["app"];
let begun: PromiseWithResolvers<void>;
let held: PromiseWithResolvers<void>;
const sockets = new Set<Socket>();

/** A server for callers with a token. Its pack runs until a test releases it. */
async function serve(limits: Partial<SocketLimits> = {}): Promise<Listening> {
  begun = Promise.withResolvers();
  held = Promise.withResolvers();
  const tokenOf = async (subject: string, scopes: readonly string[] = []) =>
    (await mintToken(SECRET, { subject, scopes, ttlSeconds: 3_600 }, Date.now())).token;
  [token, metrics] = [await tokenOf("ada"), await tokenOf("prometheus", ["metrics"])];
  const slow = packThat("test.do", async () => {
    begun.resolve();
    await held.promise;
    return { done: true };
  });
  const large = packThat("test.large", async () => ({ text: LARGE }));
  const memory = await openTestMemory();
  const serverContext = testServerContext({ memory, packs: [slow, large, memoryPack("store", memory)] });
  const server = createServer(serverContext, {
    secret: SECRET,
    mounts: [mcpMount(serverContext)],
    requestsPerMinute: 0,
  });
  const listening = await server.listen({ port: 0, graceMs: 300, limits: { ...QUICK, ...limits } });
  ({ url, port, address } = listening);
  app = server.app;
  onTestFinished(async () => {
    held.resolve();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    await listening.close();
  });
  return listening;
}

/** Stays half open when the server ends the connection, and ignores errors. */
async function hold(begin: (socket: Socket) => void, localAddress = address): Promise<Socket> {
  const socket = connect({ port, host: address, localAddress, allowHalfOpen: true });
  sockets.add(socket);
  socket.on("error", () => {}).on("data", () => {});
  await Promise.race([once(socket, "connect"), once(socket, "close")]);
  begin(socket);
  return socket;
}

async function holdMany(count: number, begin: (socket: Socket) => void): Promise<void> {
  for (let n = 0; n < count; n += 1) await hold(begin);
}

/** The number of connections that hold a file descriptor of the server. */
async function openConnections(): Promise<number> {
  const response = await app.request("/metrics", { headers: { Authorization: `Bearer ${metrics}` } });
  return Number(/^helmdeck_http_connections (\d+)$/m.exec(await response.text())?.[1]);
}

interface Asking {
  readonly method?: string;
  readonly from?: string;
  readonly as?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends one request on a separate connection. Returns when the head of the answer arrives. */
async function ask(path: string, { method = "GET", from, as = token, headers, body }: Asking = {}) {
  const asking = httpRequest(`${url}${path}`, {
    ...{ method, agent: false },
    ...(from !== undefined && { localAddress: from }),
    headers: { Authorization: `Bearer ${as}`, "Content-Type": "application/json", ...headers },
  });
  asking.end(body);
  const [response]: IncomingMessage[] = await once(asking, "response");
  if (response === undefined) throw new Error("no response");
  return response;
}

async function statusOf(path: string, asking?: Asking): Promise<number | undefined> {
  const response = await ask(path, asking);
  await buffer(response);
  return response.statusCode;
}

/** An MCP session, with the event stream of a client that subscribes to changes of its memory. */
async function openSession() {
  const common = { Accept: "application/json, text/event-stream" };
  const opened = await ask(MCP, { method: "POST", headers: common, body: message("initialize", INITIALIZE) });
  const headers = { ...common, "Mcp-Session-Id": String(opened.headers["mcp-session-id"]) };
  await buffer(opened);
  const send = async (method: string, params: object) =>
    text(await ask(MCP, { method: "POST", headers, body: message(method, params) }));
  await send("resources/subscribe", { uri: MEMORY });
  const stream = await ask(MCP, { headers });
  const store = (key: string) =>
    send("tools/call", { name: "helmdeck__memory_store", arguments: { key, value: "oolong" } });
  return { stream, store };
}

const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
};

const message = (method: string, params: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

describe("a connection is closed, although its client never closes it, if the client", () => {
  it.each(Object.entries(HOSTILE))("%s", async (_what, begin) => {
    await serve();
    await holdMany(2, begin);
    await expect.poll(openConnections, SOON).toBe(0);
  });
});

it("a connection is closed after a time limit if its client reads the answer very slowly", async () => {
  await serve({ ...NEVER, answerMs: 300 });
  const socket = await hold(HOSTILE["reads none of a caller's large answer"] ?? (() => {}));
  const sipping = setInterval(() => socket.read(1_024), 20);
  socket.once("close", () => clearInterval(sipping));
  await expect.poll(openConnections, SOON).toBe(0);
});

// verifies P-load-fair
describe("when clients hold the maximum number of connections", () => {
  const LIMITS = { ...NEVER, connections: 12, connectionsPerAddress: 8 };

  it.each(Object.entries(HOSTILE))(
    "a caller is served, even the same one, while a client %s",
    async (_what, begin) => {
      await serve(LIMITS);
      await holdMany(10, begin);
      expect(await openConnections()).toBeLessThanOrEqual(8);
      // A request that arrives while all of them are being answered may have to be repeated.
      await expect.poll(() => statusOf(FACTS), SOON).toBe(200);
    },
  );

  it.skipIf(process.platform !== "linux")(
    "clients from other addresses are served, and the total limit holds",
    async () => {
      await serve(LIMITS);
      for (const from of ["127.0.0.2", "127.0.0.3", "127.0.0.4"])
        for (let n = 0; n < 10; n += 1) await hold(() => {}, from);
      expect(await openConnections()).toBeLessThanOrEqual(12);
      for (const from of ["127.0.0.1", "127.0.0.2", "127.0.0.5"])
        expect(await statusOf(FACTS, { from })).toBe(200);
    },
  );

  it.skipIf(process.platform !== "linux")(
    "a connection in use is not closed for another address that holds more",
    async () => {
      await serve({ ...LIMITS, connections: 6 });
      const idle = await hold((socket) => socket.write(get(FACTS, asAda())), "127.0.0.2");
      await once(idle, "data");
      await holdMany(20, () => {});
      idle.write(get(FACTS, asAda()));
      expect(String(await once(idle, "data"))).toContain("HTTP/1.1 200");
    },
  );

  it("a running request and an open event stream of a caller are not closed", async () => {
    await serve(LIMITS);
    const { stream, store } = await openSession();
    const run = ask("/api/v1/packs/test.do", { method: "POST", body: "{}" });
    await begun.promise;
    await holdMany(15, () => {});
    for (let n = 0; n < 15; n += 1) {
      const idle = await hold((socket) => socket.write(get(FACTS, asAda())));
      await once(idle, "data");
    }
    held.resolve();
    expect(await json(await run)).toMatchObject({ output: { done: true } });
    await store("tea");
    expect(String(await once(stream, "data"))).toContain("resources/updated");
  });

  it("another connection is refused with 429 if every open one has a running request", async () => {
    await serve({ ...LIMITS, connectionsPerAddress: 1 });
    const run = ask("/api/v1/packs/test.do", { method: "POST", body: "{}" });
    await begun.promise;
    expect(await text(await hold(() => {}))).toMatch(/^HTTP\/1\.1 429 .*"error":"rate_limited"/s);
    held.resolve();
    expect((await run).statusCode).toBe(200);
  });
});

describe("a long connection is not closed:", () => {
  /** After this, every time limit has passed twice. */
  async function longerThanAnyLimit(): Promise<void> {
    for (let n = 0; n < 2; n += 1) {
      const silent = await hold(() => {});
      await once(silent, "end");
    }
  }

  it("an event stream without events", async () => {
    await serve();
    const { stream, store } = await openSession();
    await longerThanAnyLimit();
    await store("tea");
    expect(String(await once(stream, "data"))).toContain("resources/updated");
  });

  it("a running pack", async () => {
    await serve();
    const run = ask("/api/v1/packs/test.do", { method: "POST", body: "{}" });
    await begun.promise;
    await longerThanAnyLimit();
    held.resolve();
    expect(await json(await run)).toMatchObject({ output: { done: true } });
  });
});

describe("requests on one connection", () => {
  it("can be sent before the first one is answered", async () => {
    await serve();
    const several = connect({ port, host: address });
    several.write(
      get("/version").repeat(SOCKET_LIMITS.pipelined - 1) + get("/version", "Connection: close\r\n"),
    );
    expect((await text(several)).match(/HTTP\/1\.1 200/g)).toHaveLength(SOCKET_LIMITS.pipelined);
  });

  it("are cut off when too many are sent at once", async () => {
    await serve(NEVER);
    const flood = post("{}", 2, asAda()).repeat(SOCKET_LIMITS.pipelined + 1);
    await hold((socket) => socket.write(flood));
    await expect.poll(openConnections, SOON).toBe(0);
  });
});

it("a server that stops does not wait for clients that never close", async () => {
  const listening = await serve(NEVER);
  await hold((socket) => socket.write("nonsense\r\n\r\n"));
  await hold(HOSTILE["stops in its headers"] ?? (() => {}));
  await hold((socket) => socket.write(post("{}", 2, asAda())));
  await begun.promise;
  await listening.close();
  expect(await openConnections()).toBe(0);
});

it.each([
  ["127.0.0.1", "127.0.0.1"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["::1", "0:0:0:0"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8::6", "2001:db8:0:0"],
  ["2001:db8:1:2::", "2001:db8:1:2"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  [undefined, "none"],
])("%s is counted as %s", (remoteAddress, peer) => {
  expect(peerOf(remoteAddress)).toBe(peer);
});

it("the default limits close an idle connection within 15 s and reserve connections for new clients", () => {
  const { headersTimeoutMs, requestTimeoutMs, waitMs, lingerMs, stalledMs } = SOCKET_LIMITS;
  const idle = SOCKET_LIMITS.keepAliveTimeoutMs + SOCKET_LIMITS.keepAliveBufferMs;
  const { checkTimeoutsEveryMs, connections, connectionsPerAddress } = SOCKET_LIMITS;
  const answered = Math.max(headersTimeoutMs, requestTimeoutMs) + lingerMs + 2 * checkTimeoutsEveryMs;
  const cut = Math.max(waitMs, stalledMs, idle) + 2 * checkTimeoutsEveryMs;
  // The rest of the 15 s is for a busy machine.
  expect(Math.max(answered, cut)).toBeLessThanOrEqual(12_000);
  expect(IN_FLIGHT_LIMITS.total).toBeLessThan(connectionsPerAddress);
  expect(connectionsPerAddress).toBeLessThan(connections);
  expect(connections).toBeLessThan(1_024 - 128);
});
