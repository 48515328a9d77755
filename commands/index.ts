/** Declares and runs commands, for both command lines. Code that opens memory is loaded when a command runs. */
export type { CommandContext, CommandLine, Runs } from "./command-line.ts";
export { collect, nonEmpty, seconds, withExamples } from "./declarations/option-parsers.ts";
export { EXIT_DONE, EXIT_FAILED } from "./exit-codes.ts";
export { inputSource, readText } from "./input.ts";
export { MEMORY_COMMANDS } from "./memory-commands.ts";
export type { Output } from "./output.ts";
export { showCount, withCount } from "./progress-bar.ts";
export { main, runCommandLine } from "./run-program.ts";
export { type Shell, thisShell } from "./shell.ts";
export { withMemoryToWrite } from "./with-memory.ts";
