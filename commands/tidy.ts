/** Declares `tidy`. */
import { type Command, Option } from "commander";
import { ANSWER_LIMITS } from "../engine/answer-limits.ts";
import type { Runs } from "./command-line.ts";
import { count, withExamples } from "./option-parsers.ts";
import type { TidyOptions } from "./tidy-findings.ts";

export function declareTidy(program: Command, runs: Runs): void {
  const { byDefault } = ANSWER_LIMITS.findings;
  const tidy = program
    .command("tidy")
    .summary("Merge duplicates, and settle conflicts.")
    .description(
      "Show duplicates, conflicts, near-copies, similar facts, and what expires soon. On a terminal it asks about each; elsewhere it lists them with the commands that settle them.",
    )
    .option("--dry-run", "Only list them, or only show what --keep or --apart would do.")
    .option("--limit <count>", "Maximum number to list.", count, byDefault)
    .option("--keep <key>", "Keep this fact; those of --over become its history, until an undo.")
    .option("--over <keys...>", "The other facts, at most nine.")
    .option("--apart <keys...>", "Keep these facts, and show them no more beside each other.")
    .option("--ask-again <keys...>", "Undo --apart.")
    .addOption(
      new Option(
        "--up-to <revision>",
        "Only if none of these facts changed since this revision of a list.",
      ).argParser(count),
    )
    .action((options: TidyOptions, command: Command) => {
      const { keep, over, apart, askAgain } = options;
      if ((keep === undefined) !== (over === undefined)) command.error("--keep and --over belong together.");
      if ([keep, apart, askAgain].filter((one) => one !== undefined).length > 1)
        command.error("--keep, --apart and --ask-again are alternatives.");
      return runs(command, async (context) =>
        (await import("./tidy-findings.ts")).tidyCommand(context, options),
      );
    });
  withExamples(tidy, [
    "helmdeck-memory tidy",
    "helmdeck-memory tidy --dry-run",
    "helmdeck-memory tidy --keep allergies --over mem0/7 notes/food",
    "helmdeck-memory tidy --apart deploy/api deploy/site",
    "helmdeck-memory tidy --ask-again deploy/api deploy/site",
  ]);
}
