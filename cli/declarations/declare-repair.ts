/** Declares `verify` and `repair`. */
import type { Command } from "commander";
import type { Runs } from "../../commands/command-line.ts";
import { nonEmpty, withExamples } from "../../commands/option-parsers.ts";

export function declareVerify(program: Command, runs: Runs): void {
  const verify = program
    .command("verify")
    .summary("Open every row and name the unreadable ones.")
    .description(
      "Open every row of the database, of every caller: entries, vectors and former values. Names unreadable rows and changes nothing. The exit code is 1 if there are any.",
    )
    .action((_options: unknown, command: Command) =>
      runs(command, async (context) => (await import("../commands/repair.ts")).verifyCommand(context)),
    );
  withExamples(verify, ["helmdeck-memory verify", "helmdeck-memory verify --json"]);
}

export function declareRepair(program: Command, runs: Runs): void {
  const repair = program
    .command("repair")
    .summary("Write all readable rows into a new database.")
    .description(
      "Write all readable rows into a new database, with times, vectors and former values, under the same key. The old one is only read. Shows how to put the new one in place.",
    )
    .option(
      "--to <file>",
      "The new database; it must not exist yet. (default: memory-repaired.sqlite next to the old one)",
      nonEmpty,
    )
    .action((options: { readonly to?: string }, command: Command) =>
      runs(command, async (context) =>
        (await import("../commands/repair.ts")).repairCommand(context, options.to),
      ),
    );
  withExamples(repair, ["helmdeck-memory repair", "helmdeck-memory repair --to /mnt/other/memory.sqlite"]);
}
