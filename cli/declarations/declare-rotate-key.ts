/** How `helmdeck-memory rotate-key` is called. */
import type { Command } from "commander";
import { nonEmpty, type Runs, withExamples } from "../../commands/index.ts";

export function declareRotateKey(program: Command, runs: Runs): void {
  const rotate = program
    .command("rotate-key")
    .summary("Change the key, and seal everything anew under it.")
    .description(
      "Make a new key, seal everything anew under it, and put it in the place of the former one, which stays beside it as <key file>.former-<key id>. Others may use memory meanwhile. Interrupted, it goes on when it is run again; until then both keys open everything.",
    )
    .option(
      "--new-key-file <file>",
      "For a key that is in no file of ours: seal everything under the key in this file, which is made if it is not there. Put that key in place, then run rotate-key --finish.",
      nonEmpty,
    )
    .option("--finish", "Take the former key away, once the new one is in place.")
    .option("--dry-run", "Only say what it would do.")
    .action((_options: unknown, command: Command) => {
      const { newKeyFile, finish, dryRun } = command.opts<RotateKeyOptions>();
      if (finish && (newKeyFile !== undefined || dryRun)) {
        return command.error("--finish takes neither --new-key-file nor --dry-run.");
      }
      return runs(command, async (context) =>
        (await import("../commands/rotate-key.ts")).rotateKeyCommand(context, {
          newKeyFile,
          finish: finish === true,
          dryRun: dryRun === true,
        }),
      );
    });
  withExamples(rotate, [
    "helmdeck-memory rotate-key --dry-run",
    "helmdeck-memory rotate-key",
    "helmdeck-memory rotate-key --new-key-file new.key",
    "helmdeck-memory rotate-key --finish",
  ]);
}

interface RotateKeyOptions {
  readonly newKeyFile?: string;
  readonly finish?: boolean;
  readonly dryRun?: boolean;
}
