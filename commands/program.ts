/** Builds commander's program: every command, argument, option and example. A command's work is loaded when it runs. */
import { Command } from "commander";
import type { CommandLine, Runs } from "./command-line.ts";
import { withExamples } from "./declarations/option-parsers.ts";
import { EXIT_DONE } from "./exit-codes.ts";
import type { Output } from "./output.ts";
import type { Shell } from "./shell.ts";

export interface Program {
  readonly program: Command;
  /** The exit code of the command that ran. */
  readonly exitCode: () => number;
}

/** A new program, to parse one command line. */
export function makeProgram(shell: Shell, output: Output, line: CommandLine): Program {
  let answered: number = EXIT_DONE;
  const runs: Runs = async (command, work) => {
    const options = line.readShared(command.optsWithGlobals());
    answered = await work({ shell, output, options, line });
  };
  const program = rootCommand(shell, line);
  for (const declare of line.commands) declare(program, runs);
  return { program, exitCode: () => answered };
}

function rootCommand(shell: Shell, line: CommandLine): Command {
  const { name, description, version, examples, declareShared } = line;
  const root = new Command(name).description(description);
  if (version !== undefined) root.version(version, "-V, --version", "Print the version.");
  root
    .helpOption("-h, --help", "Show help; after a command, the help of that command.")
    .helpCommand("help [command]", "Show the help of a command.")
    .option("--json", "Print the answer (and on stderr an error) as one line of JSON.")
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void shell.stdout.write(text),
      writeErr: (text) => void shell.stderr.write(text),
      getOutHelpWidth: () => shell.stdout.columns ?? 80,
      getErrHelpWidth: () => shell.stderr.columns ?? 80,
      // run-program.ts reports the failure.
      outputError: () => {},
    });
  declareShared(root);
  return withExamples(root, examples);
}
