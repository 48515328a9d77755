/** `install claude`: what it puts into the client and its own folder, what it records, and that the client's files are as they were afterwards. */
import { cpSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { CLIENT_PACKAGES } from "../../cli/clients/client-packages.ts";
import { readClientSettings } from "../../cli/clients/client-settings.ts";
import { ROOT } from "../../scripts/build/build.ts";
import { InProcessHome } from "./in-process.ts";

const SETTINGS = '{\n   "cleanupPeriodDays": 7,\n "enabledPlugins": {"other@place": true} }';

const home = InProcessHome.forEachTest();
const claudeDir = () => home.path(".claude");
const packageDir = () => join(home.stateFolder, "helmdeck-memory-clients", "claude", "package");

beforeEach(async () => {
  await mkdir(home.path("bin"));
  cpSync(join(ROOT, "test/cli/stand-in-claude.mjs"), home.path("bin/claude"));
  await mkdir(claudeDir());
  await writeFile(join(claudeDir(), "settings.json"), SETTINGS);
});

function install(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const PATH = `${home.path("bin")}${delimiter}${process.env.PATH}`;
  return home.run(["install", "claude", ...args], { env: { PATH, ...env } });
}

function recorded() {
  return readClientSettings(join(packageDir(), "plugin", "helmdeck.json"));
}

/** Each file with its bytes; each folder. */
function snapshot(folder: string): Readonly<Record<string, string>> {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    all.map((one) => {
      const path = join(one.parentPath, one.name);
      return [path, one.isFile() ? readFileSync(path, "utf8") : "folder"];
    }),
  );
}

