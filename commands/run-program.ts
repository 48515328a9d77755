/** Runs one command line: parses it, runs the command, and turns every failure into one line and an exit code. */
import { CommanderError } from "commander";
import type { CommandLine } from "./command-line.ts";
import { EXIT_DONE, EXIT_FAILED, EXIT_USAGE, reportFailure } from "./exit-codes.ts";
import { isReaderGone, Output } from "./output.ts";
import { makeProgram } from "./program.ts";
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
    await program.parseAsync([...args], { from: "user" });
    return exitCode();
  } catch (error) {
    return await endOf(error, output, { command: line.name, json: wantsJson(args) }).catch(() => EXIT_FAILED);
  }
}

function endOf(
  error: unknown,
  output: Output,
  asked: { readonly command: string; readonly json: boolean },
): Promise<number> {
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
