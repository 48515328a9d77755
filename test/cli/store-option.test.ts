/** Every command that takes `--store` uses the database that it names, or reports that it does not. */
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { HELMDECK_HERE } from "../../cli/here-program.ts";
import { HELMDECK_MEMORY } from "../../cli/index.ts";
import type { CommandLine } from "../../commands/command-line.ts";
import { makeProgram } from "../../commands/run-program.ts";
import { CommandHome } from "./command.ts";
import { runPiped } from "./terminal.ts";

const home = CommandHome.forEachTest();

/** An address that is refused before any connection is made. */
const REFUSED = "postgres://engine:shown@db.example/memory";

/** The arguments that each command needs. A new command without an entry fails here. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  store: ["k", "v"],
  get: ["k"],
  edit: ["k", "v"],
  renew: ["k"],
  pin: ["k"],
  unpin: ["k"],
  tidy: [],
  undo: ["k"],
  history: ["k"],
  list: [],
  search: ["words"],
  forget: ["k", "--yes"],
  status: [],
  doctor: [],
  export: [],
  import: ["-"],
  imports: [],
  embed: [],
  mcp: [],
  open: [],
  serve: ["--port", "0"],
  token: ["--subject", "main"],
  "here recall": [],
  "here offer": ["--kind", "decision", "--slug", "x"],
  "here state": ["plan"],
  backup: ["file"],
  restore: ["file"],
  move: ["--to", "postgres://db.example/other"],
  "rotate-key": [],
  "key saved": ["copy"],
  "model install": [],
  "model status": [],
  "model remove": [],
  verify: [],
  repair: [],
  install: [],
  "install claude": [],
  completion: ["bash"],
  "recall-here": [],
  "offer-save-here": ["--kind", "decision", "--slug", "x"],
  "state-path": ["plan"],
};

/** A shell and a coding agent call these, which never fail. */
const ANSWERS_QUIETLY: ReadonlySet<string> = new Set(["complete", "hook"]);

function commandsOf(line: CommandLine): readonly string[] {
  const shell = { env: {}, homeDir: "" } as never; // used only to declare commands
  return leavesOf(makeProgram(shell, undefined as never, line).program);
}

function leavesOf(command: Command, path: readonly string[] = []): readonly string[] {
  const { commands } = command;
  if (commands.length === 0) return [path.join(" ")];
  return commands
    .filter((one) => !ANSWERS_QUIETLY.has(one.name()))
    .flatMap((one) => leavesOf(one, [...path, one.name()]));
}

describe.each([HELMDECK_MEMORY, HELMDECK_HERE])("$name", (line) => {
  test.each(commandsOf(line))("%s uses --store", async (name) => {
    const args = [...name.split(" "), ...(ARGUMENTS[name] ?? ["no entry in ARGUMENTS"]), "--store", REFUSED];
    const { code, stdout, stderr } = await runPiped(args, { homeFolder: home.folder, line });
    expect(`${stdout}${stderr}`).toMatch(
      /must not hold a password|leave out --db and --store|name that with --engine/,
    );
    expect(code).not.toBe(0);
  });
});

test.each([
  ["move", "--from", "a.sqlite", "--to", "b.sqlite", "--store", "postgres://db.example/memory"],
  ["move", "--reopen", "--from", "a.sqlite", "--store", "postgres://db.example/memory"],
  ["move", "--prepare", "--to", "postgres://db.example/m", "--store", "postgres://db.example/memory"],
])("%s %s … names no place twice", async (...args) => {
  const { code } = await runPiped(args, { homeFolder: home.folder });
  expect(code).toBe(2);
});
