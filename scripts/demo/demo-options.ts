/** What the demo can be told on its command line. */
import { Command, CommanderError } from "commander";

export interface DemoOptions {
  /** JSON Lines in the import format; absent: the demo's own story. */
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

Exit: 0 found, 1 not found or failed, 2 wrong use.`;

/** The options, or the exit code when there is nothing left to do: help was shown, or the command line is wrong. */
export function readOptions(argv: readonly string[]): DemoOptions | { readonly exitCode: number } {
  const command = new Command("npm run demo --")
    .description(
      "Starts the real OpenClaw gateway in a temporary home with the packed plugin, stores facts and audit rows, and asks memory_search for them.",
    )
    .option(
      "--facts <file>",
      "ask your own facts: JSON Lines as helmdeck-memory import takes them (needs --query)",
    )
    .option(
      "--query <question>",
      "what to ask; can be given again",
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
