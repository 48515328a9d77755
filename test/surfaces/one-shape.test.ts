/** Every surface uses the same JSON for the same fact, hit, report and error. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { openMemory } from "../../app/open-memory.ts";
import { factSchema } from "../../app/operations/facts.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { memoryPacks } from "../../packs/shipped/memory-packs.ts";
import { makeForgetTool, makeStoreTool } from "../../plugin/agent-tools.ts";
import type { SlashContext } from "../../plugin/openclaw-api.ts";
import { makeSlashCommand } from "../../plugin/slash-command.ts";
import { createServer } from "../../server/create-server.ts";
import type { Seen } from "../cli/terminal.ts";
import { MAIN_CONTEXT, policyFor, recordingLogger } from "../plugin/fake-host.ts";
import { accessTo } from "../plugin/fake-memory.ts";
import { mcpClientOf } from "../server/fixtures/mcp-client.ts";
import { testServerContext } from "../server/fixtures/mcp-context.ts";
import { importLines } from "../transfer/import-lines.ts";
import { helmdeckMemory, openclawHelmdeck } from "./command-lines.ts";

type Json = Readonly<Record<string, unknown>>;

const SNAKE_CASE = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** In seconds, because helmdeck's audit rows and defaults use them. */
const UNIX_SECONDS = /^(at|last_used|last_seen)_unix$/;
/** Fields with names from elsewhere: from JSON Schema, or from the author of a pipeline. */
const FOREIGN = new Set(["input_schema", "output_schema", "inputs", "learn_inputs", "common_inputs"]);
/** Less than any Unix time since September 2001, in seconds or milliseconds. */
const LEAST_TIME = 1_000_000_000;

/** REST uses this name for callers without a token. The other surfaces are set to the same memory. */
const CALLER = "unknown";
const FACT = {
  key: "deploy/preference",
  value: "We deploy through Konflux.",
  category: "work",
  tags: ["ci"],
};
const QUERY = "how do we deploy";
const NO_SCOPE = "category:cache";
const RUN = {
  outcome: "ok",
  at_unix: Math.floor(Date.now() / 1_000) - 60,
  duration_ms: 12,
  learn_inputs: { pageTheme: "dark" },
};

let folder: string;
let memory: OpenMemory;
let client: Client;
let rest: ReturnType<typeof createServer>["app"];
const file = (name: string) => join(folder, name);
const place = () => ({ databasePath: file("memory.sqlite"), keyPath: file("memory.key") });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "helmdeck-shape-"));
  memory = await openMemory({ ...place(), env: {}, driver: betterSqliteDriver, sweepEveryMs: 0 });
  await memory.recordPackRun(CALLER, {
    pack: "slides.narrate",
    ...RUN,
    findings: [{ code: "c", severity: "low" }],
  });
  await memory.recordPipelineRun(CALLER, { pipeline: "nightly", run_id: "r", ...RUN, outcome: "succeeded" });
  await memory.storeFact(CALLER, FACT);
  const context = testServerContext({ memory, packs: memoryPacks(memory) });
  rest = createServer(context, { requestsPerMinute: 0 }).app;
  client = await mcpClientOf(context, CALLER);
});
afterAll(async () => {
  await client.close();
  await memory.close();
  await rm(folder, { recursive: true, force: true });
});

