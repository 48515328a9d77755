/**
 * The how-to pages for MCP clients, from the beginning: the test adds the command to the path and runs each page's commands unchanged, with
 * the current client versions on npm, in a home of its own.
 *
 * Nothing here needs a login: conversations are tested in Claude Code and Codex, with a stand-in for their models. Only the installation uses the network, for npm's registry. The clients can
 * only reach this machine.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";
import { createServer } from "../../server/create-server.ts";
import { mcpMount } from "../../server/mcp/mcp-over-http.ts";
import { bashBlocks } from "../docs/bash-blocks.ts";
import { DEAD_PROXY } from "./fixtures/clients.ts";
import { ContextServer, NOW, SECRET, tokenFor } from "./fixtures/context-server.ts";
import { configBlock, runBlock } from "./fixtures/howto.ts";
import { modelEndpoint } from "./fixtures/model-endpoint.ts";

const CLIENTS = [
  ...["@anthropic-ai/claude-code", "@google/gemini-cli"],
  ...["@openai/codex", "opencode-ai", "@qwen-code/qwen-code"],
];
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
  const install = `npm install --prefix ${join(home, "clients")} --no-audit --no-fund ${CLIENTS.join(" ")}`;
  const clients = await sh(install, { cwd: home, online: true });
  expect(clients.said).toMatch(/added \d+ packages/);
  const command = await sh(await runBlock("install-the-command.md", "install from a clone"), {
    cwd: ROOT,
    online: true,
  });
  expect(command, command.said).toMatchObject({ code: 0 });
}, TIMEOUT_MS);
afterAll(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));

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

async function blockOf(page: string, name: string): Promise<string> {
  return (await bashBlocks(`howto/${page}`)).find((one) => one.name === name)?.script ?? "exit 9";
}

describe("Claude Code", () => {
  const block = (name: string) => blockOf("claude-code.md", name);
  const settings = () => readFile(join(home, ".claude", "settings.json"), "utf8");
  const AS_BEFORE = '{\n "cleanupPeriodDays": 7 }';
  const INSTALLED = ".openclaw/helmdeck-memory-clients/claude/package";

  beforeAll(async () => {
    console.info(`Claude Code: ${(await sh("claude --version")).said.trim()}`);
    await sh("git init -q && git remote add origin https://git.example/team/garden-planner.git");
    await mkdir(join(home, ".claude"));
    await writeFile(join(home, ".claude", "settings.json"), AS_BEFORE);
    const installed = await sh(await block("install"));
    expect(installed, installed.said).toMatchObject({ code: 0 });
    expect(await sh(await block("try"))).toMatchObject({ code: 0 });
  }, TIMEOUT_MS);

  test("its own validator accepts the package, as built and as installed", async () => {
    for (const folder of [join(ROOT, "dist", "clients", "claude"), join(home, INSTALLED)])
      for (const part of [".", "plugin"]) {
        const validated = await sh(`claude plugin validate --strict '${join(folder, part)}'`);
        expect(validated, validated.said).toMatchObject({ code: 0 });
      }
  });

  test("loads the package, lists its parts, and reaches the tools", async () => {
    const { said } = await sh("claude plugin details helmdeck-memory");
    expect(said).toMatch(/Skills \(1\) +remember/);
    expect(said).toMatch(/Hooks \(2\) +SessionStart, UserPromptSubmit/);
    expect(said).toMatch(/MCP servers \(1\) +helmdeck/);
    expect((await sh("claude mcp list")).said).toMatch(/^plugin:helmdeck-memory:helmdeck: .*Connected$/m);
  });

  /** A session with one prompt, and a stand-in for the model. Returns its events, and what the model was asked. */
  async function session(prompt: string) {
    const endpoint = await modelEndpoint();
    const env = `ANTHROPIC_BASE_URL=${endpoint.url} ANTHROPIC_API_KEY=not-a-key CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1`;
    const ran = await sh(`${env} claude -p '${prompt}' --output-format stream-json --verbose`);
    expect(ran, ran.said).toMatchObject({ code: 0 });
    const events = ran.said.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
    return { events, asked: endpoint.asked.join("\n") };
  }

  /** On a busy machine a hook may be late: then the session starts without it, and the next one is asked. */
  async function sessionWithFacts(prompt: string) {
    for (let left = 10; ; left -= 1) {
      const { events, asked } = await session(prompt);
      const hook = events.find(({ subtype }) => subtype === "hook_response");
      expect(hook).toMatchObject({
        hook_event: "SessionStart",
        exit_code: 0,
        outcome: "success",
        stderr: "",
      });
      if (left === 0 || !hook.stdout.includes("in time")) return { events, asked, hook };
    }
  }

  test("calls the hook at the start of a session, and the model gets the facts", async () => {
    const { events, asked, hook } = await sessionWithFacts("what may I eat");
    const { tools } = events.find(({ subtype }) => subtype === "init");
    expect(tools).toContain("mcp__plugin_helmdeck-memory_helmdeck__helmdeck__memory_store");
    const { additionalContext } = JSON.parse(hook.stdout).hookSpecificOutput;
    expect(additionalContext).toContain("> I must not eat nuts");
    expect(additionalContext).toContain("> One file, because backups are simple");
    expect(asked.includes(JSON.stringify(additionalContext).slice(1, -1))).toBe(true);
  });

  // verifies P-client-identity
  test("the settings of a repository choose no other memory", async () => {
    const elsewhere = join(project, "elsewhere");
    await sh(
      `OPENCLAW_STATE_DIR='${elsewhere}' helmdeck-memory store planted "A planted text" && OPENCLAW_STATE_DIR='${elsewhere}' helmdeck-memory pin planted`,
    );
    await mkdir(join(project, ".claude"));
    const env = {
      ...{ HOME: elsewhere, OPENCLAW_STATE_DIR: elsewhere, CLAUDE_CONFIG_DIR: elsewhere },
      ...{ CLAUDE_PLUGIN_ROOT: elsewhere, HELMDECK_MEMORY_KEY: "ab".repeat(32) },
    };
    await writeFile(join(project, ".claude", "settings.json"), JSON.stringify({ env }));
    const { asked } = await sessionWithFacts("what may I eat");
    await rm(join(project, ".claude"), { recursive: true });
    expect(asked.includes("> I must not eat nuts")).toBe(true);
    expect(asked.match(/.{0,80}A planted text.{0,80}/g)).toBeNull();
  });

  test("goes on if the program is gone", async () => {
    await rename(join(home, "npm", "bin", "helmdeck-memory"), join(home, "npm", "bin", "away"));
    const { events } = await session("hello");
    await rename(join(home, "npm", "bin", "away"), join(home, "npm", "bin", "helmdeck-memory"));
    const hook = events.find(({ subtype }) => subtype === "hook_response");
    expect(hook).toMatchObject({ exit_code: 0, outcome: "success", stdout: "" });
  });

  test("uses the tools of a served engine with the token in its file", async () => {
    const context = await ContextServer.open();
    onTestFinished(() => context.close());
    const mount = mcpMount(context.serverContext);
    const server = createServer(context.serverContext, { secret: SECRET, now: () => NOW, mounts: [mount] });
    const served = await server.listen({ port: 0, graceMs: 1_000 });
    onTestFinished(() => served.close());
    await writeFile(join(home, "token"), await tokenFor("main"), { mode: 0o600 });
    const args = `--push start --engine ${served.url} --token-file ~/token`;
    expect(await sh(`helmdeck-memory install claude ${args}`)).toMatchObject({ code: 0 });
    expect((await sh("claude mcp list")).said).toMatch(/^plugin:helmdeck-memory:helmdeck: .*Connected$/m);
  });

  // verifies P-client-undone
  test("uninstalling leaves its settings as they were", async () => {
    expect(await sh(await block("remove"))).toMatchObject({ code: 0 });
    expect(await settings()).toBe(AS_BEFORE);
    expect((await sh("claude plugin list")).said).not.toContain("helmdeck");
    expect((await sh("claude mcp list")).said).not.toContain("helmdeck-memory");
    const left = ["installed_plugins.json", "known_marketplaces.json", "cache"];
    expect(left.filter((name) => existsSync(join(home, ".claude", "plugins", name)))).toEqual([]);
  });

  test("finds the server of a project, and asks before starting it", async () => {
    const config = await configBlock("claude-code.md", ".mcp.json");
    await writeFile(join(project, ".mcp.json"), JSON.stringify(config));
    expect((await sh("claude mcp list")).said).toMatch(/^helmdeck: .*Pending approval/m);
    await rm(join(project, ".mcp.json"));
  });
});

