/** `openclaw helmdeck …`: passes the raw arguments to our own commands. They are loaded when run, because a gateway needs none. */
import type { CliContext } from "./openclaw-api.ts";
import type { CliParts } from "./openclaw-commands.ts";

export const CLI_DESCRIPTION = "Store, inspect, search and clean up helmdeck memory";

/** Resolves to the exit code; never rejects. */
type Run = (args: readonly string[], parts: CliParts) => Promise<number>;

/**
 * OpenClaw's commander would parse the options itself and report mistakes with its own messages and exit codes. So it only
 * passes the raw arguments on.
 */
export function registerHelmdeckCli(
  program: CliContext["program"],
  parts: CliParts,
  run: Run = async (...asked) => (await import("./openclaw-commands.ts")).runHelmdeck(...asked),
): void {
  program
    .command("helmdeck")
    .description(`${CLI_DESCRIPTION}; see openclaw helmdeck --help`)
    .argument("[command...]", "a command with its arguments")
    .allowUnknownOption()
    .passThroughOptions()
    .helpOption(false)
    .action(async (_given: unknown, _options: unknown, command: { readonly args: readonly string[] }) => {
      process.exitCode = await run(command.args, parts);
    });
}

/** Whether a program reads standard output. OpenClaw then writes its own messages to standard error. */
export function isForPrograms(argv: readonly string[]): boolean {
  return argv.includes("--json") || argv.includes("export") || argv.includes("get");
}
