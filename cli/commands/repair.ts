/** `verify` checks every row; `repair` writes all readable rows into a new database. Both show progress. */
import { dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import type { VerifyHooks } from "../../app/health/repair-memory.ts";
import { counted } from "../../app/presenters/words.ts";
import type { CommandContext, Runs } from "../../commands/command-line.ts";
import { EXIT_DONE, EXIT_FAILED } from "../../commands/exit-codes.ts";
import { nonEmpty, withExamples } from "../../commands/option-parsers.ts";
import { withCount } from "../../commands/progress-bar.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";

export function declareVerify(program: Command, runs: Runs): void {
  const verify = program
    .command("verify")
    .summary("Open every row and name the unreadable ones.")
    .description(
      "Open every row of every caller: entries, vectors and former values. Names unreadable rows and changes nothing. The exit code is 1 if there are any.",
    )
    .action((_options: unknown, command: Command) =>
      runs(command, async (context) => verifyCommand(context)),
    );
  withExamples(verify, ["helmdeck-memory verify", "helmdeck-memory verify --json"]);
}

export function declareRepair(program: Command, runs: Runs): void {
  const repair = program
    .command("repair")
    .summary("Write all readable rows into a new database.")
    .description(
      "Write all readable rows into a new database, with times, vectors and former values, under the same key. The old one is only read. Says how to put the new one in place.",
    )
    .option(
      "--to <file>",
      "The new database; it must not exist yet. Default: memory-repaired.sqlite beside the old one.",
      nonEmpty,
    )
    .action((options: { readonly to?: string }, command: Command) =>
      runs(command, async (context) => repairCommand(context, options.to), "memory_repaired"),
    );
  withExamples(repair, ["helmdeck-memory repair", "helmdeck-memory repair --to /mnt/other/memory.sqlite"]);
}

/** At most this many are listed; the rest are counted. */
const NAMED_ROWS = 1_000;

const DAMAGED_LOG =
  "store_corrupt: the log next to the database is damaged: recent changes may be missing or undone.";

type Row = Parameters<NonNullable<VerifyHooks["onUnreadable"]>>[0];

async function verifyCommand(context: CommandContext): Promise<number> {
  const { output, options } = context;
  const { verifyMemory } = await import("../../app/health/repair-memory.ts");
  const { memoryOptions } = await import("../memory-options.ts");
  const place = await memoryOptions(context);
  const { result, rows } = await looked(context, (hooks) => verifyMemory(place, hooks));
  if (options.json) await output.json({ ...result, rows });
  else {
    await tellRows(context, rows);
    if (result.log === "damaged") await output.line(DAMAGED_LOG);
    await output.line(
      result.unreadable === 0
        ? `Every row opens: ${counted(result.entries, "entry", "entries")}, ${result.vectors} vectors, ${result.history} former values.`
        : `${result.unreadable} rows are unreadable; ${counted(result.entries, "entry", "entries")}, ${result.vectors} vectors and ${result.history} former values are readable.`,
    );
  }
  return result.unreadable === 0 && result.log === "whole" ? EXIT_DONE : EXIT_FAILED;
}

async function repairCommand(context: CommandContext, wanted: string | undefined): Promise<number> {
  const { output, options } = context;
  const { repairMemory } = await import("../../app/health/repair-memory.ts");
  const { fileOptions } = await import("../memory-options.ts");
  const place = await fileOptions(context);
  const to = resolve(wanted ?? join(dirname(place.databasePath), "memory-repaired.sqlite"));
  context.found?.({ from: place.databasePath, to });
  const { result, rows } = await looked(context, (hooks) => repairMemory({ ...place, to }, hooks));
  if (options.json) await output.json({ ...result, to, rows });
  else {
    await tellRows(context, rows);
    if (result.log === "damaged") await output.line(DAMAGED_LOG);
    await output.line(
      `Wrote ${counted(result.entries, "entry", "entries")}, ${result.vectors} vectors and ${result.history} former values to ${harmlessLine(to)}; ${result.unreadable} rows were unreadable. ` +
        "The old database was not changed.",
    );
    await output.note(
      `To use it: stop every process that uses the database, move ${harmlessLine(place.databasePath)} with its -wal and -shm elsewhere, and ` +
        `move ${harmlessLine(to)} into its place. The key stays the same.`,
    );
  }
  return EXIT_DONE;
}

async function looked<T>(
  { shell }: CommandContext,
  work: (hooks: VerifyHooks) => Promise<T>,
): Promise<{ readonly result: T; readonly rows: readonly Row[] }> {
  const rows: Row[] = [];
  const result = await withCount(shell, ({ update }) =>
    work({
      onProgress: update,
      onUnreadable: (row) => {
        if (rows.length < NAMED_ROWS) rows.push(row);
      },
    }),
  );
  return { result, rows };
}

async function tellRows({ output }: CommandContext, rows: readonly Row[]): Promise<void> {
  for (const { table, number, key, namespace } of rows) {
    const claims =
      key === undefined ? "" : `: claims to be ${harmlessLine(key)} of ${harmlessLine(namespace ?? "")}`;
    await output.line(`entry_unreadable: row ${number} of ${table}${claims}`);
  }
}
