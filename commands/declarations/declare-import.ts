/** How `helmdeck-memory import` is called. */
import { type Command, Option } from "commander";
import { CONFLICT_RULES, type ConflictRule } from "../../app/basics.ts";
import type { Runs } from "../command-line.ts";
import { withExamples } from "./option-parsers.ts";

export function declareImport(program: Command, runs: Runs): void {
  const importing = program
    .command("import")
    .summary("Import facts and audit rows from JSON Lines.")
    .description(
      "Import facts and audit rows, one JSON object a line. Good lines go in; each refused one is named with its reason, and the exit code is then 1.",
    )
    .argument("<file>", "A JSON Lines file; - reads standard input.")
    .option("--allow-secrets", "Import also what looks like a credential.")
    .addOption(
      new Option(
        "--on-conflict <rule>",
        "Of a fact that is there: the newer of the two stays, keep what is there, or replace it.",
      )
        .choices(CONFLICT_RULES)
        .default("newer"),
    )
    .action((file: string, { allowSecrets = false, onConflict }: ImportOptions, command: Command) =>
      runs(command, async (context) => {
        const { importCommand } = await import("../work/import.ts");
        return importCommand(context, { file, allowSecrets, onConflict });
      }),
    );
  withExamples(importing, [
    "helmdeck-memory import facts.jsonl",
    "ssh old-host helmdeck-memory export | helmdeck-memory import -",
  ]);
}

interface ImportOptions {
  readonly allowSecrets?: boolean;
  readonly onConflict: ConflictRule;
}
