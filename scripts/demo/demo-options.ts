/** The demo's command-line options. */
import { Command, CommanderError } from "commander";

export interface DemoOptions {
  /** JSON Lines in the import format. Absent: the demo's own data. */
  readonly facts?: string;
  readonly query: readonly string[];
  readonly keep: boolean;
  readonly json: boolean;
}

const EXAMPLES = `
Examples:
  $ npm run demo
  $ npm run demo -- --facts my-facts.jsonl --query "how do we deploy" --query "who reviews"
  $ npm run demo -- --keep

A line of the facts file: {"key": "editor", "value": "I use Helix.", "category": "tools", "tags": ["code"]}
docs/reference/cli.md (import) describes every field.

Exit codes: 0 found, 1 not found or failed, 2 usage error.`;

/** The options, or an exit code after help or a usage error. */
export function readOptions(argv: readonly string[]): DemoOptions | { readonly exitCode: number } {
  const command = new Command("npm run demo --")
    .description(
      "Starts the real OpenClaw gateway in a temporary home with the packed plugin, stores facts, and asks memory_search for them in other words.",
    )
    .option(
      "--facts <file>",
      "use your own facts: JSON Lines in the format of helmdeck-memory import (needs --query)",
    )
    .option(
      "--query <question>",
      "a question; repeatable",
      (query, all: readonly string[]) => [...all, query],
      [],
    )
    .option("--keep", "leave the gateway running at the end, and print its address", false)
    .option("--json", "print one JSON document instead of text", false)
    .addHelpText("after", EXAMPLES)
    .exitOverride();
  try {
    const options = command.parse(argv, { from: "user" }).opts<DemoOptions>();
    if (options.facts !== undefined && options.query.length === 0) {
      command.error('error: --facts needs a question; add --query "…"');
    }
    return options;
  } catch (error) {
    if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : 2 };
    throw error;
  }
}
