/** The parts of `openclaw helmdeck` that test/cli does not cover: OpenClaw's commander, agents, findings and secrets. */
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { NO_EMBEDDINGS } from "../../app/embedding/embedding-settings.ts";
import type { Finding } from "../../app/memory.ts";
import type { CommandContext } from "../../commands/command-line.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { subjectOf } from "../../plugin/identity.ts";
import type { CliContext } from "../../plugin/openclaw-api.ts";
import { isForPrograms, registerHelmdeckCli } from "../../plugin/openclaw-cli.ts";
import { type CliParts, helmdeckLine } from "../../plugin/openclaw-commands.ts";
import { openTestMemory, tempPlace } from "../app/fixtures/memories.ts";
import { runPiped } from "../cli/terminal.ts";

const SUBJECTS = new Map([
  ["work", "shared"],
  ["broken", undefined],
]);

async function parts(own: Partial<CliParts> = {}): Promise<CliParts> {
  const place = await tempPlace();
  return {
    settings: async () => ({ ...place, env: {}, embeddings: NO_EMBEDDINGS, recall: "balanced" }),
    defaultAgent: "main",
    subjectOf: (agentId) => subjectOf(agentId, { subjects: SUBJECTS, source: { kind: "embedded" } }),
    openClaw: () => ({ stateDir: "/nowhere", workspaces: [] }),
    hostFindings: async () => [],
    hostWarnings: () => [],
    ...own,
  };
}

function typing(args: readonly string[], given: CliParts) {
  const line = helmdeckLine(given);
  // Two SQLite libraries must not have one file open in the same process.
  const memoryOptions = async (context: CommandContext) => ({
    ...(await line.memoryOptions(context)),
    driver: betterSqliteDriver,
  });
  return runPiped(args, { homeFolder: "/nowhere", line: { ...line, memoryOptions } });
}

describe("the arguments", () => {
  test.each([
    [["list"]],
    [["list", "--json", "deploy/"]],
    [["--json", "list"]],
    [["--agent", "work", "store", "key", "a value", "--ttl=90d"]],
    [["store", "key", "--", "-v-"]],
    [["--help"]],
    [["store", "--help"]],
    [["--version"]],
    [[]],
  ])("%j are passed to the command unchanged", async (typed) => {
    const program = new Command().enablePositionalOptions().exitOverride();
    const seen: (readonly string[])[] = [];
    // OpenClaw brings its own copy of commander with the same interface.
    registerHelmdeckCli(program as unknown as CliContext["program"], await parts(), async (args) => {
      seen.push(args);
      return 0;
    });
    await program.parseAsync(["helmdeck", ...typed], { from: "user" });
    expect(seen).toEqual([typed]);
  });

  test("the exit code is the command's", async () => {
    const program = new Command().enablePositionalOptions().exitOverride();
    const before = process.exitCode;
    registerHelmdeckCli(program as unknown as CliContext["program"], await parts(), async () => 2);
    await program.parseAsync(["helmdeck", "list"], { from: "user" });
    expect(process.exitCode).toBe(2);
    process.exitCode = before;
  });

  test("JSON output is detected", () => {
    expect(isForPrograms(["openclaw", "helmdeck", "list", "--json"])).toBe(true);
    expect(isForPrograms(["openclaw", "helmdeck", "export"])).toBe(true);
    expect(isForPrograms(["openclaw", "helmdeck", "list"])).toBe(false);
  });
});

