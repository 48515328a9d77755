/** `openclaw helmdeck` with an engine on another server: commands that REST supports work, and the others say where to run them. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NO_EMBEDDINGS } from "../../app/embedding/embedding-settings.ts";
import { subjectOf } from "../../plugin/identity.ts";
import { helmdeckLine } from "../../plugin/openclaw-commands.ts";
import { tempFolder } from "../app/fixtures/memories.ts";
import { remoteOf, ServedEngine } from "../app/remote/engine/served-engine.ts";
import { runPiped } from "../cli/terminal.ts";
import { NOW, tokenFor } from "../server/fixtures/context-server.ts";
import { configOf } from "./fake-host.ts";

let engine: ServedEngine;

beforeAll(async () => {
  engine = await ServedEngine.open();
});
afterAll(() => engine.close());

const CREDENTIAL = "hunter2hunter2hunter2";
const FILE = join(import.meta.dirname, "../data/natural-facts.jsonl");

function typing(...args: readonly string[]) {
  const config = configOf({
    source: { kind: "engine", url: engine.url, tokens: { main: { file: "/t" }, work: { file: "/t" } } },
  });
  const line = helmdeckLine({
    settings: async () => ({
      ...{ databasePath: "/nowhere/memory.sqlite", keyPath: "/nowhere/key", env: {} },
      ...{ embeddings: NO_EMBEDDINGS, recall: "balanced" },
    }),
    remote: async () => remoteOf(engine.url),
    defaultAgent: "main",
    subjectOf: (agentId) => subjectOf(agentId, config),
    openClaw: () => ({ stateDir: "/nowhere", workspaces: [] }),
    hostFindings: async () => [],
    hostWarnings: () => [],
  });
  return runPiped(args, { homeFolder: "/nowhere", now: () => NOW, line });
}

describe("over REST", () => {
  test("store, get, list, search, history, undo, renew, edit and forget work as with a local memory", async () => {
    expect(await typing("store", "editor", "vim")).toMatchObject({ code: 0 });
    expect(await typing("edit", "editor", "emacs")).toMatchObject({ code: 0 });
    expect((await typing("get", "editor")).stdout).toBe("emacs\n");
    expect((await typing("list")).stdout).toContain("editor");
    expect((await typing("search", "editor", "--explain")).stdout).toContain("editor");
    expect((await typing("history", "editor")).stdout).toContain("vim");
    expect(await typing("undo", "editor")).toMatchObject({ code: 0 });
    expect((await typing("get", "editor")).stdout).toBe("vim\n");
    expect(await typing("renew", "editor", "--ttl", "365d")).toMatchObject({ code: 0 });
    expect(await typing("store", "tool", "nano", "--supersedes", "editor")).toMatchObject({ code: 0 });
    expect((await typing("get", "editor")).code).toBe(1);
    expect(await typing("undo", "tool")).toMatchObject({ code: 0 });
    expect((await typing("get", "editor", "--agent", "work")).code).toBe(1);
    expect(await typing("forget", "editor", "--yes")).toMatchObject({ code: 0 });
    expect((await typing("get", "editor")).code).toBe(1);
  });

  test("status and doctor describe the engine", async () => {
    const status = await typing("status");
    expect(status.stdout).toContain(`engine:   ${engine.url} (version `);
    expect(status.stdout).not.toContain("database:");
    expect(JSON.parse((await typing("status", "--json")).stdout)).toMatchObject({
      engine: { url: engine.url, took_ms: expect.any(Number) },
      subject: { name: "main" },
    });
    expect((await typing("doctor")).stdout).toContain("has the memory of main at the engine");
  });
});

describe("import", () => {
  const AT = "2026-11-01T12:00:00.000Z";
  const day = (n: number) => new Date(Date.parse(AT) + n * 86_400_000).toISOString();

  async function importing(lines: readonly object[], ...options: readonly string[]) {
    const folder = await tempFolder();
    const path = join(folder, "facts.jsonl");
    await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const { code, stdout, stderr } = await typing("import", path, "--json", ...options);
    return { code, stderr, answer: stdout === "" ? undefined : JSON.parse(stdout) };
  }

  async function valueOfKey(key: string): Promise<string> {
    return (await typing("get", key)).stdout.trim();
  }

  async function requestsDuring(work: () => Promise<unknown>): Promise<number> {
    const count = async () => {
      const metrics = await engine.context.as(await tokenFor("op", ["metrics"])).get("/metrics");
      const lines =
        metrics.text.match(/^helmdeck_http_requests_total\{.*route="\/api\/v1\/memory.* \d+$/gm) ?? [];
      return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
    };
    const before = await count();
    await work();
    return (await count()) - before;
  }

  test("stores the facts of an export, many in one request, and says what it leaves out", async () => {
    const lines = Array.from({ length: 600 }, (_, n) => ({
      key: `moved/${n}`,
      value: `Value ${n}`,
      tags: ["t"],
    }));
    const former = [
      {
        key: "moved/0",
        value: "before",
        category: "user_facts",
        tags: [],
        created_at: AT,
        updated_at: AT,
        joined: false,
      },
    ];
    const all = [
      ...lines.slice(1),
      { ...lines[0], created_at: AT, expires_at: "2027-03-01T12:00:00.000Z", history: former },
      { audit: "tool", tool: "exec", outcome: "ok", at_unix: NOW / 1_000 - 60 },
      { key: "empty", value: "" },
    ];
    let told: Awaited<ReturnType<typeof importing>> | undefined;
    const requests = await requestsDuring(async () => {
      told = await importing(all);
    });
    expect(told).toMatchObject({ code: 1, answer: { stored: 600, kept: 0, refused_count: 1 } });
    expect(told?.answer.refused).toEqual([{ line: 602, code: "invalid_input", reason: expect.any(String) }]);
    expect(told?.answer.left_out).toEqual({ "former values": 1, "records of runs": 1 });
    expect(requests).toBe(4); // one page of what is there, and three batches
    const moved = JSON.parse((await typing("get", "moved/0", "--json")).stdout);
    expect(moved).toMatchObject({
      value: "Value 0",
      tags: ["t"],
      writer: { surface: "rest", agent: "main" },
    });
    expect(moved.expires_at).toBe("2027-03-01T12:00:00.000Z");
    expect((await importing(lines.map((line) => ({ ...line, created_at: AT })))).answer).toMatchObject({
      kept: 600,
      stored: 0,
    });
    await typing("forget", "everything", "--yes");
  });

  test("keeps what is newer here, or everything, or nothing, as told", async () => {
    await typing("store", "editor", "vim");
    const older = { key: "editor", value: "nano", created_at: AT };
    expect((await importing([older])).answer).toMatchObject({ kept: 1, replaced: 0 });
    expect(
      (await importing([{ ...older, created_at: undefined }], "--on-conflict", "keep")).answer,
    ).toMatchObject({
      kept: 1,
    });
    expect(await valueOfKey("editor")).toBe("vim");
    expect((await importing([older], "--on-conflict", "replace")).answer).toMatchObject({ replaced: 1 });
    expect(await valueOfKey("editor")).toBe("nano");
    const twice = [
      { key: "shell", value: "fish", created_at: AT, updated_at: day(2) },
      { key: "shell", value: "bash", created_at: AT, updated_at: day(1) },
      { key: "shell", value: "zsh", created_at: AT, updated_at: day(3) },
    ];
    expect((await importing(twice)).answer).toMatchObject({ stored: 1, kept: 1, replaced: 1 });
    expect(await valueOfKey("shell")).toBe("zsh");
    await typing("forget", "everything", "--yes");
  });

  test("sends no more at once than the engine takes", async () => {
    const large = Array.from({ length: 12 }, (_, n) => ({
      key: `large/${n}`,
      value: "\u0007".repeat(16 * 1_024),
    }));
    const requests = await requestsDuring(async () => {
      expect(await importing(large)).toMatchObject({ code: 0, answer: { stored: 12 } });
    });
    expect(requests).toBe(4); // one page of what is there, and five of these facts at a time
    await typing("forget", "everything", "--yes");
  });

  test("refuses a credential as the engine does, and does not say it", async () => {
    const { code, answer, stderr } = await importing([{ key: "k", value: `password: ${CREDENTIAL}` }]);
    expect(code).toBe(1);
    expect(answer.refused).toMatchObject([{ line: 1, code: "secret_refused" }]);
    expect(JSON.stringify([answer, stderr])).not.toContain(CREDENTIAL);
  });
});

test("an import refuses an option of another format, and stores nothing", async () => {
  const { code, stderr } = await typing("import", FILE, "--category", "notes");
  expect(code).toBe(1);
  expect(stderr).toContain("--category is only for notes");
  expect((await typing("list", "--json")).stdout).toContain('"facts":[]');
});

describe("a command that must run on the engine's machine", () => {
  test.each([
    [["export"], "helmdeck-memory export --caller SUBJECT on the engine's machine"],
    [
      ["import", FILE, "--allow-secrets"],
      "helmdeck-memory import FILE --caller SUBJECT on the engine's machine",
    ],
    [["import", FILE, "--on-known", "skip"], "helmdeck-memory import FILE --caller SUBJECT"],
    [["import", FILE, "--dry-run"], "helmdeck-memory import FILE --caller SUBJECT on the engine's machine"],
    [["import", "/nowhere", "--from", "markdown", "--yes"], "helmdeck-memory import FILE"],
    [["imports"], "helmdeck-memory imports --caller SUBJECT on the engine's machine"],
    [["doctor", "--compact"], "Run this command on the engine's machine"],
    [["store", "k", "v", "--allow-secret"], "run helmdeck-memory on the engine's machine"],
  ])("%j names that machine, and does nothing", async (args, where) => {
    const { code, stderr } = await typing(...args);
    expect(code).toBe(1);
    expect(stderr).toContain(where);
    expect((await typing("list", "--json")).stdout).toContain('"facts":[]');
  });

  test("refuses an agent without a token", async () => {
    const { code, stderr } = await typing("list", "--agent", "other");
    expect(code).toBe(2);
    expect(stderr).toContain("the agent needs a token");
  });
});
