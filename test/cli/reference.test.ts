/** docs/reference/cli.md shows the help that the program really prints, for every command that it really has. */
import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { Output } from "../../cli/output.ts";
import { makeProgram } from "../../cli/program.ts";
import { documentedCommands, REFERENCE_PATH, withCurrentHelp } from "../../scripts/cli-reference.ts";

const reference = readFileSync(REFERENCE_PATH, "utf8");

function program() {
  const stream = new PassThrough();
  const shell = { stdin: stream, stdout: stream, stderr: stream, env: {}, homeDir: "/", now: () => 0 };
  return makeProgram(shell, new Output(shell)).program;
}

describe("the reference of the command line", () => {
  test("shows today's help of every command; if not: node scripts/cli-reference.ts", async () => {
    expect(reference).toBe(await withCurrentHelp(reference));
  });

  test("has every command, in the program's order", () => {
    const names = program().commands.map((command) => command.name());
    expect(documentedCommands(reference)).toEqual(["helmdeck-memory", ...names]);
  });

  test("names every option of every command", () => {
    const all = [program(), ...program().commands];
    const longNames = all.flatMap((command) => command.options.map((option) => option.long));
    expect(longNames.length).toBeGreaterThan(10);
    for (const name of longNames) expect(reference).toContain(name);
  });

  test("would not pass with a stale help", async () => {
    const stale = reference.replace("--dry-run", "--simulate");
    expect(stale).not.toBe(reference);
    expect(await withCurrentHelp(stale)).not.toBe(stale);
  });
});
