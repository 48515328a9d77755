/** `renew`: gives a fact a new lifetime. */
import { factReply, type RenewInput, renewText } from "../../app/index.ts";
import type { CommandContext } from "../command-line.ts";
import { EXIT_DONE } from "../exit-codes.ts";
import { present, voiceOf } from "../voice.ts";
import { withMemoryToWrite } from "../with-memory.ts";

export async function renewCommand(context: CommandContext, input: RenewInput): Promise<number> {
  const { output, options } = context;
  const fact = await withMemoryToWrite(context, (memory) => memory.renewFact(options.caller, input));
  if (options.json) await output.json(factReply(fact));
  else await present(context, renewText(fact, voiceOf(context)));
  return EXIT_DONE;
}
