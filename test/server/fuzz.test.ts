/**
 * Thousands of generated requests over REST and MCP: no crash, no 5xx, no unexpected error whatever its status, and no sent value or token
 * in a refusal or a log.
 */
import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { sized } from "../run/size.ts";
import { WholeServer } from "./fixtures/whole-server.ts";

vi.setConfig({ testTimeout: 300_000 });

const BODIES = sized(1_200, 12_000);
const ADDRESSES = sized(400, 4_000);
const MESSAGES = sized(400, 4_000);
const VALUE = "Canary-value-7d1f";
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "fuzz", version: "1" } },
};

let whole: WholeServer;
let token: string;
/** The number of answers with each status. */
let statuses: Map<number, number>;
beforeEach(async () => {
  statuses = new Map();
  whole = await WholeServer.open();
  token = await whole.tokenFor("fuzz");
});
afterEach(async () => {
  await whole.close();
  // If authentication refused all requests, the test would show nothing.
  const requests = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  expect(statuses.get(200)).toBeGreaterThan(requests / 50);
  expect([...statuses].filter(([status]) => status >= 400).length).toBeGreaterThan(0);
  expect(whole.defects).toEqual([]);
  expect(whole.log).not.toContain(VALUE);
  expect(whole.log).not.toContain(token);
});

/** Odd texts, and some that look like valid values. */
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom("", " ", "key:", "all", "\ud800", "a/b", "pack:", "__proto__", "\u0000", "x".repeat(600)),
);
const number = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, -1, 3_600, 2 ** 53, 1e308));
const anything = fc.oneof(
  { weight: 3, arbitrary: text },
  { weight: 2, arbitrary: number },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(null, true, [], {}, [""], { key: "x" }) },
);

/** Mostly valid values, so that an invalid value beside them is not refused because of them. */
function mostly(...good: readonly unknown[]) {
  return fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: anything });
}

function perhaps(required: readonly string[], optional: Record<string, fc.Arbitrary<unknown>>) {
  return fc.record(optional, { requiredKeys: [...required] });
}

const fact = perhaps(["key", "value"], {
  key: mostly("a", "b/c", "d e"),
  value: mostly(VALUE, VALUE.repeat(5_000), [VALUE], { value: VALUE }, `${VALUE}\ud800`),
  category: mostly("team", "user_facts"),
  tags: fc.oneof(mostly(["x"], []), fc.array(text, { maxLength: 40 })),
  ttl_seconds: mostly(0, 3_600, 31_536_000),
});
const batch = perhaps(["facts"], {
  facts: fc.oneof(fc.array(fact, { maxLength: 4 }), anything),
  similar: mostly(true, false),
});
const scope = perhaps(["scope"], {
  scope: mostly("all", "key:a", "category:team", "packs", "pack:x"),
  dry_run: mostly(true, false),
});
const page = perhaps([], { query: mostly("other words"), limit: mostly(1, 100), cursor: anything });
const inputs = fc.dictionary(text, anything, { maxKeys: 4 });

function sent(of: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 8, arbitrary: of.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: of.map((value) => JSON.stringify(value).slice(0, -1)) },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 200 }) },
  );
}

const segment = text.map((one) => encodeURIComponent(one.toWellFormed()));
/** Routes, and a body that roughly fits them. */
const to = (paths: string, body: fc.Arbitrary<unknown>) =>
  fc.tuple(fc.constantFrom(...paths.split(" ").map((path) => `/api/v1/${path}`)), sent(body));
const toAny = (path: (name: string) => string, body: fc.Arbitrary<unknown>) =>
  fc.tuple(
    segment.map((name) => `/api/v1/${path(name)}`),
    sent(body),
  );
