/** The guards refuse foreign hosts and origins, ambiguous addresses, wrong bodies and floods before any work. */
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { problemOfJson } from "../../app/wire/strict-json.ts";
import type { Listening } from "../../server/create-server.ts";
import { MOST_BODY_BYTES } from "../../server/guards/body.ts";
import { ContextServer, packThat, SECRET, tokenFor } from "./fixtures/context-server.ts";

const STORE = "/api/v1/memory/store";

let served: ContextServer;
let alice: ReturnType<ContextServer["as"]>;
beforeEach(async () => {
  served = await ContextServer.open({
    allowedHosts: ["deck", "FE80::1"],
    allowedOrigins: ["https://deck.example"],
  });
  alice = served.as();
});
afterEach(() => served.close());

async function factCount(): Promise<number> {
  const { facts } = (await alice.get("/api/v1/memory/facts")).body;
  return Array.isArray(facts) ? facts.length : Number.NaN;
}

function send(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
  return served.answerTo(STORE, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body,
  });
}

// verifies P-alone-web-page
describe("the host guard", () => {
  it.each([
    ...["localhost", "LOCALHOST:3848", "127.0.0.1:80", "[::1]:3848"],
    ...["deck", "deck:3848", "[fe80::1]:3848"],
  ])("accepts the host name %s", async (Host) => {
    expect((await alice.get("/healthz", { Host })).status).toBe(200);
  });

  it.each([
    ...["evil.example", "evil.example:3848", "localhost.evil.example", "127.0.0.1.evil.example"],
    ...["evil.example:localhost", "localhost:80:80", "0.0.0.0", "192.168.1.2", ""],
  ])("refuses the foreign host name %j", async (Host) => {
    const { status, body } = await alice.post(STORE, { key: "k", value: "v" }, { Host });
    expect([status, body.error]).toEqual([403, "forbidden"]);
    expect(await factCount()).toBe(0);
  });

  it.each(["http://localhost:5173", "https://evil.example", "null", "https://deck.example.evil.example"])(
    "refuses a browser's request of origin %s",
    async (Origin) => {
      const { status, body } = await alice.post(STORE, { key: "k", value: "v" }, { Origin });
      expect([status, body.error]).toEqual([403, "forbidden"]);
      expect(await factCount()).toBe(0);
    },
  );

  it("accepts an origin that the operator named, but sends no CORS header", async () => {
    const { status, headers } = await alice.post(
      STORE,
      { key: "k", value: "v" },
      { Origin: "https://deck.example" },
    );
    expect(status).toBe(200);
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

describe("addresses", () => {
  it.each([
    "/api/v1/memory/facts/%FF",
    "/api/v1/memory/facts/%C3%28",
    "/api/v1/memory/facts?prefix=%E0%A4%A",
    "/api/v1/memory/facts?limit=1&limit=2",
    "/api/v1/memory/facts?limit=1&%6Cimit=2",
  ])("are refused if they are ambiguous: %s", async (path) => {
    const { status, body } = await alice.get(path);
    expect([status, body.error]).toEqual([400, "invalid_input"]);
  });

  it("without a route are not_found", async () => {
    for (const path of "/ /api /api/v2/memory /api/v1/memory/facts/ /healthz/ /favicon.ico".split(" ")) {
      const { status, body } = await alice.get(path);
      expect([path, status, body.error]).toEqual([path, 404, "not_found"]);
    }
  });

  it.each([
    ["PUT", STORE, "POST, OPTIONS"],
    ["GET", "/api/v1/memory/forget", "POST, OPTIONS"],
    ["POST", "/healthz", "GET, HEAD, OPTIONS"],
    ["DELETE", "/api/v1/memory/facts/k", "GET, HEAD, OPTIONS"],
  ])("with another method list the allowed methods: %s %s", async (method, path, allow) => {
    const body = method === "POST" ? "{}" : null;
    const answer = await served.answerTo(path, {
      method,
      body,
      headers: { "Content-Type": "application/json" },
    });
    expect([answer.status, answer.body.error]).toEqual([405, "method_not_allowed"]);
    expect(answer.headers.get("allow")).toBe(allow);
  });

  it("answer HEAD without a body, and OPTIONS with the methods", async () => {
    const head = await served.answerTo("/healthz", { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
    const options = await served.answerTo(STORE, { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, "POST, OPTIONS"]);
  });
});

describe("bodies", () => {
  it.each([
    ["empty", ""],
    ["blank", "  "],
    ["cut off", '{"key":"k","value":"v"'],
    ["not JSON", "key=k&value=v"],
    ["with a comment", '{"key":"k","value":"v"} // so'],
    ["with a byte order mark", '\ufeff{"key":"k","value":"v"}'],
    ["with a field twice", '{"key":"k","value":"v","value":"w"}'],
    ["with a field twice, once escaped", '{"key":"k","value":"v","\\u0076alue":"w"}'],
    ["with a field twice, deep inside", '{"key":"k","value":"v","x":[{"a":1,"a":2}]}'],
    ["nested without end", `{"key":"k","value":"v","x":${"[".repeat(65)}${"]".repeat(65)}}`],
    ["with half a surrogate pair", '{"key":"\\ud800","value":"v"}'],
    ["null", "null"],
    ["a number", "7"],
  ])("that are %s are refused", async (_what, body) => {
    const answer = await send(body);
    expect([answer.status, answer.body.error]).toEqual([400, "invalid_input"]);
    expect(await factCount()).toBe(0);
  });

  it("that are not UTF-8 are refused", async () => {
    const bytes = Uint8Array.from(Buffer.from('{"key":"k","value":"\xff"}', "latin1"));
    expect((await send(bytes)).status).toBe(400);
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/jsonp",
    "text/json",
    "",
    "application/json; charset=latin1",
  ])("of type %j are refused, because a web page's form can send them", async (type) => {
    const answer = await send('{"key":"k","value":"v"}', { "Content-Type": type });
    expect([answer.status, answer.body.error]).toEqual([415, "unsupported_media_type"]);
    expect(await factCount()).toBe(0);
  });

  it("that are compressed are refused", async () => {
    expect((await send("{}", { "Content-Encoding": "gzip" })).status).toBe(415);
  });

  it("beyond the limit are refused, with and without a length, and nothing is written", async () => {
    const large = JSON.stringify({ key: "k", value: "v".padEnd(MOST_BODY_BYTES) });
    for (const headers of [{}, { "Content-Length": String(large.length) }]) {
      const { status, body } = await send(large, headers);
      expect([status, body.error]).toEqual([413, "too_large"]);
    }
    expect(await factCount()).toBe(0);
  });

  it("with the names of built-in object properties count as unknown fields", async () => {
    for (const name of ["__proto__", "constructor", "prototype", "toString"]) {
      const { status, body } = await send(`{"key":"k","value":"v","${name}":{"dry_run":true,"polluted":1}}`);
      expect([name, status, body.error]).toEqual([name, 400, "invalid_input"]);
    }
    expect({}).not.toHaveProperty("polluted");
  });
});

describe("ambiguous JSON", () => {
  it("is distinguished from valid JSON that looks similar", () => {
    for (const text of [
      '{"a":{"a":1},"b":"a"}',
      '["a","a"]',
      '{"a":"\\"a\\":1,\\"a\\""}',
      '[{"a":1},{"a":1}]',
      '"{{{["',
    ])
      expect(problemOfJson(text), text).toBeUndefined();
    for (const text of ['{"a":1,"a":1}', '[{"a" : 1, "a" : 2}]', '{"a":{},"b":[],"a":0}', '{"":1,"":2}'])
      expect(problemOfJson(text), text).toContain("duplicate");
  });
});

describe("rate limits", () => {
  it("apply to each caller, who is told how long to wait", async () => {
    const limited = await ContextServer.open({ secret: SECRET, requestsPerMinute: 3 });
    const [first, second] = [limited.as(await tokenFor("alice")), limited.as(await tokenFor("bob"))];
    for (let n = 0; n < 3; n += 1) expect((await first.get("/api/v1/packs")).status).toBe(200);
    const { status, body, headers } = await first.get("/api/v1/packs");
    expect([status, body.error]).toEqual([429, "rate_limited"]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await second.get("/api/v1/packs")).status).toBe(200);
    await limited.close();
  });

  it("apply by address to clients without a valid token, without slowing down others", async () => {
    const limited = await ContextServer.open({ secret: SECRET, requestsPerMinute: 3 });
    const statuses: number[] = [];
    for (let n = 0; n < 5; n += 1) statuses.push((await limited.as("guess").get("/api/v1/packs")).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect((await limited.as().get("/healthz")).status).toBe(429);
    expect((await limited.as(await tokenFor("alice")).get("/api/v1/packs")).status).toBe(200);
    await limited.close();
  });
});

describe("an address that has used up its requests without a token", () => {
  let limited: ContextServer;
  let listening: Listening;
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${listening.url}${path}`, { headers });

  beforeEach(async () => {
    limited = await ContextServer.open({ secret: SECRET, requestsPerMinute: 3 });
    listening = await limited.server.listen({ port: 0 });
    for (let n = 0; n < 4; n += 1) await (await ask("/api/v1/packs")).text();
  });
  afterEach(async () => {
    await listening.close();
    await limited.close();
  });

  it("is refused before any other check, and its connections are closed", async () => {
    for (const path of ["/api/v1/packs", "/healthz", "/no/such/route"]) {
      const refused = await ask(path);
      expect([refused.status, refused.headers.get("connection")]).toEqual([429, "close"]);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(refused.headers.get("x-request-id")).toBeNull(); // the request handling was never reached
      expect(await refused.json()).toMatchObject({ error: "rate_limited" });
    }
    const guessed = await ask("/api/v1/packs", { Authorization: "Bearer guess" });
    expect([guessed.status, guessed.headers.get("connection")]).toEqual([429, "close"]);
  });

  it("gets one answer per connection, however many requests it sends at once", async () => {
    const flood = connect(listening.port, listening.address);
    flood.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(20));
    expect((await text(flood)).match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 429"]);
  });

  it("does not block valid tokens, not even on the open routes", async () => {
    const Authorization = `Bearer ${await tokenFor("alice")}`;
    for (const path of ["/api/v1/packs", "/healthz", "/readyz"]) {
      expect((await ask(path, { Authorization })).status).toBe(200);
    }
    // They count against the caller like any other request.
    expect((await ask("/healthz", { Authorization })).status).toBe(429);
  });
});

describe("concurrent requests", () => {
  const STORE_RUN = "/api/v1/packs/test.do";

  it("are limited for each caller, and do not count towards another caller's limit", async () => {
    const held = Promise.withResolvers<void>();
    const slow = packThat(async () => held.promise.then(() => ({})));
    const busy = await ContextServer.open({
      packs: [slow],
      secret: SECRET,
      inFlight: { perCaller: 2, total: 4 },
    });
    const as = async (subject: string) => busy.as(await tokenFor(subject));
    const runs: Promise<{ readonly status: number }>[] = [];
    for (const subject of ["ana", "ana", "ben", "ben"]) runs.push((await as(subject)).post(STORE_RUN, {}));
    const refused = await (await as("ana")).get("/api/v1/packs");
    expect([refused.status, refused.body.error]).toEqual([429, "rate_limited"]);
    expect((await (await as("cleo")).get("/api/v1/packs")).status).toBe(200);
    held.resolve();
    expect((await Promise.all(runs)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await (await as("ana")).get("/api/v1/packs")).status).toBe(200);
    await busy.close();
  });
});

describe("every answer", () => {
  it("forbids browsers to render, frame, sniff or cache it", async () => {
    for (const path of ["/healthz", "/api/v1/packs", "/no/such/route"]) {
      const { headers } = await alice.get(path);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-powered-by")).toBeNull();
    }
  });
});
