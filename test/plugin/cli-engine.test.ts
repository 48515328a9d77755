/** `openclaw helmdeck` with an engine on another server: commands that REST supports work, and the others say where to run them. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NO_EMBEDDINGS } from "../../app/embedding/embedding-settings.ts";
import { subjectOf } from "../../plugin/identity.ts";
import { helmdeckLine } from "../../plugin/openclaw-commands.ts";
import { remoteOf, ServedEngine } from "../app/remote/engine/served-engine.ts";
import { runPiped } from "../cli/terminal.ts";
import { NOW } from "../server/fixtures/context-server.ts";
import { configOf } from "./fake-host.ts";

let engine: ServedEngine;

beforeAll(async () => {
  engine = await ServedEngine.open();
});
afterAll(() => engine.close());

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

describe("a command that must run on the engine's machine", () => {
  test.each([
    [["export"], "helmdeck-memory export --caller SUBJECT on the engine's machine"],
    [["import", FILE], "helmdeck-memory import FILE --caller SUBJECT on the engine's machine"],
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