describe("Gemini CLI", () => {
  const settings = () => readFile(join(home, ".gemini", "settings.json"), "utf8").then(JSON.parse);

  test("adds, reaches and removes the server in a trusted folder", async () => {
    console.info(`Gemini CLI: ${(await sh("gemini --version")).said.trim()}`);
    expect(await run("coding-agents.md", "add")).toMatchObject({ code: 0 });
    expect((await sh("gemini mcp list")).said).toMatch(/helmdeck: .* - Disabled/);
    const connected = /helmdeck: helmdeck-memory mcp --caller main \(stdio\) - Connected/;
    expect((await run("coding-agents.md", "list")).said).toMatch(connected);
    const trusted = { [project]: "TRUST_FOLDER" };
    await writeFile(join(home, ".gemini", "trustedFolders.json"), JSON.stringify(trusted));
    expect((await sh("gemini mcp list")).said).toMatch(connected);
    expect(await configBlock("coding-agents.md", "settings.json")).toMatchObject(await settings());
    expect(await run("coding-agents.md", "remove")).toMatchObject({ code: 0 });
    expect((await settings()).mcpServers).toEqual({});
  });

  test("reaches the server in its settings", async () => {
    const config = await configBlock("coding-agents.md", "settings.json");
    await writeFile(join(home, ".gemini", "settings.json"), JSON.stringify(config));
    expect((await run("coding-agents.md", "list")).said).toMatch(/helmdeck: .* - Connected/);
  });
});

