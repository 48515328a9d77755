/** How `helmdeck-memory export` is called. */
import type { Command } from "commander";
import { nonEmpty, type Runs, withExamples } from "./option-parsers.ts";

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
    .action((_options: unknown, command: Command) => {
      const { output } = command.opts<{ readonly output?: string }>();
      return runs(command, async (context) =>
        (await import("../commands/export.ts")).exportCommand(context, output),
      );
    });
  withExamples(exporting, [
    "helmdeck-memory export --output memory-2026-11.jsonl",
    "helmdeck-memory export --caller work | gpg --encrypt --recipient me > memory.jsonl.gpg",
  ]);
}
