/**
 * The how-to pages for MCP clients, from the beginning: the test adds the command to the path and runs each page's commands unchanged, with
 * the current client versions on npm, in a home of its own.
 *
 * Nothing here needs a login, so conversations are not tested. Only the installation uses the network, for npm's registry. The clients can
 * only reach this machine.
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";
import { DEAD_PROXY } from "./fixtures/clients.ts";
import { configBlock, runBlock } from "./fixtures/howto.ts";

const CLIENTS = ["@anthropic-ai/claude-code", "@google/gemini-cli"];
/** A command that loads a few hundred modules takes seconds. An installation takes a minute. */
const TIMEOUT_MS = 600_000;

let home: string;
let project: string;

interface Ran {
  readonly code: number;
  /** The output of both streams. */
  readonly said: string;
}

beforeAll(async () => {
  home = await mkdtemp(join(inject("runFolder"), "howto-"));
  project = join(home, "project");
  await mkdir(project);
  await mkdir(join(home, "tmp"));
  const clients = await npm([
    "install",
    "--prefix",
    join(home, "clients"),
    "--no-audit",
    "--no-fund",
    ...CLIENTS,
  ]);
  expect(clients.said).toMatch(/added \d+ packages/);
  const command = await sh(await runBlock("install-the-command.md", "install from a clone"), {
    cwd: ROOT,
    online: true,
  });
  expect(command, command.said).toMatchObject({ code: 0 });
}, TIMEOUT_MS);
afterAll(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));

function npm(args: readonly string[]): Promise<Ran> {
  return sh(`npm ${args.join(" ")}`, { cwd: home, online: true });
}

/** Runs a command as a person types it: in the project's folder, with the installed programs on the path. */
function sh(script: string, { cwd = project, online = false } = {}): Promise<Ran> {
  const path = [
    join(home, "npm", "bin"),
    join(home, "clients", "node_modules", ".bin"),
    join(ROOT, "node_modules", ".bin"),
    dirname(process.execPath),
    "/usr/bin",
    "/bin",
  ];
  const env = {
    PATH: path.join(":"),
    HOME: home,
    TMPDIR: join(home, "tmp"),
    NO_COLOR: "1",
    CI: "1",
    // The target of `npm install --global`.
    npm_config_prefix: join(home, "npm"),
    ...(online ? networkOf(process.env) : DEAD_PROXY),
  };
  return new Promise((resolve) => {
    execFile("sh", ["-c", script], { cwd, env, maxBuffer: 16 * 1_024 * 1_024 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? -1);
      resolve({ code, said: `${stdout}${stderr}` });
    });
  });
}

/** This machine's settings for npm's registry, if there are any. */
function networkOf(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = Object.keys(env).filter((name) =>
    /^(npm_config_(registry|cafile|cache|.*proxy)|.*_proxy|.*_CERTS?)$/i.test(name),
  );
  return Object.fromEntries(names.map((name) => [name, env[name]]));
}

const run = async (howto: string, name: string) => sh(await runBlock(howto, name));

test("the command is installed in this version", async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  expect((await sh("helmdeck-memory --version")).said.trim()).toBe(version);
});

describe("Claude Code", () => {
  test("adds, reaches and removes the server", async () => {
    console.info(`Claude Code: ${(await sh("claude --version")).said.trim()}`);
    expect(await run("claude-code.md", "add")).toMatchObject({ code: 0 });
    expect((await run("claude-code.md", "list")).said).toMatch(
      /^helmdeck: helmdeck-memory mcp --caller main - .*Connected$/m,
    );
    expect(await run("claude-code.md", "remove")).toMatchObject({ code: 0 });
    expect((await run("claude-code.md", "list")).said).not.toContain("helmdeck-memory");
  });

  test("finds the server of a project, and asks before starting it", async () => {
    const config = await configBlock("claude-code.md", ".mcp.json");
    await writeFile(join(project, ".mcp.json"), JSON.stringify(config));
    expect((await run("claude-code.md", "list")).said).toMatch(/^helmdeck: .*Pending approval/m);
    await rm(join(project, ".mcp.json"));
  });
});

describe("Gemini CLI", () => {
  const settings = () => readFile(join(home, ".gemini", "settings.json"), "utf8").then(JSON.parse);

  test("adds, reaches and removes the server in a trusted folder", async () => {
    console.info(`Gemini CLI: ${(await sh("gemini --version")).said.trim()}`);
    expect(await run("gemini-cli.md", "add")).toMatchObject({ code: 0 });
    expect((await sh("gemini mcp list")).said).toMatch(/helmdeck: .* - Disabled/);
    const connected = /helmdeck: helmdeck-memory mcp --caller main \(stdio\) - Connected/;
    expect((await run("gemini-cli.md", "list")).said).toMatch(connected);
    const trusted = { [project]: "TRUST_FOLDER" };
    await writeFile(join(home, ".gemini", "trustedFolders.json"), JSON.stringify(trusted));
    expect((await sh("gemini mcp list")).said).toMatch(connected);
    expect(await configBlock("gemini-cli.md", "settings.json")).toMatchObject(await settings());
    expect(await run("gemini-cli.md", "remove")).toMatchObject({ code: 0 });
    expect((await settings()).mcpServers).toEqual({});
  });

  test("reaches the server in its settings", async () => {
    const config = await configBlock("gemini-cli.md", "settings.json");
    await writeFile(join(home, ".gemini", "settings.json"), JSON.stringify(config));
    expect((await run("gemini-cli.md", "list")).said).toMatch(/helmdeck: .* - Connected/);
  });
});

describe("OpenClaw", () => {
  test("adds, probes and removes the server", async () => {
    expect(await run("openclaw-mcp.md", "add")).toMatchObject({ code: 0 });
    const written = JSON.parse(await readFile(join(home, ".openclaw", "openclaw.json"), "utf8"));
    const shipped = await configBlock("openclaw-mcp.md", "openclaw.json");
    expect(written).toMatchObject(Object(shipped));
    const probed = await run("openclaw-mcp.md", "probe");
    expect(probed, probed.said).toMatchObject({ code: 0 });
    expect(probed.said).toMatch(/\b11 tools\b/);
    expect(await run("openclaw-mcp.md", "leave memory to the plugin")).toMatchObject({ code: 0 });
    expect((await run("openclaw-mcp.md", "probe")).said).toMatch(/\b3 tools\b/);
    expect(await run("openclaw-mcp.md", "remove")).toMatchObject({ code: 0 });
  });
});
