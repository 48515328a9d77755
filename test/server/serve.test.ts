/** `helmdeck-memory serve` as an operator runs it: a real process, real sockets, real signals. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, get, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { BUNDLED_COMMAND } from "../cli/command.ts";
import { InProcessHome } from "../cli/in-process.ts";
import { newClient } from "./fixtures/mcp-client.ts";

const SECRET = "a-secret-for-the-tests-of-the-serve-command";
const KEY = "0f".repeat(32);

let home: InProcessHome;
const running = new Set<ReturnType<InProcessHome["start"]>>();

beforeEach(() => {
  home = new InProcessHome();
});
afterEach(async () => {
  for (const child of running) {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
  running.clear();
  home.remove();
});

interface Served {
  readonly url: string;
  readonly summary: Record<string, unknown>;
  readonly process: ReturnType<InProcessHome["start"]>;
  /** The complete stderr, once the process has ended. */
  readonly log: Promise<string>;
  readonly ended: Promise<unknown[]>;
}

function start(args: readonly string[], env: Record<string, string> = { HELMDECK_MEMORY_KEY: KEY }) {
  const child = home.start(["serve", "--port", "0", ...args], { env });
  running.add(child);
  return child;
}

/** Resolves when the process reports that it serves. */
async function serve(args: readonly string[] = [], env: Record<string, string> = {}): Promise<Served> {
  const child = start(["--json", ...args], { HELMDECK_MEMORY_KEY: KEY, ...env });
  const log = text(child.stderr);
  const ended = once(child, "close");
  const [line] = await Promise.race([
    once(createInterface(child.stdout), "line"),
    ended.then(async () => [`{"failed": ${JSON.stringify(await log)}}`]),
  ]);
  const summary = JSON.parse(line);
  expect(summary.failed).toBeUndefined();
  return { url: summary.url, summary, process: child, log, ended };
}

