/** Declares `list`. */

import type { Command } from "commander";
import { ANSWER_LIMITS } from "../../engine/answer-limits.ts";
import { defined } from "../../engine/defined.ts";
import type { Runs } from "../command-line.ts";
import { count, withExamples } from "./option-parsers.ts";

export function declareList(program: Command, runs: Runs): void {
  const list = program
    .command("list")
    .alias("ls")
    .summary("List facts, newest first.")
    .description("List facts, newest first.")
    .argument("[prefix]", "Only keys that begin with this; case matters, no wildcards.")
    .option("--category <name>", "Only this category.")
    .option("--expiring", "Only facts that expire within 14 days.")
    .option("--limit <count>", "Maximum number.", count, ANSWER_LIMITS.facts.byDefault)
    .action((prefix: string | undefined, _options: unknown, command: Command) => {
      const { category, expiring, limit } = command.opts<ListOptions>();
      return runs(command, async (context) => {
        const { listCommand } = await import("../work/list.ts");
        return listCommand(context, {
          limit,
          ...defined({ prefix, category, expiring }),
        });
      });
    });
  withExamples(list, [
    "helmdeck-memory list",
    "helmdeck-memory list deploy/ --limit 20",
    "helmdeck-memory list --category team --json",
    "helmdeck-memory list --expiring",
  ]);
}

interface ListOptions {
  readonly category?: string;
  readonly expiring?: boolean;
  readonly limit: number;
}
