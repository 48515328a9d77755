/**
 * Each source of memory behind a real gateway: its own memory, and that of a served engine.
 *
 * Budget: three minutes on two processors: one gateway, one engine, and a reload for each change of the configuration.
 */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer as createTls } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Json, OpenClawHost, type ToolReply } from "../../scripts/openclaw-host/openclaw-host.ts";
import { EngineProcess, FrontDoor } from "./served-engine.ts";
import { NOTES } from "./setup.ts";
import { helmdeckMemory, hitsOf, patchConfig, pathsOf, resultOfSetUp } from "./shared.ts";

const PATH = "helmdeck/user_facts/konflux/deployment-preference.md";
const FACT = { key: "konflux/deployment-preference", value: "Konflux: staging first, never on a Friday." };
const QUERY = "what was that thing about my Konflux deployment preference";
const ANSWERED_WITHIN_MS = 10_000;
const LONG_MS = 400_000;

const dataFile = (name: string) => join(import.meta.dirname, "../data", name);
const linesOf = <Line>(name: string): readonly Line[] =>
  readFileSync(dataFile(name), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

/** Dozens of questions. Half of them have no answer, or nearly none. */
const QUESTIONS = [
  ...linesOf<{ question: string }>("natural-questions.jsonl").slice(0, 24),
  ...linesOf<{ question: string }>("natural-unanswerable.jsonl").slice(0, 12),
].map(({ question }) => question);

let host: OpenClawHost;
let engine: EngineProcess;
let door: FrontDoor;
let tokens: { readonly main: string; readonly work: string };

beforeAll(async () => {
  const { tarball, runtime } = await resultOfSetUp();
  host = await OpenClawHost.make({ runtime, notes: NOTES, otherAgents: ["work", "bare"] });
  engine = new EngineProcess(join(host.home.root, "engine"));
  await host.installPlugin(tarball);
  const facts = await importFile();
  await helmdeckMemory(host, "import", facts).then(({ code, stderr }) =>
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^(Note: .+ embedded so far\..+\n)?$/)]),
  );
  await engine.run("import", facts);
  await engine.start();
  door = await FrontDoor.before(engine);
  tokens = { main: await engine.tokenFile("main"), work: await engine.tokenFile("work") };
  await host.startGateway();
});
afterAll(async () => {
  await host?.stop();
  await door?.close();
  await engine?.stop();
});

describe("a served engine behind a gateway", () => {
  // The same code ranks the same facts, wherever they are stored.
  it(
    `gives the same hits in the same order as the gateway's own memory, for ${QUESTIONS.length} questions`,
    async () => {
      await expect.poll(async () => (await search(QUESTIONS[0])).details.warning).toBeUndefined();
      const embedded = await answersTo(QUESTIONS);
      await useEngine();
      expect(await answersTo(QUESTIONS)).toEqual(embedded);
      expect(embedded.flat().length).toBeGreaterThan(QUESTIONS.length / 2);
    },
    LONG_MS,
  );

  it("stores, finds by default, reads, shows the history and forgets only at the engine", async () => {
    expect(await call("helmdeck__memory_store", { ...FACT, value: "Konflux on Fridays." })).toMatchObject({
      status: 200,
    });
    expect(await call("helmdeck__memory_store", FACT)).toMatchObject({ status: 200 });
    const found = await search();
    expect(pathsOf(found, "helmdeck")[0]).toBe(PATH);
    expect(pathsOf(found, "memory")).toContain("MEMORY.md");
    expect((await call("memory_get", { path: PATH })).text).toContain("staging first");
    expect((await call("memory_get", { path: "helmdeck/my-memory.md" })).text).toContain(FACT.key);
    expect((await call("helmdeck__memory_history", { key: FACT.key })).text).toContain("on Fridays");
    expect(await engine.run("get", FACT.key)).toContain("staging first");
    expect((await helmdeckMemory(host, "get", FACT.key)).code).toBe(1);
    const once = { key: "once", value: "gone soon" };
    await call("helmdeck__memory_store", once);
    expect((await call("helmdeck__memory_forget", { scope: "key:once", dry_run: true })).text).toContain("1");
    expect(await call("helmdeck__memory_forget", { scope: "key:once" })).toMatchObject({ status: 200 });
    expect((await call("memory_get", { path: "helmdeck/user_facts/once.md" })).text).not.toContain(
      "gone soon",
    );
  });

  // verifies P-alone-subjects
  it("separates two agents, and gives nothing to an agent without a token", async () => {
    const work = { agentId: "work" };
    expect(pathsOf(await host.invokeTool("memory_search", { query: QUERY }, work), "helmdeck")).toEqual([]);
    expect((await host.invokeTool("memory_get", { path: PATH }, work)).text).not.toContain("staging");
    await host.invokeTool("helmdeck__memory_store", { key: "works", value: "Heron nests in March." }, work);
    expect(pathsOf(await search("when does the heron nest"), "helmdeck")).not.toContain(
      "helmdeck/user_facts/works.md",
    );
    const bare = { agentId: "bare" };
    const refused = await host.invokeTool("helmdeck__memory_store", FACT, bare);
    expect(refused.error?.message).toMatch(/identity_refused: this agent has no token/);
    const nothing = await host.invokeTool("memory_search", { query: QUERY }, bare);
    expect(pathsOf(nothing, "helmdeck")).toEqual([]);
    expect(String(nothing.details.warning)).not.toContain("helmdeck");
  });

  it("is reported by doctor and status, with each agent's subject", async () => {
    const { stdout, code } = await host.openclaw(["helmdeck", "doctor"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`the engine at ${door.url}, version `)]);
    expect(stdout).toContain("agent main: has the memory of main at the engine");
    expect(stdout).toContain("agent work: has the memory of work at the engine");
    const status = await host.rpc("helmdeck.status");
    expect(status).toMatchObject({ state: "ready", engine: { url: door.url }, subject: { name: "main" } });
  });
});