function store(url: string, fact: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/api/v1/memory/store`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(fact),
  });
}

/** `fetch` always sends the Host of its address, so this uses `node:http`. */
async function atHost(url: string, host: string): Promise<{ readonly status: number | undefined }> {
  const [answer] = await once(get(url, { headers: { host } }), "response");
  answer.resume();
  return { status: answer.statusCode };
}

describe("serve", () => {
  it("begins its log, wherever both streams go, with version, address, memory and callers as JSON", async () => {
    const child = start([]);
    const [lines, log] = [child.stdout, child.stderr].map((stream) => text(stream));
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    const [said, first] = [(await lines) ?? "", (await log) ?? ""].map(
      (all) =>
        all
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))[0],
    );
    expect(said).toMatchObject({
      ...{
        version: manifest.version,
        node: process.versions.node,
        url: expect.stringMatching(/^http:.*:\d+$/),
      },
      ...{ memory: "ready", database: home.databasePath, authentication: null },
    });
    expect(first).toEqual({ ...said, level: "info", time: expect.any(String), msg: "started" });
    expect(await log).not.toContain(KEY);
  });

  it.runIf(existsSync("/proc/self/cmdline"))(
    "keeps little garbage, unless another size was chosen",
    async () => {
      const startedWith = async (env: Record<string, string>): Promise<readonly string[]> => {
        const { process } = await serve(["--log-level", "warn"], env);
        return readFileSync(`/proc/${process.pid}/cmdline`, "utf8").split("\0").slice(1, -1);
      };
      const [young, old, , ...args] = await startedWith({});
      expect([young, old, ...args]).toEqual([
        ...["--max-semi-space-size=8", "--heap-growing-percent=50"],
        ...["serve", "--port", "0", "--json", "--log-level", "warn"],
      ]);
      const chosen = await startedWith({ NODE_OPTIONS: "--max-semi-space-size=32" });
      expect(chosen).not.toContain("--max-semi-space-size=8");
    },
  );

  it("accepts tokens made by `token`, and shares memory with the command line", async () => {
    const env = { HELMDECK_JWT_SECRET: SECRET, HELMDECK_MEMORY_KEY: KEY };
    const { url, summary } = await serve(["--require-memory"], env);
    expect(summary).toMatchObject({ memory: "ready", authentication: "HELMDECK_JWT_SECRET" });
    expect(summary).toMatchObject({ notice: "It is empty: nothing was stored there yet." });
    expect((await store(url, { key: "k", value: "v" })).status).toBe(401);
    const token = (await home.run(["token", "--subject", "main"], { env })).stdout.trim();
    const stored = await store(
      url,
      { key: "deploy", value: "Konflux" },
      { Authorization: `Bearer ${token}` },
    );
    expect(stored.status).toBe(200);
    expect((await home.run(["get", "deploy"], { env })).stdout).toBe("Konflux\n");
  });

  it("without a key and without data keeps memory in the process only, and warns", async () => {
    const child = start(["--json"], {});
    const log = text(child.stderr);
    const [line] = await once(createInterface(child.stdout), "line");
    const summary = JSON.parse(line);
    expect(summary).toMatchObject({ memory: "ephemeral", database: null });
    expect((await store(summary.url, { key: "k", value: "v" })).status).toBe(200);
    child.kill("SIGTERM");
    const lines = (await log)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toContainEqual({
      ...{ level: "warn", time: expect.any(String), msg: "memory is not kept" },
      problem: expect.stringMatching(/^There is no key, so memory exists only while this process runs/),
    });
  });

  // verifies P-quiet-words
  it("logs ids, routes, statuses and times, and nothing of the request's content", async () => {
    const env = { HELMDECK_JWT_SECRET: SECRET };
    const served = await serve([], env);
    const token = (await home.run(["token", "--subject", "canary-subject"], { env })).stdout.trim();
    const headers = { Authorization: `Bearer ${token}` };
    await store(served.url, { key: "canary-key", value: "canary-value", tags: ["canary-tag"] }, headers);
    await store(served.url, { key: "canary-key", value: "canary-value", category: "Canary!" }, headers);
    await fetch(`${served.url}/api/v1/memory/facts/canary-key?x=canary-query`, { headers });
    await fetch(`${served.url}/api/v1/memory/corpus?query=canary-query`, { headers });
    await fetch(`${served.url}/api/v1/memory/facts`, { headers: { Authorization: "Bearer canary-token" } });
    served.process.kill("SIGTERM");
    const log = await served.log;
    const lines = log
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.filter(({ msg }) => msg === "request")).toMatchObject([
      { method: "POST", route: "/api/v1/memory/store", status: 200, ms: expect.any(Number) },
      { method: "POST", route: "/api/v1/memory/store", status: 400, requestId: expect.any(String) },
      { method: "GET", route: "/api/v1/memory/facts/:key", status: 400 },
      { method: "GET", route: "/api/v1/memory/corpus", status: 200 },
      { method: "GET", route: "/api/v1/memory/facts", status: 401 },
    ]);
    expect(log.toLowerCase()).not.toContain("canary");
    for (const secret of [SECRET, KEY, token]) expect(log).not.toContain(secret);
  });
});

describe("the pages of serve", () => {
  it.runIf(existsSync("/usr/bin/script"))(
    "are at a terminal's second line, and show whose memory it is",
    async () => {
      // An iterator keeps lines that arrive at the same time.
      const command = `'${process.execPath}' '${BUNDLED_COMMAND}' serve --port 0 2>/dev/null`;
      const terminal = spawn("script", ["-qec", command, "/dev/null"], {
        env: { PATH: process.env.PATH, HOME: home.folder, HELMDECK_MEMORY_KEY: KEY },
        stdio: ["pipe", "pipe", "inherit"],
      });
      const lines = createInterface(terminal.stdout)[Symbol.asyncIterator]();
      const { value: served } = await lines.next();
      const { value: pages = "" } = await lines.next();
      onTestFinished(() => void terminal.kill());
      const [, url = ""] =
        /^Open the Agent memory pages in a browser: (http:\/\/127\.0\.0\.1:\d+\/)$/.exec(pages) ?? [];
      expect(served).toMatch(
        /^helmdeck-memory serves \S+ · memory on, database \S+memory\.sqlite, key from HELM/,
      );
      expect(served).toContain(`serves ${url.slice(0, -1)} `);
      expect(served).toContain('no authentication, every caller is "unknown"');
      const page = await fetch(url);
      expect([page.status, page.headers.get("content-type")]).toEqual([
        200,
        expect.stringMatching(/^text\/html/),
      ]);
      expect(await page.text()).toContain("unknown");
    },
  );

  it("ask for a token if the server has a secret, under the public name too", async () => {
    const args = ["--public-origin", "https://deck.example"];
    const { url, summary } = await serve(args, { HELMDECK_JWT_SECRET: SECRET });
    expect(summary.pages).toBe("https://deck.example/");
    const page = await fetch(`${url}/`);
    expect([page.status, await page.text()]).toEqual([401, expect.stringContaining('name="token"')]);
    expect((await atHost(url, "deck.example")).status).toBe(401);
    expect((await atHost(url, "evil.example")).status).toBe(403);
  });

  it("have an address that a browser on this machine can open, wherever the server listens", async () => {
    const { url, summary } = await serve(["--host", "0.0.0.0"], { HELMDECK_JWT_SECRET: SECRET });
    expect(summary.pages).toBe(`http://localhost:${new URL(url).port}/`);
    expect((await fetch(`${summary.pages}`)).status).toBe(401);
  });

  it("are absent with --no-pages, as packs are over MCP with --no-packs", async () => {
    const { url, summary } = await serve(["--no-pages", "--no-packs"]);
    expect(summary.pages).toBeNull();
    const client = newClient();
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/api/v1/mcp`)));
    const { tools } = await client.listTools();
    expect(tools.filter(({ name }) => !name.startsWith("helmdeck__memory_"))).toEqual([]);
    expect(tools).toHaveLength(10);
    await client.close();
    const page = await fetch(`${url}/`, { headers: { Accept: "text/html" } });
    expect([page.status, await page.json()]).toEqual([404, expect.objectContaining({ error: "not_found" })]);
  });

  it.each([
    ...["deck.example", "ftp://deck.example", "https://user@deck.example", "https://deck.example/a?b"],
    ...["https://deck.example/a/#b", "https://deck.example/a//b", "https://deck.example/%61"],
  ])("have no public origin %s", async (origin) => {
    const { code, stderr } = await home.run(["serve", "--port", "0", "--public-origin", origin]);
    expect(code).toBe(2);
    expect(stderr).toContain("It must be of the form https://deck.example or https://example.org/deck.");
  });

  it.each(["/api", "/facts/deck", "/healthz"])(
    "have no public path %s, which is also a route",
    async (path) => {
      const address = `https://deck.example${path}`;
      const { code, stderr } = await home.run(["serve", "--port", "0", "--public-origin", address]);
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^invalid_input: public-origin must not have a path that begins with/),
      ]);
    },
  );
});

