/** Declares `export`. */
import { type Command, Option } from "commander";
import { EXPORT_FORMATS, type ExportFormat } from "../../app/transfer/formats/names.ts";
import { defined } from "../../engine/defined.ts";
import type { Runs } from "../command-line.ts";
import { nonEmpty, withExamples } from "./option-parsers.ts";

export function declareExport(program: Command, runs: Runs): void {
  const exporting = program
    .command("export")
    .summary("Write facts and audit rows as JSON Lines, or facts as Markdown.")
    .description(
      "Write every fact and audit row as JSON Lines for import, with values in plain text. With --to markdown, write every fact as Markdown, to read or for import --from markdown.",
    )
    .addOption(
      new Option("--to <format>", "jsonl, or markdown (only facts, without their histories).")
        .choices(EXPORT_FORMATS)
        .default("jsonl"),
    )
    .option(
      "--output <file>",
      "Write a new file that only you can read (mode 0600); it must not exist yet.",
      nonEmpty,
    )
    .option("--with-history", "Include former values, which import restores.")
    .action((_options: unknown, command: Command) => {
      const { output, withHistory = false, to } = command.opts<ExportOptions>();
      if (withHistory && to === "markdown") command.error("--with-history needs --to jsonl.");
      return runs(command, async (context) =>
        (await import("../work/export.ts")).exportCommand(context, {
          withHistory,
          to,
          ...defined({ output }),
        }),
      );
    });
  withExamples(exporting, [
    "helmdeck-memory export --output memory-2026-11.jsonl",
    "helmdeck-memory export --to markdown --output memory.md",
    "helmdeck-memory export --caller work | gpg --encrypt --recipient me > memory.jsonl.gpg",
  ]);
}

interface ExportOptions {
  readonly output?: string;
  readonly withHistory?: boolean;
  readonly to: ExportFormat;
}
