/** Declares `key`. */
import type { Command } from "commander";
import type { Runs } from "../../commands/command-line.ts";
import { withExamples } from "../../commands/declarations/option-parsers.ts";

export function declareKey(program: Command, runs: Runs): void {
  const key = program.command("key").summary("Notes about the key.").description("Notes about the key.");
  const saved = key
    .command("saved")
    .summary("Confirm that you keep a copy of the key.")
    .description(
      "Confirm that you keep a copy of the key in a safe place, apart from the database. Until then, doctor reminds you. After rotate-key, confirm again.",
    )
    .action((_options: unknown, command: Command) =>
      runs(command, async (context) => (await import("../commands/key.ts")).keySavedCommand(context)),
    );
  withExamples(saved, ["helmdeck-memory key saved"]);
}
