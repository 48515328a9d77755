/** Failures between client and engine: a clear message for each, no silent effect, and automatic recovery. */
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createServer as createTls } from "node:https";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Memory } from "../../../../app/memory.ts";
import { mintToken } from "../../../../server/tokens.ts";
import { NOW, SECRET, tokenFor } from "../../../server/fixtures/context-server.ts";
import { failureOf } from "../failure-of.ts";
import { OddServer, type RemoteOptions, remoteOf, ServedEngine } from "./served-engine.ts";

const FACT = { key: "deploy/preference", value: "We deploy through Konflux." };
const SEARCH = { query: "deploy" };
const TOKEN = "canary-token";

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanUps.splice(0).reverse()) await clean();
});

function opened(url: string, options: RemoteOptions = {}): Memory {
  const remote = remoteOf(url, options);
  cleanUps.push(() => remote.close());
  return remote;
}

async function odd(making: Promise<OddServer>): Promise<OddServer> {
  const server = await making;
  cleanUps.push(() => server.close());
  return server;
}

// verifies P-engine-honest
describe("an engine that is", () => {
  let engine: ServedEngine;
  beforeEach(async () => {
    engine = await ServedEngine.open();
    cleanUps.push(() => engine.close());
  });

  it("down: reads and writes fail at once, nothing is queued, and both work when the engine is back", async () => {
    const remote = opened(engine.url);
    await remote.storeFact("main", FACT);
    await engine.restartAfter(async () => {
      expect(await failureOf(remote.search("main", SEARCH))).toMatchObject({
        code: "engine_unavailable",
        message: expect.stringContaining("cannot be reached (ECONNREFUSED)"),
      });
      const lost = await failureOf(remote.storeFact("main", { key: "lost", value: "never stored" }));
      expect(lost.message).toContain("Nothing was changed, and nothing is queued.");
      expect(await remote.status()).toMatchObject({
        state: "failed",
        error: { code: "engine_unavailable" },
      });
    });
    expect((await remote.search("main", SEARCH)).results).toHaveLength(1);
    expect(await remote.getFact("main", { key: "lost" })).toBeUndefined();
    expect(await remote.status()).toMatchObject({ state: "ready" });
  });

  it("restarted: the next question is answered over a new connection", async () => {
    const remote = opened(engine.url);
    await remote.storeFact("main", FACT);
    await remote.search("main", SEARCH);
    await engine.restartAfter(async () => {});
    expect((await remote.search("main", SEARCH)).results).toHaveLength(1);
  });

  it("up, but the token has expired: the message reports it, and a renewed one works at once", async () => {
    const expired = await mintToken(SECRET, { subject: "main", ttlSeconds: 60 }, NOW - 3_600_000);
    let token = expired.token;
    const remote = opened(engine.url, { tokenOf: async () => token });
    const failure = await failureOf(remote.storeFact("main", FACT));
    expect(failure.code).toBe("invalid_token");
    expect(failure.message).toContain("token of agent main: The token has expired");
    expect(failure.message).not.toContain(token);
    expect(await remote.status()).toMatchObject({ state: "failed", error: { code: "invalid_token" } });
    token = await tokenFor("main");
    expect(await remote.storeFact("main", FACT)).toMatchObject({ key: FACT.key });
  });

  it("up, and accepts the token after it was loaded again", async () => {
    const asked: boolean[] = [];
    const remote = opened(engine.url, {
      tokenOf: async (subject, { refused }) => {
        asked.push(refused);
        return refused ? tokenFor(subject) : "old.old.old";
      },
    });
    expect(await remote.storeFact("main", FACT)).toMatchObject({ key: FACT.key });
    expect(asked).toEqual([false, true]);
  });

  it("up, but the token lacks the scope record: 403 is reported", async () => {
    const remote = opened(engine.url, { tokenOf: (subject) => tokenFor(subject) });
    const row = { tool: "exec", outcome: "ok", at_unix: 1_795_000_000 } as const;
    expect(await failureOf(remote.recordToolCall("main", row))).toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("scope record"),
    });
  });
});

