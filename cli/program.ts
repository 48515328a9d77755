/** The command line as commander knows it: every command, argument, option and example; the work is loaded when it runs. */
import { Command } from "commander";
import manifest from "../package.json" with { type: "json" };
import type { SharedOptions } from "./command-context.ts";
import { declareBackup, declareRestore } from "./declarations/declare-backup.ts";
import { declareDoctor } from "./declarations/declare-doctor.ts";
import { declareEmbed } from "./declarations/declare-embed.ts";
import { declareExport } from "./declarations/declare-export.ts";
import { declareForget } from "./declarations/declare-forget.ts";
import { declareGet } from "./declarations/declare-get.ts";
import { declareHere } from "./declarations/declare-here.ts";
import { declareHistory, declareUndo } from "./declarations/declare-history.ts";
import { declareImport } from "./declarations/declare-import.ts";
import { declareKey } from "./declarations/declare-key.ts";
import { declareList } from "./declarations/declare-list.ts";
import { declareMcp } from "./declarations/declare-mcp.ts";
import { declareRenew } from "./declarations/declare-renew.ts";
import { declareRepair, declareVerify } from "./declarations/declare-repair.ts";
import { declareRotateKey } from "./declarations/declare-rotate-key.ts";
import { declareSearch } from "./declarations/declare-search.ts";
import { declareServe } from "./declarations/declare-serve.ts";
import { declareStore } from "./declarations/declare-store.ts";
import { declareToken } from "./declarations/declare-token.ts";
import { nonEmpty, type Runs, withExamples } from "./declarations/option-parsers.ts";
import { EXIT_DONE } from "./exit-codes.ts";
import type { Output } from "./output.ts";
import type { Shell } from "./shell.ts";

/** OpenClaw's default agent, so that a shell and that agent share one memory. */
const DEFAULT_CALLER = "main";

export interface Program {
  readonly program: Command;
  /** What the command that ran answered. */
  readonly exitCode: () => number;
}

/** What tells one of our commands from another. */
export interface ProgramSpec {
  readonly name: string;
  readonly description: string;
  readonly commands: readonly ((program: Command, runs: Runs) => void)[];
  readonly examples: readonly string[];
}

/** A fresh program: parse a command line with it once. */
export function makeProgram(shell: Shell, output: Output, spec = HELMDECK_MEMORY): Program {
  let answered: number = EXIT_DONE;
  const runs: Runs = async (command, work) => {
    answered = await work({ shell, output, options: command.optsWithGlobals<SharedOptions>() });
  };
  const program = rootCommand(shell, spec);
  for (const declare of spec.commands) declare(program, runs);
  return { program, exitCode: () => answered };
}

/** The command that people and scripts use. */
export const HELMDECK_MEMORY: ProgramSpec = {
  name: "helmdeck-memory",
  description: "What helmdeck memory holds for OpenClaw, from a shell: store, look, search, forget.",
  commands: [
    declareStore,
    declareGet,
    declareList,
    declareSearch,
    declareHistory,
    declareUndo,
    declareRenew,
    declareForget,
    declareImport,
    declareExport,
    declareEmbed,
    declareMcp,
    declareServe,
    declareToken,
    declareHere,
    declareBackup,
    declareRestore,
    declareRotateKey,
    declareKey,
    declareVerify,
    declareRepair,
    declareDoctor,
  ],
  examples: [
    'helmdeck-memory store deploy/konflux "We deploy through Konflux, never by hand"',
    'helmdeck-memory search "konflux deployment preference"',
    "helmdeck-memory list",
  ],
};

function rootCommand(shell: Shell, { name, description, examples }: ProgramSpec): Command {
  const root = new Command(name)
    .description(description)
    .version(manifest.version, "-V, --version", "Print the version.")
    .helpOption("-h, --help", "Show help; after a command, the help of that command.")
    .helpCommand("help [command]", "Show the help of a command.")
    .option("--json", "Print the answer (and on stderr an error) as one line of JSON.")
    .option("--caller <subject>", "Whose memory: the id of an OpenClaw agent.", nonEmpty, DEFAULT_CALLER)
    .option("--db <path>", "Another database than the one that the OpenClaw plugin uses.", nonEmpty)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void shell.stdout.write(text),
      writeErr: (text) => void shell.stderr.write(text),
      getOutHelpWidth: () => shell.stdout.columns ?? 80,
      getErrHelpWidth: () => shell.stderr.columns ?? 80,
      // The failure is reported once, by run.ts.
      outputError: () => {},
    });
  return withExamples(root, examples);
}