/** A reverse proxy for `/deck` of its host, where other paths belong to others. It passes the path on, or leaves `/deck` out. */
async function proxyAt(strips: boolean) {
  let target = "";
  const proxy = createServer((asked, answer) => {
    const { url: path = "", method, headers } = asked;
    if (!/^\/deck(?:\/|$)/.test(path)) {
      answer.writeHead(418).end();
      return;
    }
    const passed = strips ? path.slice("/deck".length) : path;
    const passing = request(`${target}${passed}`, { method, headers }, (found) => {
      answer.writeHead(found.statusCode ?? 0, found.headers);
      found.pipe(answer);
    });
    asked.pipe(passing);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => void proxy.close().closeAllConnections());
  const { port } = proxy.address() as AddressInfo; // it listens on TCP
  return {
    origin: `http://127.0.0.1:${port}`,
    lead: (to: string) => {
      target = to;
    },
  };
}

describe("behind a proxy that serves it below a path", () => {
  it.each([
    ["passes on", false],
    ["leaves out", true],
  ])("that the proxy %s, no address leads out of it", async (_, strips) => {
    const { origin, lead } = await proxyAt(strips);
    const env = { HELMDECK_JWT_SECRET: SECRET };
    const { url, summary } = await serve(["--public-origin", `${origin}/deck/`], env);
    lead(url);
    expect(summary.pages).toBe(`${origin}/deck/`);
    const token = (await home.run(["token", "--subject", "main"], { env })).stdout.trim();
    let cookie = "";
    const ask = async (path: string, form?: Record<string, string>) => {
      const headers = {
        Accept: "text/html",
        "Sec-Fetch-Site": "same-origin",
        Origin: origin,
        Cookie: cookie,
      };
      const sent = form && { method: "POST", body: new URLSearchParams(form) };
      const answer = await fetch(new URL(path, origin), { headers, redirect: "manual", ...sent });
      const body = await answer.text();
      const addresses = [...body.matchAll(/(?:href|action)="(\/[^"]*)"/g)].map(([, to = ""]) => to);
      const to = answer.headers.get("location");
      for (const address of [...addresses, ...(to === null ? [] : [to])])
        expect(address, path).toMatch(/^\/deck\//);
      return { answer, body, to: to ?? "", addresses: addresses.map((one) => one.replaceAll("&amp;", "&")) };
    };
    const signingIn = await ask("/deck/");
    const [signIn = ""] = signingIn.addresses.filter((to) => to.endsWith("sign-in"));
    const signedIn = await ask(signIn, { token });
    expect(signedIn.answer.headers.getSetCookie()).toEqual([expect.stringContaining("Path=/deck;")]);
    cookie = signedIn.answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const { body } = await ask(signedIn.to);
    const form_token = /name="form_token" value="([^"]+)"/.exec(body)?.[1] ?? "";
    await ask("/deck/remember", { form_token, key: "tea", value: "oolong" });

    const api = (path: string, body?: object) =>
      fetch(`${origin}/deck${path}`, {
        headers: {
          Authorization: `Bearer ${token}`,
          Accept: "application/json, text/event-stream",
          "Content-Type": "application/json",
        },
        ...(body && { method: "POST", body: JSON.stringify(body) }),
      });
    expect((await api("/api/v1/memory/store", { key: "milk", value: "oat" })).status).toBe(200);
    const { servers } = (await (await api("/api/v1/openapi.json")).json()) as { servers?: unknown };
    expect(servers).toEqual([{ url: `${origin}/deck` }]);
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    };
    const hello = { jsonrpc: "2.0", id: 1, method: "initialize", params };
    expect((await api("/api/v1/mcp", hello)).status).toBe(200);
    const run = await api("/api/v1/pipelines/github.open-issues/run?wait=false", { owner: "a", repo: "b" });
    expect(run.headers.get("location")).toMatch(/^\/deck\/api\/v1\/pipelines\/runs\//);

    const seen = new Set(["/deck/nowhere"]);
    for (const path of seen) {
      const { answer, addresses } = await ask(path);
      expect([200, 404, 405], path).toContain(answer.status);
      for (const to of addresses) seen.add(to);
      if (path === "/deck/nowhere") seen.add(signedIn.to);
    }
    expect([...seen].filter((path) => path.includes("key=milk")).length).toBeGreaterThan(3);
    expect((await ask("/deck/sign-out", { form_token })).to).toBe("/deck/");
    expect((await ask("/deck/")).answer.status).toBe(401);
  });
});

