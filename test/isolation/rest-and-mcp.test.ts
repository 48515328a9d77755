/**
 * Two callers on every route, tool and resource. The lists come from the registries. Neither caller sees or changes the other's data. A
 * route, tool or resource without a case here fails.
 */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeMcpService } from "../../server/mcp/mcp-service.ts";
import { WholeServer } from "../server/fixtures/whole-server.ts";

const CANARY = "canary-of-alice";

/** A query that finds Alice's entries, but does not contain the canary itself. */
const CANARY_WORDS = "What is it of alice, once more?";

let whole: WholeServer;
let tokens: { readonly alice: string; readonly bob: string };
let artifactId: string;
let runId: string;
let recordPath: string | undefined;

beforeAll(async () => {
  whole = await WholeServer.open();
  tokens = { alice: await whole.tokenFor("alice"), bob: await whole.tokenFor("bob") };
  await fillAlice();
});
afterAll(async () => {
  await whole.close();
  expect(whole.defects).toEqual([]);
});

/** Puts Alice's canary into everything that memory, packs and pipelines keep. */
async function fillAlice(): Promise<void> {
  const { memory, artifacts, pipelines } = whole.serverContext;
  await memory.storeFact("alice", { key: CANARY, value: CANARY, category: CANARY, tags: [CANARY] });
  await memory.storeFact("alice", { key: CANARY, value: `${CANARY}, once more`, category: CANARY });
  await memory.storeFact("alice", { key: "former-canary", value: CANARY });
  await memory.storeFact("alice", { key: "after", value: CANARY, supersedes: ["former-canary"] });
  await memory.storeFact("alice", {
    key: "projects/heron/decisions/db",
    value: CANARY,
    category: "decisions",
  });
  await memory.recordPackRun("alice", {
    pack: CANARY,
    outcome: "ok",
    at_unix: Math.floor(Date.now() / 1_000),
    learn_inputs: { theme: CANARY },
    findings: [{ code: CANARY, severity: "low" }],
  });
  const { chunks } = await memory.corpusPage("alice", {});
  recordPath = chunks.find(({ metadata }) => metadata.kind === "pack")?.path;
  expect(recordPath).toContain(CANARY);
  const file = { name: CANARY, mediaType: "text/plain", content: Buffer.from(CANARY) };
  artifactId = (await artifacts.put("alice", file)).id;
  const run = await pipelines.start({
    pipeline: "github.open-issues",
    inputs: { owner: CANARY, repo: CANARY },
    caller: "alice",
    authenticated: true,
  });
  runId = run.runId;
  await pipelines.ended("alice", runId);
}

/** Everything of Alice's that she sees, word for word. It must be the same before and after Bob's requests. */
async function hers(): Promise<readonly string[]> {
  const { memory, artifacts, pipelines } = whole.serverContext;
  const { fetched_at: _, ...defaults } = await memory.defaults("alice");
  const { revision: __, ...review } = await memory.review("alice", {});
  const all: readonly unknown[] = [
    review,
    await memory.listFacts("alice", {}),
    await memory.listRuns("alice", {}),
    await memory.factHistory("alice", { key: CANARY }),
    await memory.factHistory("alice", { key: "former-canary" }),
    await memory.corpusPage("alice", {}),
    await memory.exportPage("alice", {}),
    defaults,
    (await artifacts.get("alice", artifactId))?.ref,
    pipelines.get("alice", runId),
  ];
  return all.map((one) => JSON.stringify(one));
}

interface Asked {
  readonly path: string;
  readonly body?: unknown;
  /** The status that Bob should get. The default is 200. */
  readonly status?: number;
}

const issues = { owner: "nobody", repo: "nothing" };
const solve = { repo_url: "https://localhost/nothing.git", task: "nothing" };