describe("the selected memory", () => {
  test("is that of the default agent or the named agent, by its subject", async () => {
    const given = await parts();
    expect(await typing(["store", "mine", "of main"], given)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Stored mine .* for main\./),
    });
    await typing(["store", "theirs", "of work", "--agent", "Work"], given);
    expect((await typing(["list"], given)).stdout).not.toContain("theirs");
    expect((await typing(["list", "--agent", "work"], given)).stdout).toContain("theirs");
    const settings = await given.settings();
    const memory = await openTestMemory({ ...settings, now: Date.now });
    expect(await memory.getFact("shared", { key: "theirs" })).toMatchObject({ value: "of work" });
    expect(await memory.getFact("main", { key: "mine" })).toMatchObject({
      writer: { surface: "cli", agent: "main" },
    });
  });

  test.each(["../main", "", "broken"])("is refused as a usage error for the agent %j", async (agent) => {
    const seen = await typing(["list", "--agent", agent], await parts());
    expect(seen).toMatchObject({ code: 2, stdout: "" });
    expect(seen.stderr).toContain("Give the id of an agent whose entry in subjects, if any, is well-formed.");
  });

  test("is none for a default agent with a malformed subject", async () => {
    const seen = await typing(["list"], await parts({ defaultAgent: "broken" }));
    expect(seen).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("subjects") });
  });
});

test("the help names openclaw helmdeck", async () => {
  const { code, stdout } = await typing(["store", "--help"], await parts());
  expect(code).toBe(0);
  expect(stdout).toContain("Usage: openclaw helmdeck store|add [options] <key> [value]");
  expect(stdout).toContain("--agent <id>");
  expect(stdout).not.toMatch(/helmdeck-memory|--caller/);
});

describe("OpenClaw's information", () => {
  const WIKI: Finding = {
    level: "warning",
    check: "memory-wiki",
    message: "is enabled",
    remedy: "Ask for more.",
  };

  test("is added to doctor's findings", async () => {
    const given = await parts({ hostFindings: async () => [WIKI] });
    await typing(["store", "a", "fact"], given);
    const { code, stdout } = await typing(["doctor", "--json"], given);
    expect(code).toBe(0);
    const { findings } = JSON.parse(stdout);
    expect(findings).toContainEqual(WIKI);
    expect(findings).toContainEqual({ level: "ok", check: "rows", message: "Every row can be opened." });
  });

  test("is added to status: contexts without access to memory", async () => {
    const given = await parts({ hostWarnings: () => ["sub-agents find nothing"] });
    expect((await typing(["status"], given)).stdout).toContain("\n  sub-agents find nothing");
    const { stdout } = await typing(["status", "--json"], given);
    expect(JSON.parse(stdout)).toMatchObject({ state: "none", warnings: ["sub-agents find nothing"] });
  });
});

describe("a key that cannot be read", () => {
  const BROKEN = new HelmdeckError("key_unreadable", "The secret could not be read; make it available.");
  const broken = () => parts({ settings: () => Promise.reject(BROKEN) });

  test("is shown by status", async () => {
    expect(await typing(["status"], await broken())).toEqual({
      code: 1,
      stdout:
        "helmdeck memory: failed (key_unreadable)\n  The secret could not be read; make it available.\n",
      stderr: "",
    });
    const { stdout } = await typing(["status", "--json"], await broken());
    const error = { code: "key_unreadable", message: BROKEN.message };
    expect(JSON.parse(stdout)).toEqual({ state: "failed", error });
  });

  test("is one of doctor's findings, beside OpenClaw's", async () => {
    const host: Finding = { level: "ok", check: "memory-wiki", message: "not enabled" };
    const { code, stdout } = await typing(["doctor", "--json"], {
      ...(await broken()),
      hostFindings: async () => [host],
    });
    expect(code).toBe(1);
    const key: Finding = { level: "error", check: "key", message: BROKEN.message };
    expect(JSON.parse(stdout)).toEqual({ findings: [key, host] });
  });

  test.each([[["search", "x"]], [["list"]], [["forget", "all", "--yes"]], [["store", "a", "b"]]])(
    "fails %j with its reason",
    async (args) => {
      expect(await typing(args, await broken())).toEqual({
        code: 1,
        stdout: "",
        stderr: `key_unreadable: ${BROKEN.message}\n`,
      });
    },
  );
});
