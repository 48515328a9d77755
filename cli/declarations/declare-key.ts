/** How `helmdeck-memory key` is called. */
import type { Command } from "commander";
import { type Runs, withExamples } from "../../commands/index.ts";

export function declareKey(program: Command, runs: Runs): void {
  const key = program
    .command("key")
    .summary("What people say of the key.")
    .description("What people say of the key.");
  const saved = key
    .command("saved")
    .summary("Say that you keep a copy of the key.")
    .description(
      "Say that you keep a copy of the key in a safe place, apart from the database: doctor reminds you until then. Another key, after rotate-key, wants a copy of its own.",
    )
    .action((_options: unknown, command: Command) =>
      runs(command, async (context) => (await import("../commands/key.ts")).keySavedCommand(context)),
    );
  withExamples(saved, ["helmdeck-memory key saved"]);
}
