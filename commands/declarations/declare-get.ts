/** Declares `get`. */
import type { Command } from "commander";
import type { Runs } from "../command-line.ts";
import { withExamples } from "./option-parsers.ts";

export function declareGet(program: Command, runs: Runs): void {
  const get = program
    .command("get")
    .summary("Print the value of one fact.")
    .description(
      "Print the value of one fact. Characters that would control the terminal are escaped; --json has the exact value.",
    )
    .argument("<key>", "The exact key; case matters. Or the path, docid or citation of a search hit.")
    .action((key: string, _options: unknown, command: Command) =>
      runs(command, async (context) => (await import("../work/get.ts")).getCommand(context, key)),
    );
  withExamples(get, ["helmdeck-memory get deploy/konflux", "helmdeck-memory get deploy/konflux --json"]);
}