const posted = fc.oneof(
  to("memory/store packs/helmdeck.memory_store", fact),
  to("memory/store/batch", batch),
  to("memory/forget packs/helmdeck.memory_forget", scope),
  to(
    "memory/search memory/document memory/runs packs/helmdeck.memory_corpus packs/helmdeck.memory_search/latest packs/helmdeck.memory_list",
    page,
  ),
  to("packs/helmdeck.memory_get", fact),
  to("packs/github.list_issues packs/swe.solve pipelines/github.open-issues/run mcp", inputs),
  toAny((name) => `packs/${name}`, fact),
  toAny((version) => `packs/helmdeck.memory_get/${version}`, fact),
  toAny((id) => `pipelines/${id}/run`, inputs),
);
const queryName = fc.constantFrom(
  ...["prefix", "category", "limit", "cursor", "query", "caller", "wait", "x"],
  ...["soonest_first", "kind", "outcome", "until"],
);
const search = fc
  .array(fc.tuple(queryName, fc.oneof(segment, fc.constantFrom("%FF", "%", "+", "1", "-1", "1e3"))), {
    maxLength: 3,
  })
  .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join("&"));
const getPath = fc.oneof(
  fc
    .tuple(fc.constantFrom("", "/facts", "/corpus", "/defaults", "/callers", "/runs", "/growth"), search)
    .map(([route, query]) => `/api/v1/memory${route}?${query}`),
  segment.map((key) => `/api/v1/memory/facts/${key}`),
  segment.map((id) => `/api/v1/artifacts/${id}`),
  segment.map((id) => `/api/v1/pipelines/runs/${id}`),
  segment.map((name) => `/api/v1/packs/${name}`),
  fc.webPath().map((path) => `/${path}`),
);

async function ask(path: string, init: RequestInit = {}): Promise<void> {
  const response = await whole.app.request(path, {
    ...init,
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", ...init.headers },
  });
  const answer = await response.text();
  statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
  expect(response.status, `${init.method ?? "GET"} ${path} ${init.body}: ${answer}`).toBeLessThan(500);
  if (response.status >= 400) {
    expect(answer).not.toContain(VALUE);
    expect(answer).not.toContain(token);
    expect(JSON.parse(answer)).toMatchObject(
      path.startsWith("/api/v1/mcp") ? {} : { message: expect.any(String) },
    );
  }
}

// verifies P-load-odd-requests
it(`${BODIES} bodies over REST`, async () => {
  await fc.assert(
    fc.asyncProperty(posted, ([path, body]) => ask(path, { method: "POST", body })),
    { numRuns: BODIES },
  );
});

// verifies P-load-odd-requests
it(`${ADDRESSES} addresses over REST`, async () => {
  await fc.assert(
    fc.asyncProperty(getPath, (path) => ask(path)),
    { numRuns: ADDRESSES },
  );
});

// verifies P-load-odd-requests
it(`${MESSAGES} messages over MCP`, async () => {
  const headers = {
    ...{ Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    Accept: "application/json, text/event-stream",
  };
  const opened = await whole.app.request("/api/v1/mcp", {
    method: "POST",
    headers,
    body: JSON.stringify(INITIALIZE),
  });
  await opened.text();
  const session = opened.headers.get("mcp-session-id") ?? "";
  const methods =
    "tools/call resources/read tools/list prompts/list prompts/get resources/subscribe ping initialize";
  const method = fc.oneof(fc.constantFrom(...methods.split(" ")), text);
  const memoryTools = ["store", "corpus", "search", "get", "list"].map((name) => `helmdeck__memory_${name}`);
  const tool = fc.constantFrom(...memoryTools, "helmdeck.memory_forget", "what_you_know", "no_such_tool");
  const message = fc.record(
    {
      jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant("2.0") }, { weight: 1, arbitrary: text }),
      id: fc.oneof(fc.nat(), text, anything),
      method,
      params: fc.oneof(
        fc.record({ name: tool, arguments: fc.oneof(fact, scope, page) }),
        fc.record({ uri: fc.oneof(text, fc.constant("helmdeck://my-memory")) }),
        anything,
      ),
    },
    { requiredKeys: ["jsonrpc", "method"] },
  );
  await fc.assert(
    fc.asyncProperty(message, (sent) =>
      ask("/api/v1/mcp", {
        method: "POST",
        headers: { ...headers, "Mcp-Session-Id": session },
        body: JSON.stringify(sent),
      }),
    ),
    { numRuns: MESSAGES },
  );
});