describe("serve does not start", () => {
  it.each<[string, readonly string[], Record<string, string>, string]>([
    [
      "with a malformed key and --require-memory",
      ["--require-memory"],
      { HELMDECK_MEMORY_KEY: "abc" },
      "memory_unavailable",
    ],
    ["without a key and with --require-memory", ["--require-memory"], {}, "memory_unavailable"],
    ["on an open address without authentication", ["--host", "0.0.0.0"], {}, "forbidden"],
    ["with a short secret", [], { HELMDECK_JWT_SECRET: "short" }, "key_malformed"],
    ["with a missing folder of pipelines", ["--pipelines", "/no/such/folder"], {}, "invalid_input"],
  ])("%s, and reports it in one line", async (_what, args, env, error) => {
    const { code, stdout, stderr } = await home.run(["serve", "--port", "0", ...args], { env });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(new RegExp(`^${error}: .+\\n$`));
  });

  it("on a port that is in use, and reports it in one line", async () => {
    const { url } = await serve();
    const { code, stderr } = await home.run(["serve", "--port", new URL(url).port], {
      env: { HELMDECK_MEMORY_KEY: KEY },
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^invalid_input: Cannot listen on 127\.0\.0\.1 port \d+: another process uses it.+\n$/,
    );
  });
});

describe("a server that gets SIGHUP", () => {
  it("takes new settings that it can take, says which need a restart, and keeps serving", async () => {
    const file = home.path("serve.yml");
    await home.write("serve.yml", "log-level: info\nport: 0\nindex-memory: 64\n");
    const served = await serve(["--config", file]);
    expect((await atHost(served.url, "deck.example")).status).toBe(403);
    const limits = "limits: {unknown: {rate: 5, entries: 1}}\n";
    await home.write(
      "serve.yml",
      `log-level: warn\nallow-host: [deck.example]\nindex-memory: 128\n${limits}`,
    );
    const taken = untilLogged(served.process, "settings were read again");
    served.process.kill("SIGHUP");
    await taken;
    expect((await atHost(served.url, "deck.example")).status).toBe(200);
    const stored: number[] = [];
    for (const key of ["a", "b", "c", "d", "e"])
      stored.push((await store(served.url, { key, value: "v" })).status);
    expect(stored).toEqual([200, 507, 507, 507, 429]); // its entries and its rate
    await home.write("serve.yml", "rate-limit: few\n");
    const refused = untilLogged(served.process, "settings are not read again");
    served.process.kill("SIGHUP");
    await refused;
    expect((await atHost(served.url, "deck.example")).status).toBe(429);
    served.process.kill("SIGTERM");
    const log = (await served.log).trim().split("\n");
    expect(
      log
        .map((line) => JSON.parse(line))
        .filter(({ level, msg }) => (level !== "info" || msg.startsWith("settings")) && msg !== "request"),
    ).toMatchObject([
      {
        ...{ level: "info", msg: "settings were read again" },
        changed: ["allow-host", "limits", "log-level"],
        needRestart: ["index-memory"],
      },
      { where: "rate-limit in the settings file", problem: "It must be a whole number from 0." },
      { msg: "audit", action: "settings_changed", outcome: "refused" },
    ]);
    expect(log.filter((line) => /"level":"info".*"request"/.test(line))).toHaveLength(1); // before the level was warn
    expect(await served.ended).toEqual([0, null]);
  });
});

describe("a server that is stopped", () => {
  it.each(["SIGTERM", "SIGINT"] as const)("by %s ends with exit code 0", async (signal) => {
    const { process: child, ended, url } = await serve();
    await store(url, { key: "k", value: "v" }); // leaves a connection open
    child.kill(signal);
    expect(await ended).toEqual([0, null]);
  });

  it("by a second signal ends at once, even with requests still running", async () => {
    const { process: child, ended, url } = await serve();
    const { socket } = beginRequest(url);
    await fetch(`${url}/healthz`); // by then the server has accepted the other connection too
    const stopping = untilLogged(child, "stopping");
    child.kill("SIGTERM");
    await stopping;
    child.kill("SIGTERM");
    expect(await ended).toEqual([null, "SIGTERM"]);
    socket.destroy();
  });

  it("first says so at /readyz for as long as it shall drain, and goes on serving", async () => {
    const config = home.path("serve.yml");
    await home.write("serve.yml", "drain-seconds: 1\nport: 0\n");
    const { process: child, ended, url } = await serve(["--config", config, "--drain-seconds", "600"]);
    const draining = untilLogged(child, "draining");
    child.kill("SIGTERM");
    await draining;
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([
      503,
      { status: "unavailable", memory: "ready" },
    ]);
    const stored = await store(url, { key: "k", value: "v" });
    expect([stored.status, stored.headers.get("connection")]).toEqual([200, "close"]);
    child.kill("SIGTERM");
    expect(await ended).toEqual([null, "SIGTERM"]);
    const brief = await serve(["--config", config]);
    brief.process.kill("SIGTERM");
    expect(await brief.ended).toEqual([0, null]);
  });

  // verifies P-durable-kill
  it("by kill -9 between request and answer keeps every acknowledged write", async () => {
    const acknowledged: string[] = [];
    for (let cycle = 0; cycle < 2; cycle += 1) {
      const served = await serve();
      await storeUntilKilled(served, `cycle-${cycle}`, acknowledged);
    }
    const { url } = await serve();
    const kept = await allKeys(url);
    expect(acknowledged.length).toBeGreaterThanOrEqual(60);
    expect(acknowledged.filter((key) => !kept.has(key))).toEqual([]);
  });
});

/** Sends a request up to its body's first byte. */
function beginRequest(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on("error", () => {});
  socket.write(
    "POST /api/v1/packs/x HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
  );
  const finish = async (): Promise<string> => {
    socket.write('"a": 12}');
    const [answer] = await once(socket, "data");
    return String(answer);
  };
  return { socket, finish };
}

function untilLogged(child: Served["process"], words: string): Promise<void> {
  return new Promise((resolve) => {
    createInterface(child.stderr).on("line", (line) => {
      if (line.includes(words)) resolve();
    });
  });
}

/** Eight concurrent writers. The server is killed after thirty answers, while other requests are in progress. */
async function storeUntilKilled(served: Served, name: string, acknowledged: string[]): Promise<void> {
  let answers = 0;
  const writer = async (id: number) => {
    for (let n = 0; ; n += 1) {
      const key = `${name}/${id}/${n}`;
      const response = await store(served.url, { key, value: `value of ${key}` });
      if (response.status !== 200) throw new Error(`status ${response.status}`);
      acknowledged.push(key);
      answers += 1;
      if (answers === 30) served.process.kill("SIGKILL");
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: 8 }, (_, id) => writer(id)));
  for (const end of ends) if (end.status === "rejected") expect(String(end.reason)).toContain("fetch failed");
  expect(await served.ended).toEqual([null, "SIGKILL"]);
}

async function allKeys(url: string): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  let cursor = "";
  do {
    const response = await fetch(`${url}/api/v1/memory/facts?limit=1000${cursor}`);
    const page = (await response.json()) as { facts: { key: string; value: string }[]; next_cursor?: string };
    for (const { key, value } of page.facts) if (value === `value of ${key}`) keys.add(key);
    cursor = page.next_cursor === undefined ? "" : `&cursor=${encodeURIComponent(page.next_cursor)}`;
  } while (cursor !== "");
  return keys;
}
