/** How `helmdeck-memory move` is called. */
import type { Command } from "commander";
import { collect, nonEmpty, type Runs, withExamples } from "../../commands/index.ts";

export function declareMove(program: Command, runs: Runs): void {
  const move = program
    .command("move")
    .summary("Move the memory to another store, and back.")
    .description(
      "Move all of the memory, of every caller, between the SQLite database here and PostgreSQL: rows as they are sealed, each compared afterwards. Nobody may have it open meanwhile. Interrupted, it goes on when it is run again. What is left behind stays whole, and no program opens it any longer, so that one memory does not become two.",
    )
    .option(
      "--to <store>",
      "Where to: a postgres:// address as in --store, or the path of a database (default: the one that --store or --db names, or the one here).",
      nonEmpty,
    )
    .option("--from <store>", "Where from, likewise (default: the one here).", nonEmpty)
    .option(
      "--engine-role <role>",
      "To PostgreSQL: a role that an engine runs under, which gets the least that it needs (repeatable).",
      collect,
    )
    .option(
      "--prepare",
      "Move nothing: only make the tables at --to on PostgreSQL, or bring them up to date, for the engines' roles.",
    )
    .option("--dry-run", "Only show what it would do.")
    .option(
      "--reopen",
      "Use the database here again as it was left, although its memory has moved: where the other place is lost.",
    )
    .action((_options: unknown, command: Command) => {
      const { to, from, engineRole = [], ...flags } = command.opts<MoveOptions>();
      const { dryRun = false, reopen = false, prepare = false } = flags;
      if (prepare && (to === undefined || from !== undefined || dryRun || reopen))
        return command.error("--prepare takes --to and --engine-role, and nothing else.");
      if (reopen && (to !== undefined || dryRun))
        return command.error("--reopen takes neither --to nor --dry-run.");
      if (!reopen && to === undefined && from === undefined)
        return command.error("move wants --to or --from.");
      return runs(command, async (context) => {
        const { moveCommand, prepareCommand, reopenCommand } = await import("../commands/move.ts");
        if (prepare && to !== undefined) return prepareCommand(context, { to, engineRoles: engineRole });
        return reopen
          ? reopenCommand(context, from)
          : moveCommand(context, { to, from, engineRoles: engineRole, dryRun });
      });
    });
  withExamples(move, [
    "helmdeck-memory move --to postgres://helmdeck@db.example/memory --dry-run",
    "helmdeck-memory move --to postgres://helmdeck@db.example/memory",
    "helmdeck-memory move --prepare --to postgres://helmdeck@db.example/memory --engine-role engine",
    "helmdeck-memory move --from postgres://helmdeck@db.example/memory",
  ]);
}

interface MoveOptions {
  readonly engineRole?: readonly string[];
  readonly to?: string;
  readonly from?: string;
  readonly prepare?: boolean;
  readonly dryRun?: boolean;
  readonly reopen?: boolean;
}