/** Bob's requests on each route, which try to reach Alice's data. */
const routes: Readonly<Record<string, () => readonly Asked[]>> = {
  "GET /healthz": () => [{ path: "/healthz" }],
  "GET /readyz": () => [{ path: "/readyz" }],
  "GET /version": () => [{ path: "/version" }],
  "GET /api/v1/openapi.json": () => [{ path: "/api/v1/openapi.json" }],
  "GET /metrics": () => [{ path: "/metrics", status: 403 }],
  "GET /api/v1/tokens": () => [{ path: "/api/v1/tokens", status: 403 }],
  "POST /api/v1/memory/store": () => [
    { path: "/api/v1/memory/store", body: { key: "bobs", value: CANARY_WORDS, supersedes: [CANARY] } },
  ],
  "POST /api/v1/memory/store/batch": () => [
    {
      path: "/api/v1/memory/store/batch",
      body: { facts: [{ key: "bobs", value: CANARY_WORDS, supersedes: [CANARY, "after"] }] },
    },
  ],
  "POST /api/v1/memory/forget": () =>
    ["everything", "all", "packs", "pipelines"].flatMap((scope) => [
      { path: "/api/v1/memory/forget", body: { scope } },
      ...[{ dry_run: true }, { up_to: 9_999 }, {}].map((how) => ({
        ...{ path: "/api/v1/memory/forget", body: { scope, subject: "alice", ...how }, status: 403 },
      })),
    ]),
  "GET /api/v1/memory/export": () => [
    { path: "/api/v1/memory/export?with_history=true" },
    { path: "/api/v1/memory/export?subject=alice", status: 403 },
    { path: "/api/v1/memory/export?subject=alice&cursor=1", status: 403 },
  ],
  "GET /api/v1/memory": () => [{ path: "/api/v1/memory" }],
  "GET /api/v1/memory/facts": () => [
    { path: "/api/v1/memory/facts" },
    { path: "/api/v1/memory/facts?prefix=canary" },
    { path: "/api/v1/memory/facts?soonest_first=true" },
    { path: "/api/v1/memory/facts?subject=alice", status: 403 },
  ],
  "GET /api/v1/memory/facts/:key": () => [{ path: `/api/v1/memory/facts/${CANARY}`, status: 404 }],
  "GET /api/v1/memory/facts/:key/history": () =>
    [CANARY, "former-canary", "canary-of-former"].map((key) => ({
      path: `/api/v1/memory/facts/${key}/history`,
      status: 404,
    })),
  "POST /api/v1/memory/undo": () => [{ path: "/api/v1/memory/undo", body: { key: CANARY }, status: 404 }],
  "POST /api/v1/memory/renew": () => [{ path: "/api/v1/memory/renew", body: { key: CANARY }, status: 404 }],
  "POST /api/v1/memory/renewals": () =>
    ["expiring", "all", "undo"].map((which) => ({ path: "/api/v1/memory/renewals", body: { which } })),
  "POST /api/v1/memory/ending": () => [{ path: "/api/v1/memory/ending", body: {} }],
  "POST /api/v1/memory/pin": () => [
    { path: "/api/v1/memory/pin", body: { key: CANARY }, status: 404 },
    { path: "/api/v1/memory/pin", body: { key: CANARY, pinned: false }, status: 404 },
  ],
  "GET /api/v1/memory/review": () => [
    { path: "/api/v1/memory/review" },
    { path: "/api/v1/memory/review?limit=100" },
  ],
  "POST /api/v1/memory/apart": () => [
    { path: "/api/v1/memory/apart", body: { keys: [CANARY, "after"] }, status: 404 },
    { path: "/api/v1/memory/apart", body: { keys: [CANARY, "after"], apart: false }, status: 404 },
  ],
  "GET /api/v1/memory/corpus": () => [
    { path: "/api/v1/memory/corpus" },
    { path: "/api/v1/memory/corpus?query=canary+of+alice" },
  ],
  "GET /api/v1/memory/defaults": () => [
    { path: "/api/v1/memory/defaults" },
    { path: "/api/v1/memory/defaults?caller=alice", status: 403 },
  ],
  "GET /api/v1/caller": () => [{ path: "/api/v1/caller" }],
  "POST /api/v1/memory/search": () => [
    { path: "/api/v1/memory/search", body: { query: CANARY_WORDS, recall: "eager", explain: true } },
  ],
  "POST /api/v1/memory/document": () => [
    { path: "/api/v1/memory/document", body: { path: "helmdeck/my-memory.md" } },
    { path: "/api/v1/memory/document", body: { path: `helmdeck/${CANARY}/${CANARY}.md` }, status: 404 },
  ],
  "GET /api/v1/memory/runs": () => [
    { path: "/api/v1/memory/runs" },
    { path: "/api/v1/memory/runs?kind=pack&limit=200" },
  ],
  "GET /api/v1/memory/growth": () => [{ path: "/api/v1/memory/growth" }],
  "POST /api/v1/memory/runs": () => [
    {
      path: "/api/v1/memory/runs",
      body: { kind: "tool", tool: "exec", outcome: "ok", at_unix: 1_795_000_000 },
      status: 403,
    },
  ],
  "GET /api/v1/memory/status": () => [{ path: "/api/v1/memory/status" }],
  "GET /api/v1/memory/revision": () => [{ path: "/api/v1/memory/revision" }],
  "GET /api/v1/memory/callers": () => [
    { path: "/api/v1/memory/callers" },
    { path: "/api/v1/memory/callers?cursor=a" },
  ],
  "GET /api/v1/packs": () => [{ path: "/api/v1/packs" }],
  "GET /api/v1/packs/:name": () => [{ path: "/api/v1/packs/helmdeck.memory_get" }],
  "POST /api/v1/packs/:name/:version": () => [
    { path: "/api/v1/packs/helmdeck.memory_get/latest", body: { key: CANARY }, status: 404 },
    { path: "/api/v1/packs/helmdeck.memory_corpus/v1", body: {} },
    { path: "/api/v1/packs/helmdeck.memory_forget/1.0.0", body: { scope: "everything" } },
  ],
  "POST /api/v1/packs/:name": () => [
    { path: "/api/v1/packs/helmdeck.memory_store", body: { key: "bobs", value: "his" } },
    { path: "/api/v1/packs/helmdeck.memory_forget", body: { scope: "everything" } },
    { path: "/api/v1/packs/helmdeck.memory_search", body: { query: "canary of alice" } },
    { path: "/api/v1/packs/helmdeck.memory_get", body: { key: CANARY }, status: 404 },
    { path: "/api/v1/packs/helmdeck.memory_list", body: { prefix: "canary" } },
    { path: "/api/v1/packs/helmdeck.memory_history", body: { key: CANARY }, status: 404 },
    { path: "/api/v1/packs/helmdeck.memory_undo", body: { key: CANARY }, status: 404 },
    { path: "/api/v1/packs/helmdeck.memory_renew", body: { key: CANARY }, status: 404 },
    { path: "/api/v1/packs/helmdeck.memory_pin", body: { key: CANARY }, status: 404 },
    { path: "/api/v1/packs/helmdeck.memory_corpus", body: {} },
    { path: "/api/v1/packs/github.list_issues", body: issues, status: 502 },
    { path: "/api/v1/packs/swe.solve", body: solve, status: 422 },
  ],
  "GET /api/v1/artifacts/:id": () => [{ path: `/api/v1/artifacts/${artifactId}`, status: 404 }],
  "GET /api/v1/pipelines": () => [{ path: "/api/v1/pipelines" }],
  "POST /api/v1/pipelines/:id/run": () => [
    { path: "/api/v1/pipelines/github.open-issues/run", body: { owner: "nobody", repo: "nothing" } },
  ],
  "GET /api/v1/pipelines/runs/:run_id": () => [{ path: `/api/v1/pipelines/runs/${runId}`, status: 404 }],
  "DELETE /api/v1/pipelines/runs/:run_id": () => [{ path: `/api/v1/pipelines/runs/${runId}`, status: 404 }],
  "GET /api/v1/mcp": () => [{ path: "/api/v1/mcp", status: 400 }],
  "POST /api/v1/mcp": () => [
    { path: "/api/v1/mcp", body: { jsonrpc: "2.0", id: 1, method: "ping" }, status: 400 },
  ],
  "DELETE /api/v1/mcp": () => [{ path: "/api/v1/mcp", status: 400 }],
};