describe("install claude", () => {
  test("adds the package by the client's own commands, and records whose memory it is", async () => {
    const { code, stdout } = await install(["--push", "start", "--caller", "ada"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/with the memory of ada\. Each session starts with the pinned facts/);
    expect((await readFile(home.path("called.txt"), "utf8")).trim().split("\n")).toEqual([
      "--version",
      `plugin marketplace add ${packageDir()}`,
      "plugin install helmdeck-memory@helmdeck-memory",
    ]);
    expect(await recorded()).toEqual({
      caller: "ada",
      stateDir: home.stateFolder,
      pushes: ["session-start"],
    });
    expect(existsSync(home.databasePath)).toBe(false);
    expect(existsSync(home.keyPath)).toBe(false);
  });

  test("keeps its files to their owner", async () => {
    await install();
    const folder = join(home.stateFolder, "helmdeck-memory-clients", "claude");
    expect(statSync(folder).mode & 0o077).toBe(0);
    expect(statSync(join(folder, "before.json")).mode & 0o077).toBe(0);
  });

  // verifies P-client-asked
  test("agrees to nothing if nobody was asked", async () => {
    const { stdout } = await install();
    expect(stdout).toContain("nothing is put into a session unasked");
    expect((await recorded())?.pushes).toEqual([]);
  });

  test("again, keeps what was agreed to, or takes another choice", async () => {
    await install(["--push", "prompts"]);
    expect((await recorded())?.pushes).toEqual(["session-start", "prompt"]);
    await install(["--caller", "ada"]);
    expect(await recorded()).toMatchObject({ caller: "ada", pushes: ["session-start", "prompt"] });
    await install(["--push", "nothing"]);
    expect((await recorded())?.pushes).toEqual([]);
  });

  test("again, keeps whose memory it is, unless an option names another", async () => {
    await install(["--caller", "ada", "--db", "other.sqlite"], { HELMDECK_MEMORY_KEY_FILE: "its.key" });
    const there = { databasePath: home.path("other.sqlite"), keyFile: home.path("its.key") };
    const { stdout } = await install(["--push", "start"]);
    expect(stdout).toContain("with the memory of ada");
    expect(await recorded()).toMatchObject({ caller: "ada", ...there, pushes: ["session-start"] });
    await install(["--caller", "main"]);
    const { stateFolder: stateDir } = home;
    expect(await recorded()).toEqual({ caller: "main", stateDir, pushes: ["session-start"] });
  });

  test("records another database and key file by their complete paths", async () => {
    const env = { HELMDECK_MEMORY_KEY_FILE: "keys/memory.key" };
    await install(["--db", "other.sqlite"], env);
    expect(await recorded()).toMatchObject({
      databasePath: home.path("other.sqlite"),
      keyFile: home.path("keys/memory.key"),
    });
  });

  test("names a served engine, and puts its token into no file", async () => {
    const token = "eyJhbGciOiJIUzI1NiJ9.e30.c2VjcmV0";
    await writeFile(home.path("token"), token, { mode: 0o600 });
    const args = ["--engine", "http://127.0.0.1:3848/", "--token-file", "token"];
    expect(await install(args)).toMatchObject({ code: 0 });
    const { mcpServers } = JSON.parse(await readFile(join(packageDir(), "plugin/.mcp.json"), "utf8"));
    expect(mcpServers.helmdeck).toMatchObject({ type: "http", url: "http://127.0.0.1:3848/api/v1/mcp" });
    expect((await recorded())?.engine).toEqual({
      url: "http://127.0.0.1:3848",
      tokenFile: home.path("token"),
    });
    expect(JSON.stringify([snapshot(packageDir()), snapshot(claudeDir())])).not.toContain(token);
  });

  test.each([
    ["the key in the environment", [], { HELMDECK_MEMORY_KEY: "ab".repeat(32) }, /put the key into a file/],
    ["a command for the key", [], { HELMDECK_MEMORY_KEY_COMMAND: '["pass"]' }, /put the key into a file/],
    ["a database server", ["--store", "postgres://a@b/c"], {}, /name that with --engine/],
    ["an engine without a token", ["--engine", "https://memory.example"], {}, /needs a token/],
    ["a token over plain HTTP", ["--engine", "http://memory.example", "--token-file", "t"], {}, /https/],
    ["no client", [], { PATH: "/nowhere" }, /Install Claude Code first/],
    ["a client that refuses", [], { CLAUDE_FAILS: "1" }, /could not add the package/],
  ] as const)("refuses %s", async (_, args, env, message) => {
    const { code, stderr } = await install(args, env);
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain("abab");
    expect(readFileSync(join(claudeDir(), "settings.json"), "utf8")).toBe(SETTINGS);
  });
});

// verifies P-client-undone
describe("install claude --uninstall", () => {
  test("leaves the client's files as they were, byte for byte, and memory as it is", async () => {
    await home.run(["store", "tea", "Oolong"]);
    const before = snapshot(claudeDir());
    await install(["--push", "start"]);
    await install(["--push", "prompts"]);
    expect(snapshot(claudeDir())).not.toEqual(before);
    expect(await install(["--uninstall"])).toMatchObject({ code: 0 });
    expect(snapshot(claudeDir())).toEqual(before);
    expect(existsSync(join(home.stateFolder, "helmdeck-memory-clients"))).toBe(false);
    expect((await home.run(["get", "tea"])).stdout).toContain("Oolong");
  });

  test("leaves no file that was not there", async () => {
    await home.run(["get", "x"]);
    const CLAUDE_CONFIG_DIR = home.path("elsewhere");
    await mkdir(CLAUDE_CONFIG_DIR);
    await install([], { CLAUDE_CONFIG_DIR });
    expect(readdirSync(CLAUDE_CONFIG_DIR)).toContain("settings.json");
    await install(["--uninstall"], { CLAUDE_CONFIG_DIR });
    expect(readdirSync(CLAUDE_CONFIG_DIR)).toEqual([]);
  });

  test("keeps what somebody changed since", async () => {
    await install();
    const file = join(claudeDir(), "settings.json");
    const settings = JSON.parse(await readFile(file, "utf8"));
    await writeFile(file, JSON.stringify({ ...settings, theme: "dark" }));
    await install(["--uninstall"]);
    const { enabledPlugins, ...others } = JSON.parse(await readFile(file, "utf8"));
    expect(enabledPlugins).toEqual({ "other@place": true });
    expect(others).toMatchObject({ theme: "dark", cleanupPeriodDays: 7 });
  });

  test("where it is not installed, changes nothing", async () => {
    expect((await install(["--uninstall"])).stdout).toMatch(/not installed/);
    expect(existsSync(home.path("called.txt"))).toBe(false);
  });
});

test("the built package is the description's, without anybody's settings", () => {
  const files = CLIENT_PACKAGES.claude();
  expect(Object.keys(files)).toEqual([
    ".claude-plugin/marketplace.json",
    "plugin/.claude-plugin/plugin.json",
    "plugin/.mcp.json",
    "plugin/hooks/hooks.json",
    "plugin/skills/remember/SKILL.md",
  ]);
});