// verifies P-engine-honest, P-quiet-host
describe("failures:", () => {
  afterEach(async () => {
    door.behaves = undefined;
    await expect.poll(async () => pathsOf(await search(), "helmdeck")[0]).toBe(PATH);
  });

  const odd: readonly (readonly [string, FrontDoor["behaves"], string, string])[] = [
    ["slow", () => {}, "it did not answer in time", "deadline_exceeded"],
    [
      "rate-limited",
      (_, response) => void response.writeHead(429, { "Retry-After": "9" }).end("{}"),
      "it got too many requests",
      "rate_limited",
    ],
    [
      "broken",
      (_, response) => void response.writeHead(500).end("canary"),
      "its engine",
      "engine_unavailable",
    ],
    [
      "another program",
      (_, response) => void response.end('{"canary": true}'),
      "its engine",
      "engine_unavailable",
    ],
    [
      "sending an endless answer",
      (_, response) => void response.end(`"${"x".repeat(2_000_000)}"`),
      "its engine",
      "engine_unavailable",
    ],
    [
      "redirecting",
      (_, response) => void response.writeHead(307, { Location: "http://127.0.0.1:9/" }).end(),
      "its engine",
      "engine_unavailable",
    ],
  ];

  it.each(odd)(
    "the engine is %s: search shows OpenClaw's own hits with one line about the reason, and the tools refuse",
    async (_what, behaves, warning, code) => {
      door.behaves = behaves;
      const found = await search();
      expectOwnHitsAnd(found, warning);
      expect(found.ms).toBeLessThan(ANSWERED_WITHIN_MS);
      const stored = await call("helmdeck__memory_store", { key: "lost", value: "never stored" });
      expect(stored).toMatchObject({ ok: false, status: 400 });
      expect(stored.error?.message).toContain(code);
      expect(stored.error?.message).not.toContain("canary");
      door.behaves = undefined;
      expect((await call("memory_get", { path: "helmdeck/user_facts/lost.md" })).text).not.toContain(
        "never stored",
      );
    },
  );

  it("the engine is down and then up again: memory recovers without a restart of the gateway", async () => {
    await engine.stop();
    expectOwnHitsAnd(await search(), "its engine");
    const stored = await call("helmdeck__memory_store", { key: "lost", value: "never stored" });
    expect(stored.error?.message).toMatch(/engine_unavailable/);
    const { code, stdout } = await host.openclaw(["helmdeck", "status"]);
    expect([code, stdout]).toEqual([1, expect.stringContaining("engine_unavailable")]);
    await engine.start();
  });

  it("a token has expired: the warning reports it, and a new one in its file is used at once", async () => {
    await engine.tokenFile("main", 2 * 3_600_000);
    expectOwnHitsAnd(await search(), "it refused the token");
    const stored = await call("helmdeck__memory_store", { key: "lost", value: "never stored" });
    expect(stored.error?.message).toContain("The token has expired");
    const { stdout } = await host.openclaw(["helmdeck", "doctor"]);
    expect(stdout).toContain("refused the token of agent main: The token has expired");
    expect(stdout).toContain("agent work: has the memory of work");
    await engine.tokenFile("main");
  });

  it("no token appears in the gateway's log or the process list", async () => {
    const token = readFileSync(tokens.main, "utf8").trim();
    expect(readFileSync(host.home.logPath, "utf8")).not.toContain(token);
    expect(readFileSync(`/proc/${host.pid}/cmdline`, "utf8")).not.toContain(token);
  });
});

