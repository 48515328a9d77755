/** Runs one command line: parses it, runs the command, and turns every failure into one line and an exit code. */
import { Command, CommanderError } from "commander";
import type { AuditAction } from "../app/audit-log.ts";
import { safeJson } from "../app/presenters/safe-json.ts";
import type { CommandContext, CommandLine, Runs } from "./command-line.ts";
import { type Asked, EXIT_DONE, EXIT_FAILED, EXIT_USAGE, reportFailure } from "./exit-codes.ts";
import { withExamples } from "./option-parsers.ts";
import { isReaderGone, Output } from "./output.ts";
import { type Shell, thisShell } from "./shell.ts";

/** Runs the command in this process's own shell and returns its exit code. */
export function main(args: readonly string[], line: CommandLine): Promise<number> {
  const shell = thisShell();
  // The command handles the failed write. Without a listener, the stream's error event would end the process first.
  for (const stream of [shell.stdout, shell.stderr]) stream.on("error", () => {});
  return runCommandLine(args, shell, line);
}

/** 0: done, 1: failed, 2: invalid command line. Never throws. */
export async function runCommandLine(
  args: readonly string[],
  shell: Shell,
  line: CommandLine,
): Promise<number> {
  const output = new Output(shell);
  const { program, exitCode } = makeProgram(shell, output, line);
  try {
    await program.parseAsync(withoutHelpOfNothing(program, args), { from: "user" });
    return exitCode();
  } catch (error) {
    const asked = { command: line.name, help: helpFor(program, args), json: wantsJson(args) };
    return await endOf(error, output, asked).catch(() => EXIT_FAILED);
  }
}

/** `help sotre` is answered as `sotre` is, with a suggestion. Commander would print the whole help. */
function withoutHelpOfNothing({ commands }: Command, args: readonly string[]): string[] {
  const [first, name] = args;
  const isUnknown =
    first === "help" &&
    name !== undefined &&
    /^\w/.test(name) &&
    !commands.some((command) => command.name() === name || command.aliases().includes(name));
  return isUnknown ? [name] : [...args];
}

/** The command that was meant, with its program's name: the first words that name one. */
function helpFor(program: Command, args: readonly string[]): string {
  const named = args
    .map((word) => program.commands.find((each) => each.name() === word || each.aliases().includes(word)))
    .find((found) => found !== undefined);
  return named === undefined ? program.name() : `${program.name()} ${named.name()}`;
}

function endOf(error: unknown, output: Output, asked: Asked): Promise<number> {
  if (isReaderGone(error)) return Promise.resolve(EXIT_DONE);
  if (error instanceof CommanderError) {
    // Requested help and version have been printed. Help without a request follows a missing command.
    if (error.exitCode === 0) return Promise.resolve(EXIT_DONE);
    if (error.code === "commander.help") return Promise.resolve(EXIT_USAGE);
  }
  return reportFailure(error, output, asked);
}

/** Works even if the command line could not be parsed. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return (end === -1 ? args : args.slice(0, end)).includes("--json");
}

export interface Program {
  readonly program: Command;
  /** The exit code of the command that ran. */
  readonly exitCode: () => number;
}

/**
 * Builds commander's program: every command, argument, option and example. A command's work is loaded when it runs.
 *
 * A new program, to parse one command line.
 */
export function makeProgram(shell: Shell, output: Output, line: CommandLine): Program {
  let answered: number = EXIT_DONE;
  const runs: Runs = async (command, work, action) => {
    const options = line.readShared(command.optsWithGlobals());
    const context = { shell, output, options, line, later: [] };
    try {
      answered = await (action === undefined ? work(context) : runRecorded(context, work, action));
    } finally {
      for (const note of context.later) await output.note(note);
    }
  };
  const program = rootCommand(shell, line);
  for (const declare of line.commands) declare(program, runs);
  return { program, exitCode: () => answered };
}

/** Leaves a line in the audit log, if there is one. */
async function runRecorded(
  context: CommandContext,
  work: Parameters<Runs>[1],
  action: AuditAction,
): Promise<number> {
  const { audited, openAuditFile, thisUser } = await import("../app/audit-log.ts");
  const audit = await openAuditFile(context.shell, (event, problem) => {
    void context.output.note(`${problem} This line is missing there: ${safeJson(event)}`).catch(() => {}); // best effort
  });
  if (audit === undefined) return work(context);
  return audited(
    audit,
    { action, actor: thisUser() },
    (found) => work({ ...context, found }),
    (exitCode) => exitCode === EXIT_DONE,
  );
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
