/** `openclaw helmdeck …`: the arguments go as they are to commands of our own, which are loaded when they run: no gateway needs them. */
import type { CliContext } from "./openclaw-api.ts";
import type { CliParts } from "./openclaw-commands.ts";

export const CLI_DESCRIPTION = "Store, look into, search and clean up helmdeck memory";

/** Answers the exit code; never throws. */
type Run = (args: readonly string[], parts: CliParts) => Promise<number>;

/**
 * OpenClaw's commander would read the options in its own way, and answer mistakes in its own words and exit codes: it is asked
 * for the bare arguments.
 */
export function registerHelmdeckCli(
  program: CliContext["program"],
  parts: CliParts,
  run: Run = async (...asked) => (await import("./openclaw-commands.ts")).runHelmdeck(...asked),
): void {
  program
    .command("helmdeck")
    .description(`${CLI_DESCRIPTION}; openclaw helmdeck --help shows how`)
    .argument("[command...]", "a command and what belongs to it")
    .allowUnknownOption()
    .passThroughOptions()
    .helpOption(false)
    .action(async (_given: unknown, _options: unknown, command: { readonly args: readonly string[] }) => {
      process.exitCode = await run(command.args, parts);
    });
}

/** Whether standard output is for a program, so that OpenClaw says what it has to say on standard error. */
export function isForPrograms(argv: readonly string[]): boolean {
  return argv.includes("--json") || argv.includes("export") || argv.includes("get");
}
