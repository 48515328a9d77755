/** `key saved`: compares a person's copy of the key with the key, so that doctor stops its reminder. */
import { resolve } from "node:path";
import type { Command } from "commander";
import type { CommandContext, Runs } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { inputSource, readText } from "../../commands/input.ts";
import { withExamples } from "../../commands/option-parsers.ts";

const SUMMARY = "Confirm that you keep a copy of the key.";
/** Of a key that a password manager prints. */
const MOST_BYTES = 1_024;

export function declareKey(program: Command, runs: Runs): void {
  const key = program.command("key").summary(SUMMARY).description(SUMMARY);
  const saved = key
    .command("saved")
    .summary(SUMMARY)
    .description(
      "Confirm that you keep a copy of the key apart from the database: the copy is compared with the key. Until then, and after rotate-key, doctor reminds you.",
    )
    .argument("[copy]", "The file with your copy; - reads it from standard input.")
    .action((copy: string | undefined, _options: unknown, command: Command) =>
      copy
        ? runs(command, async (context) => keySavedCommand(context, copy), "key_copy_confirmed")
        : command.error("Name your copy of the key: key saved FILE, or key saved - for standard input."),
    );
  withExamples(saved, [
    "helmdeck-memory key saved /media/usb/helmdeck-memory.key",
    "pass show helmdeck-memory | helmdeck-memory key saved -",
  ]);
}

async function keySavedCommand(context: CommandContext, copy: string): Promise<number> {
  const { output, options, shell, line } = context;
  const { confirmKeySaved } = await import("../../app/keys/confirm-key-saved.ts");
  const isText = copy === "-";
  const text = isText ? (await readText(inputSource(shell, copy), MOST_BYTES)).trim() : "";
  const { keyId } = await confirmKeySaved(
    await line.memoryOptions(context),
    isText ? { text } : { path: resolve(copy) },
  );
  context.found?.({ key: keyId });
  if (options.json) await output.json({ key_id: keyId, saved: true });
  else await output.line(`Noted: you keep a copy of the key ${keyId}.`);
  return EXIT_DONE;
}
