/** Runs the commands of docs/howto/bring-your-notes.md in their order, and compares their output with the page. */
import { execFile } from "node:child_process";
import { cpSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";
import { CommandHome } from "../cli/command.ts";
import { consoleBlocks, patternOf } from "./console-blocks.ts";

const GUIDE = await readFile(join(ROOT, "docs/howto/bring-your-notes.md"), "utf8");
const STEPS = consoleBlocks(GUIDE).flatMap(({ steps }) => steps);

let home: CommandHome;
let env: Awaited<ReturnType<CommandHome["putInPath"]>>;
beforeAll(async () => {
  home = new CommandHome();
  env = await home.putInPath();
  cpSync(join(ROOT, "test/fixtures/notes"), home.folder, { recursive: true });
});
afterAll(() => home.remove());

test("the guide to existing notes has commands for each of its tasks", () => {
  expect(STEPS.length).toBe(14);
});

test.each(STEPS)("$command", async ({ command, expected }) => {
  const running = promisify(execFile)("sh", ["-eu", "-c", `(${command}) 2>&1`], { cwd: home.folder, env });
  expect((await running).stdout).toMatch(patternOf(expected));
});
