/** Declares `backup` and `restore`. */
import type { Command } from "commander";
import type { Runs } from "../../commands/command-line.ts";
import { nonEmpty, withExamples } from "../../commands/option-parsers.ts";

export function declareBackup(program: Command, runs: Runs): void {
  const backup = program
    .command("backup")
    .summary("Back up everything to one encrypted file.")
    .description(
      "Back up the whole memory database, of every caller, to one encrypted file that only you can read (mode 0600). Memory stays usable during the backup. The file is read back and checked. The key is not in it: keep a copy of the key elsewhere.",
    )
    .argument("<file>", "The backup; it must not exist yet.", nonEmpty)
    .option("--overwrite", "Replace an existing file, after the new one is complete.")
    .option("--dry-run", "Only show what it would do.")
    .action((file: string, _options: unknown, command: Command) => {
      const { overwrite, dryRun } = command.opts<{
        readonly overwrite?: boolean;
        readonly dryRun?: boolean;
      }>();
      return runs(command, async (context) =>
        (await import("../commands/backup.ts")).backupCommand(context, {
          file,
          replaces: overwrite === true,
          dryRun: dryRun === true,
        }),
      );
    });
  withExamples(backup, ["helmdeck-memory backup memory-2026-11-22.backup"]);
}

export function declareRestore(program: Command, runs: Runs): void {
  const restore = program
    .command("restore")
    .summary("Restore a backup.")
    .description(
      "Restore a backup where there is no memory yet, or over a database that nobody has open. The former database is kept as <database>.before-restore-<time>. This needs the key that the backup was made with.",
    )
    .argument("<file>", "A file written by helmdeck-memory backup.", nonEmpty)
    .option("--dry-run", "Only show what it would do.")
    .action((file: string, _options: unknown, command: Command) => {
      const { dryRun } = command.opts<{ readonly dryRun?: boolean }>();
      return runs(command, async (context) =>
        (await import("../commands/backup.ts")).restoreCommand(context, { file, dryRun: dryRun === true }),
      );
    });
  withExamples(restore, [
    "helmdeck-memory restore memory-2026-11-22.backup --dry-run",
    "helmdeck-memory restore memory-2026-11-22.backup",
  ]);
}
