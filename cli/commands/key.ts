/** `key saved`: records that a copy of the key is kept, so that doctor stops its reminder. */
import { confirmKeySaved } from "../../app/keys/confirm-key-saved.ts";
import type { CommandContext } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { memoryOptions } from "../memory-options.ts";

export async function keySavedCommand(context: CommandContext): Promise<number> {
  const { output, options } = context;
  const { keyId } = await confirmKeySaved(await memoryOptions(context));
  if (options.json) await output.json({ key_id: keyId, saved: true });
  else await output.line(`Noted: you keep a copy of the key ${keyId}.`);
  return EXIT_DONE;
}
