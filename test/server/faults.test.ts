/** helmdeck's known faults on REST, each as a case that this server handles correctly. Numbers: docs/explanation/helmdeck-faults.md. */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import {
  ABOUT_THE_INPUT,
  asHelmdeckError,
  ERROR_CODES,
  type ErrorCode,
  type ErrorDetails,
  HelmdeckError,
} from "../../engine/errors.ts";
import type { ServerContext } from "../../packs/server-context.ts";
import {
  ContextServer,
  type ContextServerOptions,
  packThat,
  SECRET,
  tokenFor,
} from "./fixtures/context-server.ts";
import { mcpClientOf } from "./fixtures/mcp-client.ts";
import { PageVisitor } from "./fixtures/page-visitor.ts";

let served: ContextServer | undefined;
afterEach(async () => {
  await served?.close();
  served = undefined;
});

async function open(options: ContextServerOptions = {}) {
  served = await ContextServer.open(options);
  return { served, anyone: served.as() };
}

const STORE = "/api/v1/memory/store";
const FORGET = "/api/v1/memory/forget";

describe("fault 6: forgetting", () => {
  it("by key deletes only that key, not keys with the same prefix or another case", async () => {
    const { anyone } = await open();
    for (const key of ["a", "ab", "A", "a/b"]) await anyone.post(STORE, { key, value: "v" });
    expect((await anyone.post(FORGET, { scope: "key:a" })).body.deleted).toBe(1);
    for (const [key, status] of [
      ["a", 404],
      ["ab", 200],
      ["A", 200],
      ["a/b", 200],
    ] as const) {
      const fact = await anyone.get(`/api/v1/memory/facts/${encodeURIComponent(key)}`);
      expect([key, fact.status]).toEqual([key, status]);
    }
  });

  it("all deletes facts too", async () => {
    const { anyone } = await open({ packs: [packThat(async () => ({}))] });
    await anyone.post(STORE, { key: "k", value: "v" });
    await anyone.post("/api/v1/packs/test.do", {});
    expect((await anyone.post(FORGET, { scope: "all" })).body.deleted).toBe(2);
    expect((await anyone.get("/api/v1/memory/facts")).body.facts).toEqual([]);
  });

  it.each([
    ["no body", undefined],
    ["an empty object", "{}"],
    ["an empty scope", '{"scope":""}'],
    ["a blank scope", '{"scope":" "}'],
    ["a scope that is null", '{"scope":null}'],
    ["a scope that is not a valid key", '{"scope":"a\\nb"}'],
    ["an empty key", '{"scope":"key:"}'],
  ])("with %s is refused, and nothing is deleted", async (_what, body) => {
    const { served, anyone } = await open();
    await anyone.post(STORE, { key: "k", value: "v" });
    const answer = await served.answerTo(FORGET, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body }),
    });
    expect([answer.status, answer.body.error]).toEqual([400, "invalid_input"]);
    expect((await anyone.get("/api/v1/memory/facts/k")).status).toBe(200);
  });
});

// verifies P-policy-limits
describe("fault 8: limits", () => {
  it.each([
    ["key", { key: "k".repeat(513), value: "v" }],
    ["value", { key: "k", value: "v".repeat(65_537) }],
    ["tags", { key: "k", value: "v", tags: Array.from({ length: 33 }, (_, n) => `t${n}`) }],
    ["tags", { key: "k", value: "v", tags: ["t".repeat(65)] }],
    ["ttl_seconds", { key: "k", value: "v", ttl_seconds: 2 ** 53 }],
    ["ttl_seconds", { key: "k", value: "v", ttl_seconds: 1e308 }],
    ["ttl_seconds", { key: "k", value: "v", ttl_seconds: 18_446_744_074 }],
    ["ttl_seconds", { key: "k", value: "v", ttl_seconds: -1 }],
  ])("apply to the %s of a fact", async (field, fact) => {
    const { anyone } = await open();
    const { status, body } = await anyone.post(STORE, fact);
    expect([status, body.error, body.details]).toMatchObject([400, "invalid_input", { field }]);
    expect((await anyone.get("/api/v1/memory/facts")).body.facts).toEqual([]);
  });

  it("apply to the body", async () => {
    const { anyone } = await open();
    expect((await anyone.post(STORE, { key: "k", value: "v".repeat(600_000) })).status).toBe(413);
  });
});

