/** How `helmdeck-memory export` is called. */
import type { Command } from "commander";
import { defined } from "../../app/basics.ts";
import type { Runs } from "../command-line.ts";
import { nonEmpty, withExamples } from "./option-parsers.ts";

export function declareExport(program: Command, runs: Runs): void {
  const exporting = program
    .command("export")
    .summary("Write facts and audit rows as JSON Lines.")
    .description("Write every fact and audit row as JSON Lines, values in plain text, ready for import.")
    .option(
      "--output <file>",
      "Write a new file that only you can read (mode 0600); it must not exist yet.",
      nonEmpty,
    )
    .option("--with-history", "Also what each fact held before; import takes it back.")
    .action((_options: unknown, command: Command) => {
      const { output, withHistory = false } = command.opts<ExportOptions>();
      return runs(command, async (context) =>
        (await import("../work/export.ts")).exportCommand(context, {
          withHistory,
          ...defined({ output }),
        }),
      );
    });
  withExamples(exporting, [
    "helmdeck-memory export --output memory-2026-11.jsonl",
    "helmdeck-memory export --caller work | gpg --encrypt --recipient me > memory.jsonl.gpg",
  ]);
}

interface ExportOptions {
  readonly output?: string;
  readonly withHistory?: boolean;
}
