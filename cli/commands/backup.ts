/** `backup` and `restore`: everything to and from one encrypted file, with progress. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { counted } from "../../app/presenters/words.ts";
import { snakeCased } from "../../app/wire/codec.ts";
import type { CommandContext, Runs } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { nonEmpty, withExamples } from "../../commands/option-parsers.ts";
import { showCount } from "../../commands/progress-bar.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";

export function declareBackup(program: Command, runs: Runs): void {
  const backup = program
    .command("backup")
    .summary("Back up everything to one encrypted file.")
    .description(
      "Back up the memory of every caller to one encrypted file that only you can read (mode 0600), while it is in use. The file is read back and checked. The key is not in it: keep a copy of the key elsewhere.",
    )
    .argument("<file>", "The backup; it must not exist yet.", nonEmpty)
    .option("--overwrite", "Replace an existing file, after the new one is complete.")
    .option("--dry-run", "Only show what it would do.")
    .action((file: string, _options: unknown, command: Command) => {
      const { overwrite, dryRun } = command.opts<{
        readonly overwrite?: boolean;
        readonly dryRun?: boolean;
      }>();
      const request = { file, replaces: overwrite === true, dryRun: dryRun === true };
      const action = request.dryRun ? undefined : "memory_backed_up";
      return runs(command, async (context) => backupCommand(context, request), action);
    });
  withExamples(backup, ["helmdeck-memory backup memory-2026-11-22.backup"]);
}

export function declareRestore(program: Command, runs: Runs): void {
  const restore = program
    .command("restore")
    .summary("Restore a backup.")
    .description(
      "Restore a backup where there is no memory yet, or over a database that nobody has open, which is kept as <database>.before-restore-<time>. This needs the key that the backup was made with.",
    )
    .argument("<file>", "A file written by helmdeck-memory backup.", nonEmpty)
    .option("--dry-run", "Only show what it would do.")
    .action((file: string, _options: unknown, command: Command) => {
      const { dryRun } = command.opts<{ readonly dryRun?: boolean }>();
      const request = { file, dryRun: dryRun === true };
      const action = request.dryRun ? undefined : "memory_restored";
      return runs(command, async (context) => restoreCommand(context, request), action);
    });
  withExamples(restore, [
    "helmdeck-memory restore memory-2026-11-22.backup --dry-run",
    "helmdeck-memory restore memory-2026-11-22.backup",
  ]);
}

async function backupCommand(
  context: CommandContext,
  request: { readonly file: string; readonly replaces: boolean; readonly dryRun: boolean },
): Promise<number> {
  const { output, options } = context;
  const { backUp, planBackUp } = await import("../../app/keys/back-up.ts");
  const { fileOptions } = await import("../memory-options.ts");
  const file = resolve(request.file);
  context.found?.({ file });
  const asked = { ...(await fileOptions(context)), file, replaces: request.replaces };
  if (request.dryRun) {
    const plan = await planBackUp(asked);
    await answer(context, { dry_run: true, ...snakeCased({ ...plan }) }, [
      `Would back up ${counted(plan.entries, "entry", "entries")} to ${harmlessLine(file)}, encrypted with the key ${plan.keyId}.`,
    ]);
    return EXIT_DONE;
  }
  const done = await withProgress(context, (onBytes) => backUp({ ...asked, onBytes }));
  context.found?.({ entries: done.entries, key: done.keyId });
  await answer(context, snakeCased({ ...done }), [
    `Backed up ${counted(done.entries, "entry", "entries")} to ${harmlessLine(file)} (${done.bytes} bytes), read back and checked.`,
  ]);
  if (done.unreadable > 0) {
    await output.note(
      `${done.unreadable} rows are unreadable, in the database and in the backup; see helmdeck-memory doctor.`,
    );
  }
  if (!options.json) {
    await output.note(
      `It opens only with the key ${done.keyId}, which is not in the backup: keep a copy of the key elsewhere.`,
    );
  }
  return EXIT_DONE;
}

async function restoreCommand(
  context: CommandContext,
  request: { readonly file: string; readonly dryRun: boolean },
): Promise<number> {
  const { planRestore, restore } = await import("../../app/keys/restore.ts");
  const { fileOptions } = await import("../memory-options.ts");
  const file = resolve(request.file);
  context.found?.({ file });
  const asked = { ...(await fileOptions(context)), file };
  if (request.dryRun) {
    const plan = await planRestore(asked);
    const over = plan.replaces === undefined ? "where there is no memory yet" : "over the existing database";
    await answer(context, { dry_run: true, ...snakeCased({ ...plan }) }, [
      `Would restore ${counted(plan.entries, "entry", "entries")}, backed up at ${plan.createdAt}, to ${harmlessLine(plan.databasePath)}, ${over}.`,
    ]);
    return EXIT_DONE;
  }
  const done = await withProgress(context, (onBytes) => restore({ ...asked, onBytes }));
  context.found?.({ entries: done.entries, key: done.keyId, to: done.databasePath });
  const kept =
    done.keptAs === undefined ? [] : [`The former database is kept as ${harmlessLine(done.keptAs)}.`];
  await answer(context, snakeCased({ ...done }), [
    `Restored ${counted(done.entries, "entry", "entries")}, backed up at ${done.createdAt}, to ${harmlessLine(done.databasePath)}.`,
    ...kept,
  ]);
  return EXIT_DONE;
}

async function withProgress<T>(
  { shell }: CommandContext,
  work: (onBytes: (done: number, total: number) => void) => Promise<T>,
): Promise<T> {
  const progress = await showCount(shell, { unit: "bytes" });
  try {
    return await work(progress.update);
  } finally {
    progress.stop();
  }
}

async function answer(
  { output, options }: CommandContext,
  reply: Readonly<Record<string, unknown>>,
  lines: readonly string[],
): Promise<void> {
  if (options.json) return output.json(reply);
  for (const line of lines) await output.line(line);
}