// verifies P-engine-token
describe("an unsafe configuration", () => {
  it("plain HTTP to another machine is refused", async () => {
    await useEngine({ url: "http://192.0.2.7:3848" });
    expectOwnHitsAnd(await search(), "the request was refused");
    const stored = await call("helmdeck__memory_store", FACT);
    expect(stored.error?.message).toContain("must begin with https://");
  });

  it("no token is sent for an untrusted certificate, or one other than the pinned one", async () => {
    const fixture = (name: string) =>
      join(import.meta.dirname, "../app/remote/engine/fixtures", `${name}.pem`);
    let reached = 0;
    const identity = { key: readFileSync(fixture("engine.key")), cert: readFileSync(fixture("engine.cert")) };
    const server = createTls(identity, (_request, response) => {
      reached += 1;
      response.end("{}");
    });
    await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`; // a server that listens on a port has this form
    try {
      for (const settings of [{ url }, { url, fingerprint256: "ab".repeat(32) }]) {
        await useEngine(settings);
        expectOwnHitsAnd(await search(), "its engine");
      }
      expect(reached).toBe(0);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it("a token in the configuration itself is refused, and memory continues to work", async () => {
    await useEngine();
    const source = { kind: "engine", url: door.url, tokens: { main: "a.literal.token" } };
    await expect(configure({ source })).rejects.toThrow(/helmdeck-memory/);
    expect(pathsOf(await search(), "helmdeck")[0]).toBe(PATH);
  });
});

async function importFile(): Promise<string> {
  const at = "2026-11-01T10:00:00.000Z";
  const facts = linesOf<{ key: string; value: string }>("natural-facts.jsonl").map(({ key, value }, index) =>
    JSON.stringify({ key, value, created_at: at, updated_at: new Date(Date.parse(at) + index * 60_000) }),
  );
  const file = join(host.home.root, "facts.jsonl");
  await writeFile(file, facts.join("\n"));
  return file;
}

async function answersTo(questions: readonly string[]): Promise<Json[][]> {
  const answers: Json[][] = [];
  for (const question of questions) {
    const found = hitsOf(await search(question)).filter(({ corpus }) => corpus === "helmdeck");
    answers.push(found.map(({ path, score, snippet }) => ({ path, score, snippet })));
  }
  return answers;
}

/** Configures the engine as the source, and waits until the gateway uses it. */
async function useEngine(settings: Readonly<Record<string, string>> = {}): Promise<void> {
  const files = { main: { file: tokens.main }, work: { file: tokens.work } };
  await configure({ source: null });
  await configure({ source: { kind: "engine", url: door.url, tokens: files, ...settings } });
}

function configure(config: Parameters<typeof patchConfig>[1]): Promise<void> {
  return patchConfig(host, { plugins: { entries: { "helmdeck-memory": { config } } } });
}

function call(tool: string, args: Parameters<OpenClawHost["invokeTool"]>[1]): Promise<ToolReply> {
  return host.invokeTool(tool, args);
}

function search(query = QUERY): Promise<ToolReply> {
  return call("memory_search", { query });
}

function expectOwnHitsAnd(found: ToolReply, warning: string): void {
  expect(found.status).toBe(200);
  expect(pathsOf(found, "memory")).toContain("MEMORY.md");
  expect(pathsOf(found, "helmdeck")).toEqual([]);
  const shown = String(found.details.warning);
  expect(shown).toMatch(
    /^Wiki corpus unavailable: helmdeck memory is not available: [^\n]*; run openclaw helmdeck doctor$/,
  );
  expect(shown).toContain(warning);
}
