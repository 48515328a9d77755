/** Declares `status`. */
import type { Command } from "commander";
import type { Runs } from "../command-line.ts";
import { withExamples } from "./option-parsers.ts";

export function declareStatus(program: Command, runs: Runs): void {
  const status = program
    .command("status")
    .summary("Show where memory is and how much it holds.")
    .description(
      "Show where memory is, whether it works and how much it holds. The exit code is 1 if it does not work; doctor checks more.",
    )
    .action((_options: unknown, command: Command) =>
      runs(command, async (context) => (await import("../work/status.ts")).statusCommand(context)),
    );
  withExamples(status, ["helmdeck-memory status", "helmdeck-memory status --json"]);
}