// verifies P-audit-always
describe("fault 10: a client that disconnects", () => {
  it("cancels the run, which still leaves an audit row", async () => {
    const begun = Promise.withResolvers<AbortSignal>();
    const pack = packThat(async ({ signal }) => {
      begun.resolve(signal);
      await once(signal, "abort");
      throw new HelmdeckError("cancelled", "The caller went away.");
    });
    const { served, anyone } = await open({ packs: [pack] });
    const listening = await served.server.listen({ port: 0 });
    const socket = connect(listening.port, listening.address);
    const body = '{"theme":"blue"}';
    socket.write(
      `POST /api/v1/packs/test.do HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const signal = await begun.promise;
    socket.destroy();
    if (!signal.aborted) await once(signal, "abort");
    await listening.close();
    await served.serverContext.packs.close(); // waits for audit rows
    const { recent } = (await anyone.get("/api/v1/memory/defaults")).body;
    expect(recent).toMatchObject([
      { kind: "pack", id: "test.do", outcome: "cancelled", learn_inputs: { theme: "blue" } },
    ]);
  });
});

describe("fault 14: memory that does not open", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "helmdeck-broken-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function otherKeysStore(): Promise<string> {
    const databasePath = join(folder, "memory.sqlite");
    const other = await ContextServer.open({ databasePath, env: { HELMDECK_MEMORY_KEY: "11".repeat(32) } });
    await other.as().post(STORE, { key: "k", value: "v" });
    await other.close();
    return databasePath;
  }

  async function damagedStore(): Promise<string> {
    const path = join(folder, "memory.sqlite");
    await writeFile(path, Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(8_192, 7)]));
    return path;
  }

  it.each<[string, string, () => Promise<ContextServerOptions>]>([
    ["a malformed key", "key_malformed", async () => ({ env: { HELMDECK_MEMORY_KEY: "abc" } })],
    ["a wrong key", "key_wrong", async () => ({ databasePath: await otherKeysStore() })],
    ["a damaged store", "store_", async () => ({ databasePath: await damagedStore() })],
  ])(
    "because of %s is reported by every memory route and by /readyz, and packs still run",
    async (_what, reason, options) => {
      const { served, anyone } = await open({
        ...(await options()),
        packs: [packThat(async () => ({ ran: true }))],
      });
      for (const ask of [
        () => anyone.post(STORE, { key: "k", value: "v" }),
        () => anyone.post(FORGET, { scope: "key:k" }),
        ...["", "/facts", "/facts/k", "/corpus", "/corpus?query=k", "/defaults", "/callers"].map(
          (path) => () => anyone.get(`/api/v1/memory${path}`),
        ),
      ]) {
        const { status, body } = await ask();
        expect([status, body.error]).toEqual([503, "memory_unavailable"]);
        expect(body.message).toContain(reason);
        expect(JSON.stringify(body)).not.toMatch(/helmdeck-(broken|server)-/); // where it keeps its files
      }
      const ready = await anyone.get("/readyz");
      expect(ready.status).toBe(503);
      expect(ready.body).toMatchObject({ status: "unavailable", error: expect.stringContaining(reason) });
      expect(ready.text).not.toMatch(/helmdeck-(broken|server)-/);
      expect((await anyone.get("/healthz")).status).toBe(200);
      expect((await anyone.post("/api/v1/packs/test.do", {})).body.output).toEqual({ ran: true });
      expect(await metricOf(served, "helmdeck_memory_available")).toBe("0");
    },
  );
});

// verifies P-durable-replaced
describe("a database that is deleted under the server", () => {
  it("is reported by every memory route and /readyz, no write is acknowledged, and the server recovers by itself", async () => {
    let clockMs = 0;
    const { served, anyone } = await open({ monotonicMs: () => clockMs });
    await anyone.post(STORE, { key: "first", value: "v" });
    expect((await anyone.get("/readyz")).status).toBe(200);
    for (const part of ["", "-wal", "-shm"]) await rm(join(served.folder, "memory", `memory.sqlite${part}`));
    for (const ask of [
      () => anyone.post(STORE, { key: "late", value: "v" }),
      () => anyone.post(FORGET, { scope: "key:first" }),
      () => anyone.get("/api/v1/memory/facts"),
      () => anyone.get("/api/v1/memory/corpus?query=first"),
      () => anyone.get("/readyz"),
    ]) {
      const { status, body } = await ask();
      expect([status, body.error]).toEqual([503, "store_replaced"]);
    }
    expect((await anyone.get("/healthz")).status).toBe(200);
    expect(await metricOf(served, "helmdeck_memory_available")).toBe("0");
    clockMs += 2_000;
    expect((await anyone.get("/readyz")).status).toBe(200);
    expect(await metricOf(served, "helmdeck_memory_available")).toBe("1");
    expect((await anyone.post(STORE, { key: "second", value: "v" })).status).toBe(200);
    expect((await anyone.get("/api/v1/memory/facts")).body.facts).toMatchObject([{ key: "second" }]);
  });
});

async function metricOf(served: ContextServer, name: string): Promise<string | undefined> {
  const { text } = await served.answerTo("/metrics");
  return new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1];
}

describe("fault 16: times and errors have the right unit and code", () => {
  it("duration_ms is in milliseconds", async () => {
    let clockMs = 0;
    const pack = packThat(async () => {
      clockMs += 1_500;
      return {};
    });
    const { anyone } = await open({ packs: [pack], monotonicMs: () => clockMs });
    expect((await anyone.post("/api/v1/packs/test.do", {})).body.duration_ms).toBe(1_500);
    const { recent } = (await anyone.get("/api/v1/memory/defaults")).body;
    expect(recent).toMatchObject([{ duration_ms: 1_500 }]);
  });

  it.each([
    ["store_locked", 503, "locked by another process"],
    ["store_full", 507, "The disk is full. Nothing was written."],
    ["quota_exceeded", 507, "It is so."],
    ["store_readonly", 503, "cannot be written"],
    ["store_corrupt", 503, "damaged"],
    ["store_unavailable", 503, "does not answer"],
    ["entry_unreadable", 500, "It is so."],
    ["deadline_exceeded", 504, "It is so."],
  ] as const)(
    "a failing store is reported as %s with status %i, not as the caller's error",
    async (code, status, said) => {
      const { anyone } = await open({ change: withStoreThat(new HelmdeckError(code, "It is so.")) });
      for (const answer of [
        await anyone.post(STORE, { key: "k", value: "v" }),
        await anyone.get("/api/v1/memory/facts"),
      ]) {
        const { request_id: _, ...body } = answer.body;
        expect([answer.status, body]).toEqual([
          status,
          { error: code, message: expect.stringContaining(said) },
        ]);
      }
    },
  );

  const places = {
    path: "/srv/zebra",
    place: "postgres://zebra",
    host: "zebra.host",
    owner: 4_711,
    command: "zebra",
  };
  const unknown = { outcome: "unknown" };
  const lost = { reason: "store_moved" };
  // verifies P-quiet-words
  it.each<[ErrorCode, ErrorDetails, string]>([
    ...ERROR_CODES.filter((code) => !OF_THE_REQUEST.has(code)).map(
      (code): [ErrorCode, ErrorDetails, string] => [code, {}, "Nothing was written."],
    ),
    ["store_unavailable", unknown, "It is unknown whether the write was kept: look before you repeat it."],
    [
      "memory_unavailable",
      lost,
      "moved to another place, or is being moved (store_moved). Nothing was written.",
    ],
    ["session_unavailable", {}, "working folder could be created. Nothing was written."],
    ["artifact_refused", {}, "Nothing was written."],
  ])("%s %j names no place of the operator, over REST, MCP, /readyz and pages", async (code, more, said) => {
    const error = new HelmdeckError(
      code,
      "/srv/zebra was moved to postgres://zebra, at zebra.host:5432: run helmdeck-memory move again.",
      { details: { ...places, ...more }, unchanged: "Nothing was written." },
    );
    const pack = packThat(async () => {
      throw error;
    });
    const { served, anyone } = await open({
      packs: [pack],
      change: withStoreThat(error),
      pages: {},
      secret: SECRET,
    });
    const token = await tokenFor("ana");
    const visitor = await PageVisitor.of(served, token);
    const client = await mcpClientOf(served.serverContext, "ana");
    onTestFinished(() => client.close());
    const answers = {
      store: (await served.as(token).post(STORE, { key: "k", value: "v" })).text,
      list: (await served.as(token).get("/api/v1/memory/facts")).text,
      pack: (await served.as(token).post("/api/v1/packs/test.do", {})).text,
      tool: JSON.stringify(await client.callTool({ name: "test__do", arguments: {} })),
      resource: await client.readResource({ uri: "helmdeck://my-memory" }).then(
        () => "read",
        (thrown) => `${thrown.message} ${JSON.stringify(thrown.data)}`,
      ),
      readyz: (await anyone.get("/readyz")).text,
      status: (await served.as(token).get("/api/v1/memory")).text,
      facts: (await visitor.get("/facts")).text,
      health: (await visitor.get("/health")).text,
    };
    const told = Object.entries(answers).filter(([, text]) => /zebra|4711|helmdeck-memory move/.test(text));
    expect(told).toEqual([]);
    for (const text of [answers.store, answers.list, answers.tool]) expect(text).toContain(said);
  });

  it("an unexpected error is answered as internal with status 500 and without its text, counted and reported", async () => {
    const defect = new TypeError("the value hunter2 was not expected");
    const { served, anyone } = await open({ change: withStoreThat(defect) });
    const { status, body, text } = await anyone.post(STORE, { key: "k", value: "v" });
    expect([status, body.error]).toEqual([500, "internal"]);
    expect(text).not.toContain("hunter2");
    expect(served.defects.splice(0)).toEqual([defect]);
    const metrics = (await served.answerTo("/metrics")).text;
    expect(metrics).toContain('helmdeck_unexpected_errors_total{kind="TypeError"} 1');
    expect(metrics).not.toContain("hunter2");
  });
});

/** Their messages are for the caller, and nobody puts a path into one. */
const OF_THE_REQUEST = new Set<ErrorCode>([
  ...ABOUT_THE_INPUT,
  ...(["deadline_exceeded", "identity_refused", "missing_bearer", "invalid_token", "forbidden"] as const),
  ...(["rate_limited", "too_large", "method_not_allowed", "unsupported_media_type", "cancelled"] as const),
  ...([
    "pack_failed",
    "invalid_output",
    "session_unavailable",
    "artifact_refused",
    "upstream_failed",
  ] as const),
  "internal",
]);

function withStoreThat(error: Error): (serverContext: ServerContext) => ServerContext {
  const fail = async (): Promise<never> => {
    throw error;
  };
  return (serverContext) => ({
    ...serverContext,
    memory: {
      ...serverContext.memory,
      ...{ storeFact: fail, listFacts: fail, myMemory: fail, overview: fail },
      status: async (subject) => {
        const status = await serverContext.memory.status(subject);
        return {
          ...status,
          ...(!OF_THE_REQUEST.has(asHelmdeckError(error).code) && { error: asHelmdeckError(error) }),
        };
      },
    },
  });
}
