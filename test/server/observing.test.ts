/** What an operator sees of requests: their ids, their lines in the log, and when to try again. */
import pino from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { type ErrorCode, HelmdeckError } from "../../engine/errors.ts";
import type { ServerContext } from "../../packs/server-context.ts";
import { ContextServer, type ContextServerOptions, SECRET, tokenFor } from "./fixtures/context-server.ts";

const FACTS = "/api/v1/memory/facts";

let served: ContextServer | undefined;
afterEach(async () => {
  await served?.close();
  served = undefined;
});

type Line = Readonly<Record<string, unknown>>;

async function open(options: ContextServerOptions = {}, level = "info") {
  const lines: Line[] = [];
  const log = pino({ level }, { write: (line) => void lines.push(JSON.parse(line)) });
  served = await ContextServer.open({ log, ...options });
  return { served, anyone: served.as(), lines };
}

function failing(error: HelmdeckError): ContextServerOptions {
  const fail = () => Promise.reject(error);
  const change = (context: ServerContext): ServerContext => ({
    ...context,
    memory: { ...context.memory, listFacts: fail },
  });
  return { change };
}

describe("a request's id", () => {
  it("stands in the answer's header, in the body of an error, and in the log", async () => {
    const { anyone, lines } = await open();
    for (const path of [`${FACTS}/none`, "/no/such/route", `${FACTS}?limit=x`]) {
      const { headers, body } = await anyone.get(path);
      expect(body.request_id).toMatch(/^[0-9a-f-]{36}$/);
      expect([headers.get("x-request-id"), lines.at(-1)?.requestId]).toEqual([
        body.request_id,
        body.request_id,
      ]);
    }
    expect(lines.map(({ code }) => code)).toEqual(["not_found", "not_found", "invalid_input"]);
  });

  it.each(["0af7651916cd43dd8448eb211c80319c", "0AF76519-16cd-43dd-8448-eb211c80319c"])(
    "is the client's own, if it is one that proxies make: %s",
    async (id) => {
      const { anyone, lines } = await open();
      const { body } = await anyone.get(`${FACTS}/none`, { "X-Request-Id": id });
      expect([body.request_id, lines[0]?.requestId]).toEqual([id, id]);
    },
  );

  // verifies P-quiet-words
  it.each(["hunter2", "the-key-is-0f0f0f0f0f0f0f0f0f0f0f0f", "0f".repeat(32), "x".repeat(5_000), "a b", ""])(
    "is our own if the client's could say something: %s",
    async (id) => {
      const { anyone, lines } = await open();
      const { body, text } = await anyone.get(`${FACTS}/none`, { "X-Request-Id": id });
      expect(body.request_id).toMatch(/^[0-9a-f-]{36}$/);
      if (id !== "") expect(text + JSON.stringify(lines)).not.toContain(id);
    },
  );
});

describe("a request's line", () => {
  it("is a warning with code and reason if the server failed, so that --log-level warn shows these only", async () => {
    const error = new HelmdeckError("store_unavailable", "It does not answer.");
    const { anyone, lines } = await open(failing(error), "warn");
    await anyone.get(`${FACTS}/none`);
    expect(lines).toEqual([]);
    const { body } = await anyone.get(FACTS);
    expect(lines).toMatchObject([
      {
        ...{ level: 40, msg: "request", requestId: body.request_id, method: "GET", route: FACTS },
        ...{ status: 503, code: "store_unavailable", problem: "It does not answer.", ms: expect.any(Number) },
      },
    ]);
  });

  it.each(["/healthz", "/readyz", "/metrics"])("is of level debug for the probe %s", async (path) => {
    for (const [level, expected] of [
      ["info", []],
      ["debug", [expect.objectContaining({ level: 20, route: path })]],
    ] as const) {
      const { anyone, served, lines } = await open({}, level);
      await anyone.get(path);
      await served.close();
      expect(lines).toEqual(expected);
    }
  });

  // verifies P-quiet-callers
  it("names no caller, or by a keyed hash if asked for", async () => {
    const token = await tokenFor("ana");
    for (const logsCallers of [false, true]) {
      const { served, lines } = await open(
        { secret: SECRET, logsCallers, callerLimits: new Map([["ana", { bytes: 1 }]]) },
        "debug",
      );
      await served.as(token).get(FACTS);
      await served.as(token).get(`${FACTS}/none`);
      await served.as(await tokenFor("ben")).get(FACTS);
      await served.as(token).post("/api/v1/memory/store", { key: "k", value: "v" });
      expect(lines.at(-1)).toMatchObject({ level: 30, status: 507, code: "quota_exceeded" });
      await served.close();
      const [first, second, other] = lines.map(({ caller }) => caller);
      expect(JSON.stringify(lines)).not.toMatch(/\bana\b|\bben\b/);
      if (!logsCallers) expect([first, other]).toEqual([undefined, undefined]);
      else expect(first).toMatch(/^[0-9a-f]{16}$/);
      expect([second === first, other === first]).toEqual([true, !logsCallers]);
    }
  });
});

describe("Retry-After", () => {
  const failed = (code: ErrorCode, details = {}) => new HelmdeckError(code, "Not now.", { details });

  it.each<[string, HelmdeckError, string | null]>([
    ["a database that is locked", failed("store_locked"), "2"],
    ["a database that does not answer", failed("memory_unavailable", { reason: "store_unavailable" }), "2"],
    ["too many requests at once", failed("rate_limited"), "2"],
    ["too many requests in a minute", failed("rate_limited", { retryAfterSeconds: 41.2 }), "42"],
    ["a write that may have been kept", failed("store_unavailable", { outcome: "unknown" }), null],
    ["a wrong key", failed("memory_unavailable", { reason: "key_wrong" }), null],
    ["a standby that refuses writes", failed("store_readonly"), null],
    ["a newer database", failed("store_newer"), null],
    ["a full disk", failed("store_full"), null],
    ["a refused input", failed("invalid_input"), null],
  ])("is sent where trying again helps: %s", async (_what, error, expected) => {
    const { anyone } = await open(failing(error));
    expect((await anyone.get(FACTS)).headers.get("retry-after")).toBe(expected);
  });
});