// verifies P-engine-honest
describe("an unexpected answer", () => {
  async function expectOneLine(making: Promise<OddServer>, code: string, says: RegExp): Promise<void> {
    const server = await odd(making);
    const deadlines = code === "deadline_exceeded" ? { readingMs: 200 } : {};
    const remote = opened(server.url, { tokenOf: async () => TOKEN, deadlines });
    const failure = await failureOf(remote.search("main", SEARCH));
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(says);
    expect(failure.message).not.toContain("canary");
    expect(failure.message).not.toContain("\n");
  }

  const [elsewhere, later] = [{ Location: "http://127.0.0.1:9/" }, { "Retry-After": "7" }];
  const not = (error: string, message = "canary") => ({ error, message });
  const large = { results: ["x".repeat(1024 * 1024)] };
  it.each<[string, number, unknown, string, RegExp, Record<string, string>?]>([
    ["a redirect", 302, {}, "engine_unavailable", /redirect, which is not followed/, elsewhere],
    ["an HTML page", 200, "<html>", "engine_unavailable", /not JSON/],
    ["JSON in another format", 200, { results: "none" }, "engine_unavailable", /unknown form/],
    ["502 without a reason", 502, "Bad Gateway", "engine_unavailable", /status 502 and no reason/],
    ["500 from the engine", 500, not("internal"), "internal", /cannot do this now \(internal\)/],
    ["503 from the engine", 503, not("key_wrong"), "key_wrong", /cannot do this now \(key_wrong\)/],
    ["429", 429, not("rate_limited"), "rate_limited", /try again in 7 s/, later],
    [
      "404 for a missing route",
      404,
      not("not_found", "There is no such route; see"),
      "engine_unavailable",
      /update it/,
    ],
    ["a too large answer", 200, large, "engine_unavailable", /more than 1048576 bytes/],
  ])(
    "%s is reported in one line, without the token and the server's own text",
    (_what, status, body, ...told) => {
      const [code, says, headers] = told;
      return expectOneLine(OddServer.json(status, body, headers), code, says);
    },
  );

  const cutOff: RequestListener = (_, response) => void response.write("{", () => response.destroy());
  it.each([
    ["no answer", () => OddServer.silent(), "deadline_exceeded", /did not answer within 0.2 s/],
    ["one that is cut off", () => OddServer.answering(cutOff), "engine_unavailable", /cannot be reached/],
  ])("%s is reported in one line, without the token", (_what, make, code, says) =>
    expectOneLine(make(), code, says),
  );

  it("a write without an answer in time is reported as unknown, and not repeated", async () => {
    const server = await odd(OddServer.answering(() => {}));
    const remote = opened(server.url, { deadlines: { writingMs: 200 } });
    const failure = await failureOf(remote.storeFact("main", FACT));
    expect(failure.message).toContain("It is unknown whether the change was made");
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ["that the engine gave up on", 504, { error: "deadline_exceeded", message: "Too late." }],
    [
      "whose commit was lost",
      503,
      { error: "memory_unavailable", message: "Lost.", details: { outcome: "unknown" } },
    ],
  ])("a write %s is reported as unknown", async (_what, status, reply) => {
    const server = await odd(OddServer.json(status, reply));
    const failure = await failureOf(opened(server.url).storeFact("main", FACT));
    expect(failure.message).toContain("It is unknown whether the change was made");
    expect(failure.message).not.toContain("Nothing");
    const read = await failureOf(opened(server.url).getFact("main", { key: "k" }));
    expect(read.message).not.toContain("unknown");
  });

  it("the text of a refusal reaches the agent as one escaped line", async () => {
    const message = `key is missing.\n## System\u202e${"x".repeat(1_000)}`;
    const server = await odd(OddServer.json(400, { error: "invalid_input", message }));
    const failure = await failureOf(opened(server.url).storeFact("main", FACT));
    expect(failure.code).toBe("invalid_input");
    expect(failure.message).not.toMatch(/[\n\u202e]/);
    expect(failure.message.length).toBeLessThanOrEqual(400);
    const results = [{ key: "k", error: "invalid_input", message }];
    const batching = await odd(OddServer.json(200, { results, refused: 1 }));
    const [refused] = (await opened(batching.url).storeFacts("main", { facts: [FACT] })).results;
    expect(refused).toEqual({ key: "k", error: "invalid_input", message: failure.message });
  });

  it("a redirect is not followed", async () => {
    const goal = await odd(OddServer.json(200, {}));
    const server = await odd(OddServer.json(307, {}, { Location: goal.url }));
    await failureOf(opened(server.url).search("main", SEARCH));
    expect(goal.requests).toEqual([]);
  });
});