describe("Codex", () => {
  test("stores unasked, refuses to forget unasked unless its settings allow that, and removes the server", async () => {
    console.info(`Codex: ${(await sh("codex --version")).said.trim()}`);
    expect(await sh(await blockOf("coding-agents.md", "codex"))).toMatchObject({ code: 0 });
    const uses = [
      ["memory_store", { key: "codex/editor", value: "Helix" }],
      ["memory_forget", { scope: "codex/editor" }],
    ] as const;
    const exec = async (...settings: readonly string[]) => {
      const { url } = await modelEndpoint(...uses);
      const provider = `{name="m", base_url="${url}/v1", wire_api="responses"}`;
      const all = [`model_providers.m=${provider}`, 'model_provider="m"', 'model="m"', ...settings];
      const given = all.map((setting) => `-c '${setting}'`).join(" ");
      return (await sh(`codex exec --skip-git-repo-check ${given} go < /dev/null`)).said;
    };
    const approved = 'mcp_servers.helmdeck.tools.helmdeck__memory_forget.approval_mode="approve"';
    expect(await exec()).toMatch(
      /memory_store \(completed\).*memory_forget \(failed\)\n.*requires approval/s,
    );
    expect((await sh("helmdeck-memory get codex/editor")).said).toContain("Helix");
    expect(await exec(approved)).toMatch(/memory_forget \(completed\)/);
    expect(await exec('mcp_servers.helmdeck.default_tools_approval_mode="prompt"')).toMatch(
      /memory_store \(failed\)/,
    );
    expect(await sh("codex mcp remove helmdeck")).toMatchObject({ code: 0 });
    expect(await sh(await blockOf("coding-agents.md", "served"))).toMatchObject({ code: 0 });
    expect((await sh("codex mcp list")).said).toMatch(
      /helmdeck .*:3848.* HELMDECK_TOKEN +enabled +Bearer token/,
    );
  });
});

test.each([
  ["opencode", /✓ helmdeck .*connected/],
  ["qwen", /✓.* helmdeck: .* - Connected/],
])("%s adds and reaches the server", async (program, reached) => {
  console.info(`${program}: ${(await sh(`${program} --version`)).said.trim()}`);
  expect(await sh(await blockOf("coding-agents.md", program))).toMatchObject({ code: 0 });
  expect((await sh(`${program} mcp list`)).said).toMatch(reached);
});

describe("OpenClaw", () => {
  test("adds, probes and removes the server", { timeout: TIMEOUT_MS }, async () => {
    expect(await run("openclaw-mcp.md", "add")).toMatchObject({ code: 0 });
    const written = JSON.parse(await readFile(join(home, ".openclaw", "openclaw.json"), "utf8"));
    const shipped = await configBlock("openclaw-mcp.md", "openclaw.json");
    expect(written).toMatchObject(Object(shipped));
    const probed = await run("openclaw-mcp.md", "probe");
    expect(probed, probed.said).toMatchObject({ code: 0 });
    expect(probed.said).toMatch(/\b13 tools\b/);
    expect(await run("openclaw-mcp.md", "leave memory to the plugin")).toMatchObject({ code: 0 });
    expect((await run("openclaw-mcp.md", "probe")).said).toMatch(/\b3 tools\b/);
    expect(await run("openclaw-mcp.md", "remove")).toMatchObject({ code: 0 });
  });
});
