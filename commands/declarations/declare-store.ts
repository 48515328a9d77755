/** Declares `store`. */

import type { Command } from "commander";
import { defined } from "../../engine/defined.ts";
import type { Runs } from "../command-line.ts";
import { collect, nonEmpty, seconds, withExamples } from "./option-parsers.ts";

export function declareStore(program: Command, runs: Runs): void {
  const store = program
    .command("store")
    .alias("add")
    .summary("Store or replace one fact.")
    .description(
      "Store one fact, or replace the one with this key; then category, tags and a chosen end stay unless you give others. Other processes can read the arguments of a command while it runs (ps): for sensitive text use - or --value-file.",
    )
    .argument("<key>", "The key: 1 to 512 bytes; slashes group keys.")
    .argument("[value]", "The text, at most 64 KiB; - reads it from standard input.")
    .option("--value-file <file>", "Read the value from a file.", nonEmpty)
    .option("--category <name>", "A group of facts; default: as before, or user_facts.")
    .option("--tag <tag>", "A word to find it by; up to 32 times. Replaces the tags.", collect)
    .option("--no-tags", "Drop the tags.")
    .option(
      "--ttl <span>",
      "How long to keep it: 3600, 12h, 90d; 1 hour to 365 days. Default: 90 days, or the end that was chosen before.",
      seconds,
    )
    .option("--supersedes <key>", "An outdated fact to retire; up to 9 times.", collect)
    .option("--allow-secret", "Store it even if it looks like a credential.")
    .action((key: string, value: string | undefined, _options: unknown, command: Command) => {
      const {
        valueFile,
        category,
        tag,
        tags,
        ttl,
        supersedes,
        allowSecret = false,
      } = command.opts<StoreOptions>();
      if (tag !== undefined && !tags) command.error("give --tag or --no-tags, not both.");
      if ((value === undefined) === (valueFile === undefined)) {
        command.error("give the value once: as VALUE, as - for standard input, or with --value-file.");
      }
      const source = value !== undefined && value !== "-" ? { text: value } : { path: valueFile ?? "-" };
      return runs(command, async (context) => {
        const { storeCommand } = await import("../work/store.ts");
        return storeCommand(context, {
          key,
          source,
          allowSecret,
          ...defined({ category, tags: tags ? tag : [], ttlSeconds: ttl, supersedes }),
        });
      });
    });
  withExamples(store, [
    'helmdeck-memory store deploy/konflux "We deploy through Konflux" --tag deployment',
    "helmdeck-memory store plans/q3 - --category team --ttl 30d < plan.txt",
    "helmdeck-memory store house/style --value-file style.md",
    'helmdeck-memory store deploy/argo "We deploy through Argo CD" --supersedes deploy/konflux',
  ]);
}

interface StoreOptions {
  readonly valueFile?: string;
  readonly category?: string;
  readonly tag?: readonly string[];
  /** False: --no-tags. */
  readonly tags: boolean;
  readonly ttl?: number;
  readonly supersedes?: readonly string[];
  readonly allowSecret?: boolean;
}
