/** docs/reference/cli.md shows the real help of every command, and no other command. */

import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { HELMDECK_HERE, HELMDECK_MEMORY } from "../../cli/index.ts";
import { Output } from "../../commands/output.ts";
import { makeProgram } from "../../commands/run-program.ts";
import { documentedCommands, REFERENCE_PATH, withCurrentHelp } from "../../scripts/cli-reference.ts";

const reference = readFileSync(REFERENCE_PATH, "utf8");

function program(spec = HELMDECK_MEMORY) {
  const stream = new PassThrough();
  const shell = { stdin: stream, stdout: stream, stderr: stream, env: {}, homeDir: "/", now: () => 0 };
  return makeProgram(shell, new Output(shell), spec).program;
}

/** Every command with its full name. A group comes before its commands. */
function allCommands(group: Command, typed: readonly string[] = []): readonly [string, Command][] {
  const shown = group.createHelp().visibleCommands(group);
  return shown
    .filter((command) => command.name() !== "help")
    .flatMap((command) => {
      const words = [...typed, command.name()];
      return [[words.join(" "), command] as [string, Command], ...allCommands(command, words)];
    });
}

describe("the reference of the command line", () => {
  test("shows the current help of every command (update: node scripts/cli-reference.ts)", async () => {
    expect(reference).toBe(await withCurrentHelp(reference));
  });

  test("has every command, in the program's order", () => {
    const names = allCommands(program()).map(([name]) => name);
    expect(documentedCommands(reference)).toEqual(["helmdeck-memory", ...names]);
  });

  test("names every command of helmdeck-here, which has the options of the same command of here", () => {
    const options = (command?: Command) => command?.options.map(({ long }) => long);
    const here = new Map(allCommands(program()));
    for (const [name, command] of allCommands(program(HELMDECK_HERE))) {
      const same = new RegExp(`\\| \`${name}\` \\| \\[\`(here \\w+)\``).exec(reference)?.[1];
      expect(options(here.get(same ?? "")), name).toEqual(options(command));
    }
  });

  test("names every option of every command", () => {
    const all = [program(), ...allCommands(program()).map(([, command]) => command)];
    const longNames = all.flatMap((command) => command.options.map((option) => option.long));
    expect(longNames.length).toBeGreaterThan(10);
    for (const name of longNames) expect(reference).toContain(name);
  });

  test("would fail with outdated help", async () => {
    const stale = reference.replace("--dry-run", "--simulate");
    expect(stale).not.toBe(reference);
    expect(await withCurrentHelp(stale)).not.toBe(stale);
  });
});
