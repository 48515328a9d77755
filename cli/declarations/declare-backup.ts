/** How `helmdeck-memory backup` and `helmdeck-memory restore` are called. */
import type { Command } from "commander";
import { nonEmpty, type Runs, withExamples } from "../../commands/index.ts";

export function declareBackup(program: Command, runs: Runs): void {
  const backup = program
    .command("backup")
    .summary("Write a sealed copy of everything to a file.")
    .description(
      "Write all of the memory database, of every caller, to one sealed file that only you can read (mode 0600), also while it is in use. The file is read back and tried before this says that it is done. The key is not in it: keep a copy of the key apart from it.",
    )
    .argument("<file>", "The backup; it must not exist yet.", nonEmpty)
    .option("--overwrite", "Take the place of a file that is there, once the new one is whole.")
    .option("--dry-run", "Only say what it would do.")
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
    .summary("Put a backup in place.")
    .description(
      "Put a backup in place: where there is no memory yet, or over a database that nobody has open, which is kept as <database>.before-restore-<time>. Needs the key that the backup was made with.",
    )
    .argument("<file>", "What helmdeck-memory backup wrote.", nonEmpty)
    .option("--dry-run", "Only say what it would do.")
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