async function overRest(path: string, body?: Json): Promise<Json> {
  const post = {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const { request_id: _, ...answer } = fieldsOf(await (await rest.request(path, body && post)).json()); // of HTTP alone
  return answer;
}

async function overMcp(tool: string, args: Json): Promise<Json> {
  const call = { name: `helmdeck__memory_${tool}`, arguments: args };
  const { structuredContent, isError, _meta } = (await client.callTool(call)) as CallToolResult; // the call requested no task
  return isError ? fieldsOf(_meta?.["helmdeck/error"]) : fieldsOf(structuredContent);
}

async function resource(uri: string): Promise<Json> {
  const [content] = (await client.readResource({ uri })).contents;
  return JSON.parse(`${Reflect.get(Object(content), "text")}`);
}

const byHelmdeck = async (...args: readonly string[]) =>
  jsonOf(await helmdeckMemory(place(), [args[0] ?? "", "--json", "--caller", CALLER, ...args.slice(1)]));
const byOpenClaw = async (...args: readonly string[]) =>
  jsonOf(await openclawHelmdeck(place(), [args[0] ?? "", "--json", ...args.slice(1)], CALLER));

async function byTool(make: typeof makeStoreTool, args: Json): Promise<Json> {
  const policy = policyFor({ subjects: { main: CALLER } });
  const tool = make({ access: accessTo(memory), policy, log: recordingLogger() }, MAIN_CONTEXT);
  return fieldsOf((await tool.execute("call", args)).details);
}

/** Parses standard error after a failure, otherwise standard output, and checks that the other one is empty. */
function jsonOf({ code, stdout, stderr }: Seen): Json {
  expect(code === 0 ? stderr : stdout).toBe("");
  return JSON.parse(code === 0 ? stdout : stderr);
}

async function exported(): Promise<readonly Json[]> {
  const { stdout } = await helmdeckMemory(place(), ["export", "--caller", CALLER]);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

function fieldsOf(value: unknown): Json {
  return { ...Object(value) };
}

function firstOf(list: unknown): Json {
  return fieldsOf(Array.isArray(list) ? list[0] : undefined);
}

describe("the same", () => {
  test("fact is one object on REST, both command lines and in an export", async () => {
    const fact = await overRest("/api/v1/memory/facts/deploy%2Fpreference");
    expect(factSchema.strict().parse(fact)).toMatchObject(FACT);
    expect(firstOf((await overRest("/api/v1/memory/facts")).facts)).toEqual(fact);
    expect(await byHelmdeck("get", FACT.key)).toEqual(fact);
    expect(await byHelmdeck("list")).toEqual({ facts: [fact], unreadable: [] });
    expect(await byOpenClaw("list")).toEqual({ facts: [fact], unreadable: [] });
    expect(await overMcp("get", { key: FACT.key })).toEqual(fact);
    expect(await overMcp("list", {})).toEqual({ facts: [fact], unreadable: [] });
    const { revision: _, ...line } = fact; // a revision is its store's own
    expect(await exported()).toContainEqual({ ...line, ending: expect.stringMatching(/^(default|chosen)$/) });
  });

  test("hit is one object on both command lines, and has the fields of the document on REST and MCP", async () => {
    const answer = await byHelmdeck("search", "--explain", QUERY);
    expect(await byOpenClaw("search", "--explain", QUERY)).toEqual(answer);
    const { docid, path, title, score, snippet } = firstOf(answer.results);
    const document = { docid, path, title, score, snippet };
    expect(document).toMatchObject({ docid: "work/deploy/preference", score: expect.any(Number) });
    const overHttp = await overRest(`/api/v1/memory/corpus?query=${encodeURIComponent(QUERY)}`);
    expect(firstOf(overHttp.chunks)).toMatchObject(document);
    const { snippet: _, ...whole } = document;
    expect(firstOf((await overMcp("corpus", { query: QUERY })).chunks)).toMatchObject(whole);
    expect(await overMcp("search", { query: QUERY })).toEqual(await byHelmdeck("search", QUERY));
  });

  test("acknowledgement of a fact is one object on REST, MCP, the command line and in the tool's details", async () => {
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    const stored = {
      key: FACT.key,
      category: "work",
      expires_at: time,
      revision: expect.any(Number),
      path: "helmdeck/work/deploy/preference.md",
      replaced: { updated_at: time, refreshed: true },
    };
    expect(await overRest("/api/v1/memory/store", FACT)).toEqual(stored);
    expect(await overMcp("store", FACT)).toEqual(stored);
    expect(await byTool(makeStoreTool, FACT)).toEqual(stored);
    expect(await byHelmdeck("store", "--category", "work", "--tag", "ci", FACT.key, FACT.value)).toEqual(
      stored,
    );
  });

  test("store removes a fact's import tag on every surface, a renewal on none", async () => {
    const brought = { ...FACT, tags: ["ci", "import:notes-1"] };
    const tagsNow = async () => (await memory.getFact(CALLER, { key: FACT.key }))?.tags;
    const renewals = [
      () => overRest("/api/v1/memory/renew", { key: FACT.key }),
      () => overMcp("renew", { key: FACT.key }),
      () => byHelmdeck("renew", FACT.key),
      () => byOpenClaw("renew", FACT.key),
    ];
    const given = ["--category", "work", "--tag", "ci", "--tag", "import:notes-1", FACT.key, FACT.value];
    const stores = [
      () => byHelmdeck("edit", FACT.key, "We deploy by hand."),
      () => byOpenClaw("edit", FACT.key, "We deploy on Mondays."),
      () => overRest("/api/v1/memory/store", brought),
      () => overMcp("store", brought),
      () => byTool(makeStoreTool, brought),
      () => byHelmdeck("store", ...given),
      () => byOpenClaw("store", ...given),
    ];
    for (const [index, store] of stores.entries()) {
      const input = Readable.from([Buffer.from(JSON.stringify(brought))]);
      await importLines({ memory, subject: CALLER, input, onConflict: "replace" });
      await renewals[index]?.();
      expect(await tagsNow()).toEqual(brought.tags);
      await store();
      expect(await tagsNow()).toEqual(FACT.tags);
    }
  });

  // verifies P-forget-exact
  test("number of a dry run limits a forget on REST, MCP and for the agent", async () => {
    const surfaces: readonly ((body: Json) => Promise<Json>)[] = [
      (body) => overRest("/api/v1/memory/forget", body),
      (body) => overMcp("forget", body),
      (body) => byTool(makeForgetTool, body),
    ];
    for (const forget of surfaces) {
      await memory.storeFact(CALLER, { key: "shown", value: "Shown.", category: "limited" });
      const { revision } = await forget({ scope: "category:limited", dry_run: true });
      await memory.storeFact(CALLER, { key: "late", value: "Late.", category: "limited" });
      const answer = await forget({ scope: "category:limited", up_to: revision });
      expect(answer).toMatchObject({ deleted: 1, newer: { count: 1, keys: ["late"] } });
      expect(await memory.getFact(CALLER, { key: "late" })).toBeDefined();
      await memory.forget(CALLER, { scope: "category:limited" });
    }
  });

  test("store without category, tags and lifetime keeps those of the fact, on every surface", async () => {
    const key = "kept/fact";
    const policy = policyFor({ subjects: { main: CALLER } });
    const chat = (args: string) => {
      const command = makeSlashCommand("remember", {
        access: accessTo(memory),
        policy,
        log: recordingLogger(),
      });
      const context: object = { ...MAIN_CONTEXT, args };
      return command.handler(context as SlashContext); // all that it reads
    };
    const stores: readonly ((value: string) => Promise<unknown>)[] = [
      (value) => byHelmdeck("store", key, value),
      (value) => byHelmdeck("edit", key, value),
      (value) => byOpenClaw("store", key, value),
      (value) => byOpenClaw("edit", key, value),
      (value) => overRest("/api/v1/memory/store", { key, value }),
      (value) => overRest("/api/v1/memory/store", { key, value, category: null, tags: null, ttl_seconds: 0 }),
      (value) => overMcp("store", { key, value }),
      (value) => byTool(makeStoreTool, { key, value }),
      async (value) => chat(`${key} = ${value}`),
    ];
    const first = { key, value: "First.", category: "work", tags: ["ci"], ttlSeconds: 7 * 86_400 };
    const { expiresAt } = await memory.storeFact(CALLER, first);
    for (const [index, store] of stores.entries()) {
      await store(`Value ${index}.`);
      expect(await memory.getFact(CALLER, { key })).toMatchObject({
        ...{ value: `Value ${index}.`, category: "work", tags: ["ci"], expiresAt },
      });
    }
    await byHelmdeck("store", key, "Dropped.", "--no-tags", "--category", "user_facts");
    expect(await memory.getFact(CALLER, { key })).toMatchObject({ category: "user_facts", tags: [] });
    await memory.forget(CALLER, { scope: `key:${key}` });
  });

  test("renewed fact is one object on REST, MCP and both command lines", async () => {
    const asked = { key: FACT.key, ttl_seconds: 86_400 };
    const renewed = await overRest("/api/v1/memory/renew", asked);
    const sameButEnd = { ...renewed, expires_at: expect.any(String), revision: expect.any(Number) };
    expect(factSchema.strict().parse(renewed)).toMatchObject(FACT);
    expect(await overMcp("renew", asked)).toEqual(sameButEnd);
    expect(await byHelmdeck("renew", FACT.key, "--ttl", "1d")).toEqual(sameButEnd);
    expect(await byOpenClaw("renew", FACT.key, "--ttl", "86400")).toEqual(sameButEnd);
    const ending = await overRest("/api/v1/memory/facts?expiring=true");
    expect(firstOf(ending.facts)).toMatchObject({ key: FACT.key });
    expect(await byHelmdeck("list", "--expiring")).toEqual(ending);
    expect(await byOpenClaw("list", "--expiring")).toEqual(ending);
    expect((await overRest("/api/v1/memory")).expiring).toMatchObject({ count: 1 });
    const { message: _, ...missing } = await overRest("/api/v1/memory/renew", { key: "none" });
    expect(missing).toMatchObject({ error: "not_found" });
    expect(await overMcp("renew", { key: "none" })).toMatchObject(missing);
    expect(await byHelmdeck("renew", "none")).toMatchObject(missing);
    expect(await byOpenClaw("renew", "none")).toMatchObject(missing);
    await overRest("/api/v1/memory/renew", { key: FACT.key });
    expect(await byHelmdeck("list", "--expiring")).toEqual({ facts: [], unreadable: [] });
  });

  test.each([["key:deploy/preference"], ["deploy/prefrence"]])(
    "answer for forgetting %s is one object everywhere",
    async (scope) => {
      const asked = { scope, dry_run: true };
      const counted = await overRest("/api/v1/memory/forget", asked);
      expect(counted).toMatchObject({ scope, dry_run: true, erased: "nothing" });
      expect(await overMcp("forget", asked)).toEqual(counted);
      expect(await byTool(makeForgetTool, asked)).toEqual(counted);
      expect(await byHelmdeck("forget", "--dry-run", scope)).toEqual(counted);
      expect(await byOpenClaw("forget", "--dry-run", scope)).toEqual(counted);
    },
  );

  test("error is one object on REST, MCP and both command lines, which write it to standard error", async () => {
    const error = await overRest("/api/v1/memory/forget", { scope: NO_SCOPE });
    expect(error).toEqual({
      error: "invalid_input",
      message: expect.any(String),
      details: expect.any(Object),
    });
    const { remedy: _, ...overTool } = await overMcp("forget", { scope: NO_SCOPE });
    expect(overTool).toEqual(error);
    expect(await byHelmdeck("forget", "--yes", NO_SCOPE)).toEqual(error);
    expect(await byOpenClaw("forget", "--yes", NO_SCOPE)).toEqual(error);
  });

  // verifies P-policy-secrets
  test("refusal of a credential is one object everywhere, and no agent's surface can override it", async () => {
    const secret = { key: "ci", value: `ghp_${"aB3dE5gH7jK9".repeat(3)}` };
    const refusal = await overRest("/api/v1/memory/store", secret);
    expect(refusal).toEqual({
      error: "secret_refused",
      message: expect.stringContaining("GITHUB_TOKEN"),
      details: { field: "value", kind: "GITHUB_TOKEN" },
    });
    const { remedy: _, ...overTool } = await overMcp("store", secret);
    expect(overTool).toEqual(refusal);
    expect(await byHelmdeck("store", secret.key, secret.value)).toEqual(refusal);
    await expect(byTool(makeStoreTool, secret)).rejects.toThrow("secret_refused");
    const insisting = { ...secret, allowSecret: true, allow_secret: true, allowSecrets: true };
    await overRest("/api/v1/memory/store", insisting);
    await overMcp("store", insisting);
    await byTool(makeStoreTool, insisting).catch(() => {});
    expect(await byHelmdeck("get", secret.key)).toMatchObject({ error: "not_found" });
  });

  test("report of doctor has one shape on both command lines", async () => {
    const [mine, theirs] = [await byHelmdeck("doctor"), await byOpenClaw("doctor")];
    for (const { store } of [mine, theirs])
      expect(store).toMatchObject({ schema_version: expect.any(Number), settings: { journal_mode: "wal" } });
    expect(Object.keys(fieldsOf(theirs.store))).toEqual(Object.keys(fieldsOf(mine.store)));
  });
});

describe("a name that is not snake_case, or a time that is not RFC 3339,", () => {
  test("is detected", () => {
    const odd = [
      { updatedAt: "2026-11-20T12:00:00.000Z" },
      { a: [{ b_at: 1 }] },
      { seen: 1_763_800_000_000 },
    ];
    expect(odd.map((value) => oddities(value).length)).toEqual([1, 1, 1]);
  });

  const OF_MEMORY = " /facts /facts?limit=1 /corpus /corpus?query=deploy /defaults /callers /facts/none";
  const PATHS = ["/healthz", "/readyz", "/version", "/api/v1/packs", "/api/v1/pipelines", "/api/v1/none"];
  test.each([...OF_MEMORY.split(" ").map((path) => `/api/v1/memory${path}`), ...PATHS])(
    "is not in REST's %s",
    async (path) => {
      const answer: unknown = await (await rest.request(path)).json();
      expect(answer).not.toEqual({});
      expect(oddities(answer)).toEqual([]);
    },
  );

  test("is not in the answer of a pack's run", async () => {
    const run = await overRest("/api/v1/packs/helmdeck.memory_corpus", { limit: 5 });
    expect(run).toHaveProperty("duration_ms");
    expect(oddities(run)).toEqual([]);
  });

  test.each(["helmdeck://my-memory", "helmdeck://my-defaults"])("is not in MCP's %s", async (uri) => {
    expect(oddities(await resource(uri))).toEqual([]);
  });

  const ASKED = [
    ["list", "--limit", "1"],
    ["search", "--explain", QUERY],
    ["search", "zeppelin"],
    ["forget", "--dry-run", "all"],
    ["forget", "all"],
    ["doctor"],
  ];
  const OF_HELMDECK = [["get", FACT.key], ["get", "none"], ["search", "--limit", "99", "x"], ["embed"]];
  test.each([
    ...[...ASKED, ...OF_HELMDECK, ["here", "state", "plan"]].map(
      (args) => ["helmdeck-memory", args] as const,
    ),
    ...[...ASKED, ["status"], ["list", "--limit", "none"]].map(
      (args) => ["openclaw helmdeck", args] as const,
    ),
  ])("is not in %s %j", async (program, args) => {
    expect(oddities(await (program === "helmdeck-memory" ? byHelmdeck : byOpenClaw)(...args))).toEqual([]);
  });

  test("is not in exported lines or an import's report", async () => {
    const lines = await exported();
    expect(lines).toHaveLength(3);
    expect(oddities(lines)).toEqual([]);
    const written = await helmdeckMemory(place(), ["export", "--json", "--output", file("out.jsonl")]);
    expect(oddities(JSON.parse(written.stdout))).toEqual([]);
    await writeFile(file("in.jsonl"), lines.map((line) => JSON.stringify(line)).join("\n"));
    const imported = await byHelmdeck("import", file("in.jsonl"));
    expect(imported).toMatchObject({ refused_count: 0, kept: 1 });
    expect(oddities(imported)).toEqual([]);
    expect(await readFile(file("in.jsonl"), "utf8")).toContain('"path":"helmdeck/work/');
  });
});

describe("a fact's writer is stored as the surface identifies it:", () => {
  const claims = { writer: { surface: "openclaw", agent: "somebody else" }, agent: "somebody else" };
  const fact = (key: string) => ({ key, value: "Tekton builds it." });
  const writerOf = async (key: string) => (await memory.getFact(CALLER, { key }))?.writer;

  // verifies P-alone-writer
  test.each<[string, (key: string) => Promise<unknown>, Json]>([
    ["REST", (key) => overRest("/api/v1/memory/store", fact(key)), { surface: "rest", agent: CALLER }],
    ["MCP", (key) => overMcp("store", fact(key)), { surface: "pack", agent: CALLER }],
    ["the command line", (key) => byHelmdeck("store", key, "x"), { surface: "cli", agent: CALLER }],
    [
      "OpenClaw's tool",
      (key) => byTool(makeStoreTool, fact(key)),
      { surface: "openclaw", agent: "main", sessionKind: "main" },
    ],
  ])("%s", async (surface, store, writer) => {
    await store(`written/${surface}`);
    expect(await writerOf(`written/${surface}`)).toEqual(writer);
  });

  test("a request that claims a writer is refused", async () => {
    for (const answer of [
      await overRest("/api/v1/memory/store", { ...fact("claimed"), ...claims }),
      await overMcp("store", { ...fact("claimed"), ...claims }),
    ]) {
      expect(answer).toMatchObject({ error: "invalid_input" });
    }
    const claimed = byTool(makeStoreTool, { ...fact("claimed"), ...claims });
    await expect(claimed).rejects.toThrow("invalid_input: writer is not known");
    expect(await writerOf("claimed")).toBeUndefined();
  });
});

/** One line for each name that is not snake_case, and each time that is not RFC 3339. */
function oddities(value: unknown, place = "$"): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => oddities(item, `${place}[${index}]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) => [
    ...(SNAKE_CASE.test(name) ? [] : [`${place}.${name} is not snake_case`]),
    ...(isOddTime(name, field) ? [`${place}.${name} is not RFC 3339`] : []),
    ...(FOREIGN.has(name) ? [] : oddities(field, `${place}.${name}`)),
  ]);
}

function isOddTime(name: string, field: unknown): boolean {
  if (name.endsWith("_at")) return typeof field !== "string" || !RFC_3339.test(field);
  return typeof field === "number" && field >= LEAST_TIME && !UNIX_SECONDS.test(name);
}
