/** `backup` and `restore`: everything to and from one encrypted file, with progress. */
import { resolve } from "node:path";
import { backUp, planBackUp } from "../../app/keys/back-up.ts";
import { planRestore, restore } from "../../app/keys/restore.ts";
import { snakeCased } from "../../app/wire/snake-case.ts";
import type { CommandContext } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { showCount } from "../../commands/progress-bar.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { fileOptions } from "../memory-options.ts";

export interface BackupRequest {
  readonly file: string;
  readonly replaces: boolean;
  readonly dryRun: boolean;
}

export async function backupCommand(context: CommandContext, request: BackupRequest): Promise<number> {
  const { output, options } = context;
  const file = resolve(request.file);
  const asked = { ...(await fileOptions(context)), file, replaces: request.replaces };
  if (request.dryRun) {
    const plan = await planBackUp(asked);
    await answer(context, { dry_run: true, ...snakeCased({ ...plan }) }, [
      `Would back up ${plan.entries} entries to ${harmlessLine(file)}, encrypted with the key ${plan.keyId}.`,
    ]);
    return EXIT_DONE;
  }
  const done = await withProgress(context, (onBytes) => backUp({ ...asked, onBytes }));
  await answer(context, snakeCased({ ...done }), [
    `Backed up ${done.entries} entries to ${harmlessLine(file)} (${done.bytes} bytes), read back and checked.`,
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

export interface RestoreRequest {
  readonly file: string;
  readonly dryRun: boolean;
}

export async function restoreCommand(context: CommandContext, request: RestoreRequest): Promise<number> {
  const file = resolve(request.file);
  const asked = { ...(await fileOptions(context)), file };
  if (request.dryRun) {
    const plan = await planRestore(asked);
    const over = plan.replaces === undefined ? "where there is no memory yet" : "over the existing database";
    await answer(context, { dry_run: true, ...snakeCased({ ...plan }) }, [
      `Would restore ${plan.entries} entries, backed up at ${plan.createdAt}, to ${harmlessLine(plan.databasePath)}, ${over}.`,
    ]);
    return EXIT_DONE;
  }
  const done = await withProgress(context, (onBytes) => restore({ ...asked, onBytes }));
  const kept =
    done.keptAs === undefined ? [] : [`The former database is kept as ${harmlessLine(done.keptAs)}.`];
  await answer(context, snakeCased({ ...done }), [
    `Restored ${done.entries} entries, backed up at ${done.createdAt}, to ${harmlessLine(done.databasePath)}.`,
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
