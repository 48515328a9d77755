/** Runs the commands of docs/howto/bring-your-notes.md in their order in one shell, and compares their output with the page. */
import { cpSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";
import { CommandHome } from "../cli/command.ts";
import { PastedShell } from "./bash-blocks.ts";
import { consoleBlocks, patternOf } from "./console-blocks.ts";

const GUIDE = await readFile(join(ROOT, "docs/howto/bring-your-notes.md"), "utf8");
const STEPS = consoleBlocks(GUIDE).flatMap(({ steps }) => steps);

let home: CommandHome;
let shell: PastedShell;
beforeAll(async () => {
  home = new CommandHome();
  shell = new PastedShell({ cwd: home.folder, env: await home.putInPath() });
  cpSync(join(ROOT, "test/fixtures/notes"), home.folder, { recursive: true });
});
afterAll(() => {
  shell.close();
  home.remove();
});

test("the guide to existing notes has commands for each of its tasks", () => {
  expect(STEPS.length).toBe(14);
});

test.each(STEPS)("$command", async ({ command, expected }) => {
  expect(await shell.run(command)).toMatch(patternOf(expected));
});
