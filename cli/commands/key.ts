/** `key saved`: records that a copy of the key is kept, so that doctor stops its reminder. */
import type { Command } from "commander";
import type { CommandContext, Runs } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { withExamples } from "../../commands/option-parsers.ts";

/** Declares `key`. */
export function declareKey(program: Command, runs: Runs): void {
  const key = program
    .command("key")
    .summary("Confirm that you keep a copy of the key.")
    .description("Confirm that you keep a copy of the key.");
  const saved = key
    .command("saved")
    .summary("Confirm that you keep a copy of the key.")
    .description(
      "Confirm that you keep a copy of the key apart from the database. Until then, and after rotate-key, doctor reminds you.",
    )
    .action((_options: unknown, command: Command) =>
      runs(command, async (context) => keySavedCommand(context)),
    );
  withExamples(saved, ["helmdeck-memory key saved"]);
}

async function keySavedCommand(context: CommandContext): Promise<number> {
  const { output, options } = context;
  const { confirmKeySaved } = await import("../../app/keys/confirm-key-saved.ts");
  const { keyId } = await confirmKeySaved(await context.line.memoryOptions(context));
  if (options.json) await output.json({ key_id: keyId, saved: true });
  else await output.line(`Noted: you keep a copy of the key ${keyId}.`);
  return EXIT_DONE;
}
