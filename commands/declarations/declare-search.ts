/** Declares `search`. */
import { type Command, Option } from "commander";
import { ANSWER_LIMITS, RECALL_MODES, type RecallMode } from "../../engine/answer-limits.ts";
import { defined } from "../../engine/defined.ts";
import type { Runs } from "../command-line.ts";
import { count, withExamples } from "./option-parsers.ts";

const { least, most, byDefault } = ANSWER_LIMITS.hits;

export function declareSearch(program: Command, runs: Runs): void {
  const search = program
    .command("search")
    .summary("Search facts and audit rows, best first.")
    .description("Search facts and audit rows, best first, as OpenClaw's memory_search does.")
    .argument("<query...>", "Words or a question.")
    .option("--limit <count>", `Maximum number of hits, ${least} to ${most}.`, count, byDefault)
    .addOption(
      new Option("--recall <mode>", "How much to show if there is no sure hit.")
        .choices(RECALL_MODES)
        .default("balanced"),
    )
    .option("--explain", "Show how each score is computed.")
    .action((words: string[], _options: unknown, command: Command) => {
      const { limit, explain, recall } = command.opts<SearchOptions>();
      const query = words.join(" ").trim();
      if (query === "") command.error("give the words to search for.");
      return runs(command, async (context) => {
        const { searchCommand } = await import("../work/search.ts");
        return searchCommand(context, { query, limit, recall, ...defined({ explain }) });
      });
    });
  withExamples(search, [
    "helmdeck-memory search konflux deployment preference",
    'helmdeck-memory search "who reviews the release notes" --limit 3 --explain',
    "helmdeck-memory search konflux --json",
  ]);
}

interface SearchOptions {
  readonly limit: number;
  readonly explain?: boolean;
  readonly recall: RecallMode;
}