/** The same over MCP. */
const tools: Readonly<Record<string, () => readonly Record<string, unknown>[]>> = {
  helmdeck__memory_search: () => [{ query: "canary of alice" }, { query: CANARY, recall: "eager" }],
  helmdeck__memory_get: () => [
    { key: CANARY },
    { key: `helmdeck/${CANARY}/${CANARY}.md` },
    { path: recordPath },
  ],
  helmdeck__memory_list: () => [{}, { prefix: "canary" }, { category: CANARY }],
  helmdeck__memory_store: () => [{ key: "bobs", value: CANARY_WORDS, supersedes: [CANARY] }],
  helmdeck__memory_forget: () => [{ scope: "everything" }],
  helmdeck__memory_undo: () => [{ key: CANARY }],
  helmdeck__memory_renew: () => [{ key: CANARY }],
  helmdeck__memory_pin: () => [{ key: CANARY }, { key: CANARY, pinned: false }],
  helmdeck__memory_history: () => [{ key: CANARY }, { key: "former-canary" }],
  helmdeck__memory_corpus: () => [{}, { query: "canary of alice" }],
  github__list_issues: () => [issues],
  swe__solve: () => [solve],
  pipeline__github__o_7140a0: () => [issues],
};

/** Prompts contain nothing from any memory, so each reads the same for everybody. */
const prompts = ["remember_conversation", "what_you_know"];

