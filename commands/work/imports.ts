/** `imports`: lists imports that can be undone. */
import { importsText } from "../../app/index.ts";
import type { CommandContext } from "../command-line.ts";
import { EXIT_DONE } from "../exit-codes.ts";
import { present, voiceOf } from "../voice.ts";
import { refuseElsewhere, withMemory } from "../with-memory.ts";

export async function importsCommand(context: CommandContext): Promise<number> {
  await refuseElsewhere(context, "imports --caller SUBJECT");
  const imports = await withMemory(context, (memory) => memory.imports(context.options.caller));
  if (context.options.json) await context.output.json({ imports });
  else await present(context, importsText(imports, voiceOf(context)));
  return EXIT_DONE;
}
