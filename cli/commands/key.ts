/** `key saved`: a copy of the key is kept, and doctor need not remind of it. */
import { sayKeySaved } from "../../app/index.ts";
import { type CommandContext, EXIT_DONE } from "../../commands/index.ts";
import { fileOptions } from "../memory-options.ts";

export async function keySavedCommand(context: CommandContext): Promise<number> {
  const { output, options } = context;
  const { keyId } = await sayKeySaved(await fileOptions(context));
  if (options.json) await output.json({ key_id: keyId, saved: true });
  else await output.line(`Noted: you keep a copy of the key ${keyId} is kept.`);
  return EXIT_DONE;
}
