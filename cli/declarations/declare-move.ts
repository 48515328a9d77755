/** Declares `move`. */
import type { Command } from "commander";
import type { Runs } from "../../commands/command-line.ts";
import { collect, nonEmpty, withExamples } from "../../commands/option-parsers.ts";

export function declareMove(program: Command, runs: Runs): void {
  const move = program
    .command("move")
    .summary("Move the memory to another store, and back.")
    .description(
      "Move the memory of all callers between the SQLite database here and PostgreSQL. Rows move encrypted, and each is compared afterwards. No other program may have it open. If interrupted, run it again. The former place keeps its rows, but no program opens it any more.",
    )
    .option(
      "--to <store>",
      "The target: a postgres:// address, or the path of a database. Default: what --store or --db names, else the one here.",
      nonEmpty,
    )
    .option("--from <store>", "The source, in the same form. Default: the database here.", nonEmpty)
    .option(
      "--engine-role <role>",
      "To PostgreSQL: a role that engines run under, which gets the rights that it needs; repeatable.",
      collect,
    )
    .option("--prepare", "Move nothing. Only create or update the tables of --to, for the engines' roles.")
    .option("--dry-run", "Only show what it would do.")
    .option("--reopen", "Use the database here again, if the place that its memory moved to is lost.")
    .action((_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<MoveOptions>();
      const problem = problemOf(options);
      if (problem !== undefined) return command.error(problem);
      const { to, from, engineRole = [], dryRun = false, reopen = false, prepare = false } = options;
      const action = prepare ? "store_prepared" : reopen ? "memory_reopened" : "memory_moved";
      return runs(
        command,
        async (context) => {
          const { moveCommand, prepareCommand, reopenCommand } = await import("../commands/move.ts");
          if (prepare && to !== undefined) return prepareCommand(context, { to, engineRoles: engineRole });
          return reopen
            ? reopenCommand(context, from)
            : moveCommand(context, { to, from, engineRoles: engineRole, dryRun });
        },
        dryRun ? undefined : action,
      );
    });
  withExamples(move, [
    "helmdeck-memory move --to postgres://helmdeck@db.example/memory --dry-run",
    "helmdeck-memory move --to postgres://helmdeck@db.example/memory",
    "helmdeck-memory move --prepare --to postgres://helmdeck@db.example/memory --engine-role engine",
    "helmdeck-memory move --from postgres://helmdeck@db.example/memory",
  ]);
}

function problemOf({ to, from, prepare, reopen, dryRun, db, store }: MoveOptions): string | undefined {
  const isPlaced = db !== undefined || store !== undefined;
  if (prepare && (to === undefined || from !== undefined || dryRun || reopen || isPlaced))
    return "--prepare takes --to and --engine-role, and nothing else.";
  if (reopen && (to !== undefined || dryRun)) return "--reopen takes neither --to nor --dry-run.";
  if (isPlaced && from !== undefined && (reopen || to !== undefined))
    return "each place is named once: leave out --db and --store.";
  if (!reopen && to === undefined && from === undefined) return "move needs --to or --from.";
  return undefined;
}

interface MoveOptions {
  readonly db?: string;
  readonly store?: string;
  readonly engineRole?: readonly string[];
  readonly to?: string;
  readonly from?: string;
  readonly prepare?: boolean;
  readonly dryRun?: boolean;
  readonly reopen?: boolean;
}
