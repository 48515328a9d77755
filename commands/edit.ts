/** Declares `edit`. */
import type { Command } from "commander";
import { defined } from "../engine/defined.ts";
import type { Runs } from "./command-line.ts";
import { FACT_NAME, nonEmpty, seconds, withExamples } from "./option-parsers.ts";

export function declareEdit(program: Command, runs: Runs): void {
  const edit = program
    .command("edit")
    .summary("Change the value of a fact.")
    .description(
      "Change the value of a fact, and keep category, tags and a chosen end. Without a value, it opens $VISUAL or $EDITOR on a file in memory, never on a disk. If somebody changed or forgot the fact meanwhile, nothing is stored, and both values are shown.",
    )
    .argument("<key>", FACT_NAME)
    .argument("[value]", "The new text, at most 64 KiB; - reads it from standard input.")
    .option("--value-file <file>", "Read the new value from a file.", nonEmpty)
    .option(
      "--ttl <span>",
      "How long to keep it from now: 3600, 12h, 90d. Default: 90 days unless set otherwise, or as chosen before.",
      seconds,
    )
    .option("--allow-secret", "Store it even if it looks like a credential.")
    .action((key: string, value: string | undefined, _options: unknown, command: Command) => {
      const { valueFile, ttl, allowSecret = false } = command.opts<EditOptions>();
      if (value !== undefined && valueFile !== undefined) {
        command.error("give the value once: after the key, or with --value-file.");
      }
      return runs(command, async (context) => {
        const { editCommand, problemOf } = await import("./edit-fact.ts");
        const request = { key, allowSecret, ...defined({ value, valueFile, ttlSeconds: ttl }) };
        const problem = problemOf(context, request);
        return problem === undefined ? editCommand(context, request) : command.error(problem);
      });
    });
  withExamples(edit, [
    'helmdeck-memory edit deploy/konflux "We deploy through Konflux, on Fridays too"',
    "helmdeck-memory edit house/style --value-file style.md",
    "EDITOR=nano helmdeck-memory edit house/style",
  ]);
}

interface EditOptions {
  readonly valueFile?: string;
  readonly ttl?: number;
  readonly allowSecret?: boolean;
}
