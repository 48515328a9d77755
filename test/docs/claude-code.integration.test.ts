/**
 * Runs the commands of docs/howto/claude-code.md unchanged, from nothing, in one shell in a repository. A stand-in takes Claude Code's place; the
 * nightly test of test/server/ runs the same commands with the real client.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";
import { CommandHome } from "../cli/command.ts";
import { bashBlocks, PastedShell } from "./bash-blocks.ts";

const home = new CommandHome();
const BLOCKS = await bashBlocks("howto/claude-code.md");
const repository = home.path("repository");
let shell: PastedShell;

beforeAll(async () => {
  const env = await home.putInPath();
  cpSync(join(ROOT, "test/cli/stand-in-claude.mjs"), home.path("bin/claude"));
  mkdirSync(repository);
  execFileSync("git", ["init", "-q"], { cwd: repository });
  const origin = "https://git.example/team/garden-planner.git";
  execFileSync("git", ["remote", "add", "origin", origin], { cwd: repository });
  shell = new PastedShell({ env, cwd: repository });
});
afterAll(() => {
  shell.close();
  home.remove();
});

function run(name: string): Promise<string> {
  return shell.run(BLOCKS.find((one) => one.name === name)?.script ?? "exit 9");
}

test("the page has these commands", () => {
  expect(BLOCKS.map(({ name }) => name)).toEqual(["install", "try", "own", "remove"]);
});

test("installs, shows what a session gets, chooses another memory, and removes everything", async () => {
  expect(await run("install")).toMatch(
    /^Installed in Claude Code, with the memory of main\. Each session starts/,
  );
  // On a busy machine a hook may be late.
  await expect
    .poll(async () => (await run("try")).split("\n").at(-2))
    .toMatch(/^\{"hookSpecificOutput":.*I must not eat nuts.*One file, because backups are simple/);
  expect(await run("own")).toMatch(/with the memory of claude-code\./);
  expect(await run("remove")).toMatch(/^Taken out of Claude Code\. Your memory stays\./);
  expect(existsSync(join(home.stateFolder, "helmdeck-memory-clients"))).toBe(false);
  expect(existsSync(home.path(".claude/settings.json"))).toBe(false);
  expect((await home.run(["get", "allergies"])).stdout).toContain("nuts");
});