/** Addresses of Alice's data, by the name of the template. */
const templates: Readonly<Record<string, () => string>> = {
  artifact: () => `helmdeck://artifacts/${artifactId}`,
  "here-recall": () => "helmdeck://here/heron/recall?phase=plan",
};

// verifies P-alone-subjects
describe("Alice's memory", () => {
  it("is visible to Alice (control)", async () => {
    for (const one of await hers()) expect([CANARY, runId].some((mark) => one?.includes(mark))).toBe(true);
  });

  it("cannot be read or changed by Bob on any REST route", async () => {
    const registered = whole.app.routes
      .filter(({ method }) => method !== "ALL")
      .map(({ method, path }) => `${method} ${path}`);
    expect(Object.keys(routes).sort()).toEqual([...new Set(registered)].sort());
    const before = await hers();
    for (const [route, asked] of Object.entries(routes)) {
      for (const { path, body, status = 200 } of asked()) {
        const [method = ""] = route.split(" ");
        const response = await whole.app.request(path, {
          method,
          headers: { Authorization: `Bearer ${tokens.bob}`, "Content-Type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        expect([route, response.status, text.includes("canary")]).toEqual([route, status, false]);
      }
    }
    expect(await hers()).toEqual(before);
  });

  it("cannot be read or changed by Bob with any MCP tool of a server without packs, listed or not", async () => {
    const { tools: registry } = makeMcpService(whole.serverContext, { memoryOnly: true });
    const listed = registry.list().map(({ name }) => name);
    const callable = Object.keys(tools).filter((name) => registry.get(name) !== undefined);
    expect(callable).toEqual(expect.arrayContaining(listed));
    expect(callable.filter((name) => !name.startsWith("helmdeck__memory_"))).toEqual([]);
    const before = await hers();
    const bob = { subject: "bob", authenticated: true, scopes: [] };
    for (const name of callable) {
      for (const input of tools[name]?.() ?? []) {
        const call = { caller: bob, input, signal: new AbortController().signal, onProgress: () => {} };
        const answer = JSON.stringify(await registry.get(name)?.call(call).catch(String));
        expect([name, answer.includes("canary")]).toEqual([name, false]);
      }
    }
    expect(await hers()).toEqual(before);
  });

  it("does not appear in any MCP prompt", async () => {
    const [bob, alice] = await Promise.all([whole.mcpClient(tokens.bob), whole.mcpClient(tokens.alice)]);
    const listed = (await bob.listPrompts()).prompts.map(({ name }) => name);
    expect(listed.sort()).toEqual(prompts);
    for (const name of prompts) {
      const asked = await bob.getPrompt({ name });
      expect(asked).toEqual(await alice.getPrompt({ name }));
      expect([name, JSON.stringify(asked).includes("canary")]).toEqual([name, false]);
    }
    await Promise.all([bob.close(), alice.close()]);
  });

  it("cannot be read or changed by Bob with any MCP tool or resource", async () => {
    const bob = await whole.mcpClient(tokens.bob);
    const before = await hers();
    const listed = (await bob.listTools()).tools.map(({ name }) => name);
    expect(Object.keys(tools).sort()).toEqual(listed.sort());
    for (const [name, cases] of Object.entries(tools)) {
      for (const args of cases()) {
        const answer = JSON.stringify(await bob.callTool({ name, arguments: args }));
        expect([name, answer.includes("canary")]).toEqual([name, false]);
      }
    }
    const { resources } = await bob.listResources();
    expect(resources.length).toBeGreaterThanOrEqual(2);
    for (const { uri } of resources) {
      expect([uri, JSON.stringify(await bob.readResource({ uri })).includes("canary")]).toEqual([uri, false]);
    }
    const { resourceTemplates } = await bob.listResourceTemplates();
    const alice = await whole.mcpClient(tokens.alice);
    for (const { name } of resourceTemplates) {
      const uri = templates[name]?.() ?? `no case for ${name}`;
      const his = await bob.readResource({ uri }).catch(String);
      expect([uri, JSON.stringify(his).includes("canary")]).toEqual([uri, false]);
      expect(decoded(await alice.readResource({ uri })), uri).toContain(CANARY);
    }
    expect(await hers()).toEqual(before);
    await Promise.all([bob.close(), alice.close()]);
  });
});

function decoded({ contents }: Awaited<ReturnType<Client["readResource"]>>): string {
  return contents
    .map((one) => ("text" in one ? one.text : Buffer.from(one.blob, "base64").toString()))
    .join("");
}
