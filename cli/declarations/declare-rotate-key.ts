/** Declares `rotate-key`. */
import type { Command } from "commander";
import type { Runs } from "../../commands/command-line.ts";
import { nonEmpty, withExamples } from "../../commands/option-parsers.ts";

export function declareRotateKey(program: Command, runs: Runs): void {
  const rotate = program
    .command("rotate-key")
    .summary("Change the key and encrypt everything with it.")
    .description(
      "Make a new key, encrypt everything with it, and put it in place of the former one, which stays as <key file>.former-<key id>. Memory stays usable. If interrupted, run it again to continue; until it finishes, both keys open everything.",
    )
    .option(
      "--new-key-file <file>",
      "For a key that you keep elsewhere: encrypt everything with the key in this file, which is created if needed. Put that key in place, then run rotate-key --finish.",
      nonEmpty,
    )
    .option("--finish", "Remove the former key, after you put the new one in place.")
    .option("--dry-run", "Only show what it would do.")
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