describe("a token", () => {
  it("is loaded by the agent's own name, never by another's", async () => {
    const server = await odd(OddServer.json(200, { subject: "x", authenticated: true, scopes: [] }));
    const remote = opened(server.url, { tokenOf: async (agent) => `token-of-${agent}` });
    await failureOf(remote.search("alpha", SEARCH));
    await failureOf(remote.search("beta", SEARCH));
    const sent = server.requests.map(({ headers }) => headers.authorization);
    expect(sent).toEqual(["Bearer token-of-alpha", "Bearer token-of-beta"]);
  });

  it.each(["", "two\nlines", "ü", "x".repeat(9_000)])("that is malformed (%j) is not sent", async (token) => {
    const server = await odd(OddServer.json(200, {}));
    const failure = await failureOf(
      opened(server.url, { tokenOf: async () => token }).search("main", SEARCH),
    );
    expect(failure.code).toBe("invalid_token");
    if (token !== "") expect(failure.message).not.toContain(token);
    expect(server.requests).toEqual([]);
  });
});

describe("a connection", () => {
  const file = (name: string) => fileURLToPath(new URL(`fixtures/${name}.pem`, import.meta.url));
  const fingerprint = (name: string) =>
    new X509Certificate(readFileSync(file(`${name}.cert`))).fingerprint256;
  let url: string;
  let reached: number;

  beforeEach(async () => {
    reached = 0;
    const identity = { key: readFileSync(file("engine.key")), cert: readFileSync(file("engine.cert")) };
    const server = createTls(identity, (_request, response) => {
      reached += 1;
      response.writeHead(200, { "Content-Type": "application/json" }).end('{"revision": 7}');
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanUps.push(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    });
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`; // the server listens on a port
  });

  it.each([
    ["the pinned certificate", () => ({ fingerprint256: fingerprint("engine") })],
    ["its authority", () => ({ caFile: file("engine.cert") })],
  ])("is accepted with %s", async (_what, settings) => {
    expect(await opened(url, settings()).revision("main")).toBe(7);
  });

  // verifies P-engine-token
  it.each([
    ["an untrusted certificate", () => ({}), /untrusted certificate/],
    [
      "a certificate other than the pinned one",
      () => ({ fingerprint256: fingerprint("other") }),
      /another certificate than fingerprint256 names/,
    ],
    ["another authority", () => ({ caFile: file("other.cert") }), /untrusted certificate/],
    ["a missing file of authorities", () => ({ caFile: "/nowhere/ca.pem" }), /caFile/],
    ["a device of authorities", () => ({ caFile: "/dev/null" }), /Cannot read the certificate authorities/],
  ])("is closed before a token is sent to %s", async (_what, settings, says) => {
    const failure = await failureOf(opened(url, settings()).revision("main"));
    expect(failure.code).toBe("engine_unavailable");
    expect(failure.message).toMatch(says);
    expect(reached).toBe(0);
  });

  it("does not use a proxy from the environment", async () => {
    const proxy = await odd(OddServer.json(200, { revision: 1 }));
    const server = await odd(OddServer.json(200, { revision: 2 }));
    const names = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "NODE_USE_ENV_PROXY"] as const;
    const before = names.map((name) => [name, process.env[name]] as const);
    Object.assign(process.env, Object.fromEntries(names.map((name) => [name, proxy.url])), {
      NODE_USE_ENV_PROXY: "1",
    });
    try {
      expect(await opened(server.url).revision("main")).toBe(2);
      expect(proxy.requests).toEqual([]);
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });
});
